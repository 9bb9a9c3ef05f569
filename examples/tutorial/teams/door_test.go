// SPDX-License-Identifier: Apache-2.0

package teams_test

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/informer-gen/informer-gen/examples/tutorial/api/v1"
	"github.com/informer-gen/informer-gen/examples/tutorial/generated/informers"
	corelisters "github.com/informer-gen/informer-gen/examples/tutorial/generated/listers/core/v1"
	listers "github.com/informer-gen/informer-gen/examples/tutorial/generated/listers/tutorial/v1"
	"github.com/informer-gen/informer-gen/examples/tutorial/teams"
	"github.com/informer-gen/informer-gen/runtime/writer"
	"github.com/informer-gen/informer-gen/testkit/controllertest"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

func TestDoorIsLockedBeforeTeamGoes(t *testing.T) {
	controllertest.Run(t, func(t *testing.T, env *controllertest.Env) {
		cluster := sourcetest.Serve[*v1.Team](env.Server, listers.TeamResource(), "Team")
		sourcetest.Serve[*corev1.ConfigMap](env.Server, corelisters.ConfigMapResource(), "ConfigMap")
		cluster.Create(newTeam())

		attempts := 0
		lock := func(context.Context, string) error {
			if attempts++; attempts < 3 {
				return errors.New("the key is stuck")
			}
			return nil
		}
		c, err := teams.New(informers.NewSharedInformerFactory(env.Client), env.Client, lock)
		if err != nil {
			t.Fatal(err)
		}
		env.Start(c)
		env.Settle()

		// By a client: the Delete of a collection ignores finalizers.
		client, err := writer.New[*v1.Team](env.Client, listers.TeamResource(), writer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		team, _ := cluster.Get("default", "blue")
		if _, err := client.Delete(t.Context(), team, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		env.Settle()
		if _, ok := cluster.Get("default", "blue"); ok || attempts != 3 {
			t.Errorf("the team is there: %t, after %d attempts to lock the door; want it gone after 3", ok, attempts)
		}
	})
}
