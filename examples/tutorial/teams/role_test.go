// SPDX-License-Identifier: Apache-2.0

package teams_test

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/devserver/devservertest"
	v1 "github.com/informer-gen/informer-gen/examples/tutorial/api/v1"
	"github.com/informer-gen/informer-gen/examples/tutorial/generated/informers"
	listers "github.com/informer-gen/informer-gen/examples/tutorial/generated/listers/tutorial/v1"
	"github.com/informer-gen/informer-gen/examples/tutorial/teams"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/writer"
	"github.com/informer-gen/informer-gen/testkit/rbactest"
)

// TestRole compares config/rbac/role.yaml with the controller's requests to a real API server, from
// the first desk of a Team to its end. Run it from the folder above with --write to write the role:
//
//	go tool informer-gen rbac config/rbac/role.yaml -- go test -run TestRole ./teams
func TestRole(t *testing.T) {
	server := devservertest.New(t, "../config/crd")
	var requests rbactest.Recorder
	client, err := source.NewClient(requests.Config(server.Config()))
	if err != nil {
		t.Fatal(err)
	}
	factory := informers.NewSharedInformerFactory(client)
	c, err := teams.New(factory, client, func(context.Context, string) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()

	own, err := source.NewClient(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := writer.New[*v1.Team](own, listers.TeamResource(), writer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	team, _, err := cluster.Create(ctx, newTeam("ann", "bob"))
	if err != nil {
		t.Fatal(err)
	}
	until(ctx, t, factory, func(team *v1.Team, ok bool) bool { return ok && team.Status.Desks == 2 })
	if team, _, err = cluster.Mutate(ctx, team, func(team *v1.Team) error {
		team.Spec.Members = []string{"ann"}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	until(ctx, t, factory, func(team *v1.Team, ok bool) bool { return ok && team.Status.Desks == 1 })
	if _, err := cluster.Delete(ctx, team, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	until(ctx, t, factory, func(_ *v1.Team, ok bool) bool { return !ok })
	cancel()
	<-ended
	requests.Check(t, "../config/rbac/role.yaml")
}
