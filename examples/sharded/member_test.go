// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/devserver"
	"github.com/informer-gen/informer-gen/devserver/devservertest"
	"github.com/informer-gen/informer-gen/runtime/manager/shard"
	"github.com/informer-gen/informer-gen/testkit/rbactest"
)

// TestMember runs the only member of a ring with the rights of config/role.yaml, in both forms.
func TestMember(t *testing.T) {
	var requests rbactest.Recorder
	for name, newRun := range map[string]func(*rest.Config, *shard.Ring, *answerer) (func(context.Context) error, error){
		"manager": newManager, "controller-runtime": newRuntimeManager,
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			a := newAudit()
			server := devservertest.Start(t, devserver.Options{BuiltInKinds: true, RBAC: true, WrapHandler: a.wrap})
			account := devservertest.ServiceAccount(t, server, "kube-system", "sharded", "config/role.yaml")
			account.UserAgent = "member-1"
			config := requests.Config(account)

			ring, err := shard.New(config, shard.Options{Name: "sharded", Identity: "member-1", JoinDelay: -1})
			if err != nil {
				t.Fatal(err)
			}
			run, err := newRun(config, ring, &answerer{member: "member-1", failed: func(err error) { t.Log(err) }})
			if err != nil {
				t.Fatal(err)
			}
			running, stop := context.WithCancel(ctx)
			ended := make(chan error, 1)
			go func() { ended <- run(running) }()
			u, err := newUser(server.Config(), a, 0)
			if err != nil {
				t.Fatal(err)
			}
			if err := u.begin(ctx, []string{"team-01", "team-02"}); err != nil {
				t.Fatal(err)
			}
			if err := u.end(ctx, time.Minute); err != nil {
				t.Error(err)
			}
			stop()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("the run ended with %v, want %v", err, context.Canceled)
			}
			if writes, problems := a.found(); writes < 4 || problems != nil {
				t.Errorf("of %d writes, these are wrong: %v", writes, problems)
			}
		})
	}
	requests.Check(t, "config/role.yaml")
}
