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
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/store"
	"github.com/informer-gen/informer-gen/runtime/writer"
)

func TestAgainstAPIServer(t *testing.T) {
	server := devservertest.New(t, "../config/crd")
	client, err := source.NewClient(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	factory := informers.NewSharedInformerFactory(client)
	c, err := teams.New(factory, client, func(context.Context, string) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	defer func() { cancel(); <-ended }()

	cluster, err := writer.New[*v1.Team](client, listers.TeamResource(), writer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	team, _, err := cluster.Create(ctx, newTeam("ann", "bob"))
	if err != nil {
		t.Fatal(err)
	}
	until(ctx, t, factory, func(team *v1.Team, ok bool) bool { return ok && team.Status.Desks == 2 })
	if _, err := cluster.Delete(ctx, team, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	until(ctx, t, factory, func(_ *v1.Team, ok bool) bool { return !ok })
}

// until waits until done returns true for the Team in the informer.
func until(ctx context.Context, t *testing.T, factory informers.SharedInformerFactory, done func(team *v1.Team, ok bool) bool) {
	t.Helper()
	err := factory.Tutorial().V1().Teams().Informer().Until(ctx, func(all *store.Snapshot[*v1.Team]) (bool, error) {
		return done(all.Get(object.Key{Namespace: "default", Name: "blue"})), nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
