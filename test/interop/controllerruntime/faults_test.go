// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"fmt"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informer-gen/informer-gen/devserver"
	"github.com/informer-gen/informer-gen/test/internal/poll"
)

// TestServerFaults: a controller of unstructured objects misses no change while its server is
// stopped and started, is killed, forgets its history, and loses and regains its CRD.
func TestServerFaults(t *testing.T) {
	bothEngines(t, testServerFaults)
}

func testServerFaults(t *testing.T, newCache cache.NewCacheFunc) {
	server := startProcess(t)
	if err := devserver.InstallCRDs(t.Context(), server.config(), boxCRD()); err != nil {
		t.Fatal(err)
	}
	definitions := crdClient(t, server)
	w := newWarehouse(t, server, newCache, "v1")
	for _, fault := range []struct {
		name   string
		happen func()
	}{
		{"no fault", func() {}},
		{"a restart", func() {
			if err := server.Quit(t.Context()); err != nil {
				t.Fatal(err)
			}
			server.startAgain(t)
		}},
		{"kill -9", func() {
			server.Kill()
			server.startAgain(t)
		}},
		{"a 410", func() {
			if err := server.ExpireWatches(t.Context()); err != nil {
				t.Fatal(err)
			}
		}},
		{"a new CRD", func() {
			if err := definitions.Delete(t.Context(), boxCRD()); err != nil {
				t.Fatal(err)
			}
			poll.Until(t, func() error {
				crd := boxCRD()
				if err := definitions.Get(t.Context(), client.ObjectKeyFromObject(crd), crd); !apierrors.IsNotFound(err) {
					return fmt.Errorf("the CRD is still there: %v", err)
				}
				return nil
			})
			if err := devserver.InstallCRDs(t.Context(), server.config(), boxCRD()); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		w.during(fault.happen)
		w.settled(fault.name)
	}
}

// crdClient returns a client of CRDs.
func crdClient(t *testing.T, server *serverProcess) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return server.client(t, client.Options{Scheme: scheme})
}
