// SPDX-License-Identifier: Apache-2.0

package controllertest_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/writer"
	"github.com/informer-gen/informer-gen/testkit/controllertest"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

var t *testing.T // of the test that runs the examples

func TestExamples(test *testing.T) {
	t = test
	Example()
	Example_failures()
}

var mapsResource = corev1.SchemeGroupVersion.WithResource("configmaps")

// newLabeller returns the controller under test: it labels each ConfigMap.
func newLabeller(t *testing.T, client *source.Client) *controller.Controller {
	t.Helper()
	kind := controller.NewKind[*corev1.ConfigMap](factories.New(client), mapsResource, "ConfigMap", true)
	maps, err := controller.Writer(client, kind, writer.Options{FieldManager: "labeller"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := kind.Reconcile("labeller", func(ctx context.Context, m *corev1.ConfigMap) (controller.Result, error) {
		_, _, err := maps.Mutate(ctx, m, func(m *corev1.ConfigMap) error {
			metav1.SetMetaDataLabel(&m.ObjectMeta, "seen", "yes")
			return nil
		})
		return controller.Result{}, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
}

// The body of a test that runs a controller until it has nothing left to do.
func Example() {
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

// The body of a test with an API server that loses a connection and refuses writes. The test's
// clock skips the controller's delays.
func Example_failures() {
	controllertest.Run(t, func(t *testing.T, env *controllertest.Env) {
		maps := sourcetest.Serve[*corev1.ConfigMap](env.Server, mapsResource, "ConfigMap")
		maps.Create(configMap("blue"))
		env.Server.Inject(sourcetest.Fault{Do: sourcetest.Fail(errors.New("connection lost"))})
		unavailable := sourcetest.Refuse(http.StatusServiceUnavailable)
		env.Server.Inject(sourcetest.Fault{On: sourcetest.Write, Times: 3, Do: unavailable})
		began := time.Now()
		c := newLabeller(t, env.Client)
		env.Start(c)
		env.Settle()
		if blue, _ := maps.Get("shop", "blue"); blue.Labels["seen"] != "yes" {
			t.Errorf("blue has the labels %v", blue.Labels)
		}
		if failed := c.Status().Totals.Failed; failed != 3 || time.Since(began) > time.Minute {
			t.Errorf("settled after %d failures and %v", failed, time.Since(began))
		}
	})
}
