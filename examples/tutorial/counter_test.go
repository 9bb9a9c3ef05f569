// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/informer-gen/informer-gen/examples/tutorial/api/v1"
	"github.com/informer-gen/informer-gen/examples/tutorial/generated/informers"
	corelisters "github.com/informer-gen/informer-gen/examples/tutorial/generated/listers/core/v1"
	listers "github.com/informer-gen/informer-gen/examples/tutorial/generated/listers/tutorial/v1"
	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/writer"
	"github.com/informer-gen/informer-gen/testkit/controllertest"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// The following function is in docs/tutorial.md, too.

// newCounter returns a controller that writes the number of desks into each Team.
func newCounter(factory informers.SharedInformerFactory, client *source.Client) (*controller.Controller, error) {
	teams, desks := factory.Tutorial().V1().Teams(), factory.Core().V1().ConfigMaps()
	writeTeams, err := controller.Writer(client, teams, writer.Options{FieldManager: "counter"})
	if err != nil {
		return nil, err
	}
	return teams.Reconcile("counter", func(ctx context.Context, team *v1.Team) (controller.Result, error) {
		owned := desks.Lister().ConfigMaps(team.Namespace).ListByTeam(team.Name) // an index
		_, _, err := writeTeams.MutateStatus(ctx, team, func(team *v1.Team) error {
			team.Status.Desks = int32(len(owned))
			return nil
		})
		return controller.Result{}, err
	}, controller.Owns(desks.Informer()))
}

func TestCounter(t *testing.T) {
	controllertest.Run(t, func(t *testing.T, env *controllertest.Env) {
		teams := sourcetest.Serve[*v1.Team](env.Server, listers.TeamResource(), "Team")
		desks := sourcetest.Serve[*corev1.ConfigMap](env.Server, corelisters.ConfigMapResource(), "ConfigMap")
		team := teams.Create(&v1.Team{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "blue"}})
		owner := *metav1.NewControllerRef(team, listers.TeamResource().GroupVersion().WithKind("Team"))
		c, err := newCounter(informers.NewSharedInformerFactory(env.Client), env.Client)
		if err != nil {
			t.Fatal(err)
		}
		env.Start(c)
		for n, name := range []string{"a", "b"} {
			desks.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
				Namespace: "default", Name: name, OwnerReferences: []metav1.OwnerReference{owner},
			}})
			env.Settle()
			if team, _ = teams.Get("default", "blue"); int(team.Status.Desks) != n+1 {
				t.Errorf("%d desks, want %d", team.Status.Desks, n+1)
			}
		}
	})
}
