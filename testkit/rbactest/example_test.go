// SPDX-License-Identifier: Apache-2.0

package rbactest_test

import (
	"context"
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/testkit/rbactest"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

var requests rbactest.Recorder // of all tests of this package

// The package's tests, together, need what testdata/role.yaml allows.
func TestMain(m *testing.M) {
	os.Exit(requests.Checked(m, "testdata/role.yaml").Run())
}

var mapsResource = corev1.SchemeGroupVersion.WithResource("configmaps")

// startProgram is the program under test. It watches ConfigMaps.
func startProgram(ctx context.Context, config *rest.Config) (*factories.Factory, error) {
	client, err := source.NewClient(config)
	if err != nil {
		return nil, err
	}
	factory := factories.New(client)
	factories.For[*corev1.ConfigMap](factory, mapsResource)
	if err := factory.Start(ctx); err != nil {
		return nil, err
	}
	return factory, factory.WaitForCacheSync(ctx)
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
}

func TestProgram(t *testing.T) {
	server := sourcetest.New()
	maps := sourcetest.Serve[*corev1.ConfigMap](server, mapsResource, "ConfigMap")
	maps.Create(configMap("blue"))
	program, err := startProgram(t.Context(), requests.Config(server.Config()))
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

var t *testing.T // of the test that runs the example

func TestExample(test *testing.T) {
	t = test
	Example()
}

// The body of a test that checks a role by itself.
func Example() {
	server := sourcetest.New()
	sourcetest.Serve[*corev1.ConfigMap](server, mapsResource, "ConfigMap")

	var requests rbactest.Recorder
	program, err := startProgram(t.Context(), requests.Config(server.Config()))
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	requests.Check(t, "testdata/role.yaml") // exactly these rules
}
