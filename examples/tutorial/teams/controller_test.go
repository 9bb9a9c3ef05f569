// SPDX-License-Identifier: Apache-2.0

package teams_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/informer-gen/informer-gen/examples/tutorial/api/v1"
	"github.com/informer-gen/informer-gen/examples/tutorial/generated/informers"
	corelisters "github.com/informer-gen/informer-gen/examples/tutorial/generated/listers/core/v1"
	listers "github.com/informer-gen/informer-gen/examples/tutorial/generated/listers/tutorial/v1"
	"github.com/informer-gen/informer-gen/examples/tutorial/teams"
	"github.com/informer-gen/informer-gen/testkit/controllertest"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// newTeam returns a Team that no server has yet.
func newTeam(members ...string) *v1.Team {
	return &v1.Team{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "blue"},
		Spec:       v1.TeamSpec{Members: members},
	}
}

func TestMembersHaveDesks(t *testing.T) {
	controllertest.Run(t, func(t *testing.T, env *controllertest.Env) {
		cluster := sourcetest.Serve[*v1.Team](env.Server, listers.TeamResource(), "Team")
		desks := sourcetest.Serve[*corev1.ConfigMap](env.Server, corelisters.ConfigMapResource(), "ConfigMap")
		cluster.Create(newTeam("ann", "bob"))

		c, err := teams.New(informers.NewSharedInformerFactory(env.Client), env.Client, nil)
		if err != nil {
			t.Fatal(err)
		}
		env.Start(c)
		env.Settle()
		team, _ := cluster.Get("default", "blue")
		if team.Status.Desks != 2 || len(desks.All()) != 2 {
			t.Errorf("%d desks in the status, and %d in all; want 2", team.Status.Desks, len(desks.All()))
		}

		team.Spec.Members = []string{"bob", "eve"}
		cluster.Update(team)
		desks.Delete("default", "desk-blue-bob") // by mistake
		env.Settle()
		for member, want := range map[string]bool{"ann": false, "bob": true, "eve": true} {
			if _, has := desks.Get("default", "desk-blue-"+member); has != want {
				t.Errorf("%s has a desk: %t, want %t", member, has, want)
			}
		}
	})
}
