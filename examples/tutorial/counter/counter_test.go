// SPDX-License-Identifier: Apache-2.0

package counter_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/informer-gen/informer-gen/examples/tutorial/api/v1"
	"github.com/informer-gen/informer-gen/examples/tutorial/counter"
	"github.com/informer-gen/informer-gen/examples/tutorial/generated/informers"
	corelisters "github.com/informer-gen/informer-gen/examples/tutorial/generated/listers/core/v1"
	listers "github.com/informer-gen/informer-gen/examples/tutorial/generated/listers/tutorial/v1"
	"github.com/informer-gen/informer-gen/testkit/controllertest"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

func TestCounter(t *testing.T) {
	controllertest.Run(t, func(t *testing.T, env *controllertest.Env) {
		teams := sourcetest.Serve[*v1.Team](env.Server, listers.TeamResource(), "Team")
		desks := sourcetest.Serve[*corev1.ConfigMap](env.Server, corelisters.ConfigMapResource(), "ConfigMap")
		team := teams.Create(&v1.Team{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "blue"}})
		owner := *metav1.NewControllerRef(team, listers.TeamResource().GroupVersion().WithKind("Team"))
		c, err := counter.New(informers.NewSharedInformerFactory(env.Client), env.Client)
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
