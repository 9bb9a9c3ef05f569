// SPDX-License-Identifier: Apache-2.0

package controllertest_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/controller/controllertest"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reconcile"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/source/sourcetest"
	"github.com/informer-gen/informer-gen/runtime/writer"
)

var mapsResource = corev1.SchemeGroupVersion.WithResource("configmaps")

// newLabeller returns the controller under test: it labels each ConfigMap.
func newLabeller(t *testing.T, client *source.Client) reconcile.Controller {
	t.Helper()
	kind := reconcile.NewKind[*corev1.ConfigMap](factories.New(client), mapsResource, "ConfigMap")
	maps, err := reconcile.Writer(client, kind, writer.Options{FieldManager: "labeller"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := kind.Reconcile("labeller", func(ctx context.Context, m *corev1.ConfigMap) (controller.Result, error) {
		_, token, err := maps.Mutate(ctx, m, func(m *corev1.ConfigMap) error {
			metav1.SetMetaDataLabel(&m.ObjectMeta, "seen", "yes")
			return nil
		})
		return controller.Result{Await: []object.Token{token}}, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestLabeller(t *testing.T) {
	controllertest.Run(t, func(t *testing.T, env *controllertest.Env) {
		maps := sourcetest.Serve[*corev1.ConfigMap](env.Server, mapsResource, "ConfigMap")
		maps.Create(configMap("blue"))
		env.Start(newLabeller(t, env.Client))
		env.Settle()
		if blue, _ := maps.Get("shop", "blue"); blue.Labels["seen"] != "yes" {
			t.Errorf("blue has the labels %v", blue.Labels)
		}
	})
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
}
