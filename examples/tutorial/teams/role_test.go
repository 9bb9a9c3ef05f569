// SPDX-License-Identifier: Apache-2.0

package teams_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/informer-gen/informer-gen/examples/tutorial/api/v1"
	"github.com/informer-gen/informer-gen/examples/tutorial/generated/informers"
	corelisters "github.com/informer-gen/informer-gen/examples/tutorial/generated/listers/core/v1"
	listers "github.com/informer-gen/informer-gen/examples/tutorial/generated/listers/tutorial/v1"
	"github.com/informer-gen/informer-gen/examples/tutorial/teams"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/writer"
	"github.com/informer-gen/informer-gen/testkit/controllertest"
	"github.com/informer-gen/informer-gen/testkit/rbactest"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// TestRole compares config/rbac/role.yaml with the controller's requests, from the first desk of a
// Team to its end.
func TestRole(t *testing.T) {
	controllertest.Run(t, func(t *testing.T, env *controllertest.Env) {
		cluster := sourcetest.Serve[*v1.Team](env.Server, listers.TeamResource(), "Team")
		sourcetest.Serve[*corev1.ConfigMap](env.Server, corelisters.ConfigMapResource(), "ConfigMap")
		cluster.Create(newTeam("ann", "bob"))
		conflict := sourcetest.Refuse(409) // makes the controller read the Team again
		env.Server.Inject(sourcetest.Fault{On: sourcetest.Write, Do: conflict})

		var requests rbactest.Recorder
		client, err := source.NewClient(requests.Config(env.Server.Config())) // the controller's
		if err != nil {
			t.Fatal(err)
		}
		lock := func(context.Context, string) error { return nil }
		c, err := teams.New(informers.NewSharedInformerFactory(client), client, lock)
		if err != nil {
			t.Fatal(err)
		}
		env.Start(c)
		env.Settle()
		team, _ := cluster.Get("default", "blue")
		team.Spec.Members = []string{"ann"}
		team = cluster.Update(team)
		env.Settle()
		own, err := writer.New[*v1.Team](env.Client, listers.TeamResource(), writer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := own.Delete(t.Context(), team, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		env.Settle()
		requests.Check(t, "../config/rbac/role.yaml")
	})
}
