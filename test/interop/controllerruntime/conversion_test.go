// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informer-gen/informer-gen/devserver"
	"github.com/informer-gen/informer-gen/test/internal/poll"
)

// TestStorageVersion: the controllers of two versions of a kind go on while the storage version
// changes and all objects are rewritten. A webhook converts.
func TestStorageVersion(t *testing.T) {
	bothEngines(t, testStorageVersion)
}

func testStorageVersion(t *testing.T, newCache cache.NewCacheFunc) {
	server := startProcess(t)
	webhook := convertBoxes(t)
	install := func(storage string) {
		t.Helper()
		crd := boxCRD()
		crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{boxVersion("v1", storage == "v1"), boxVersion("v2", storage == "v2")}
		crd.Spec.Conversion = webhook
		if err := devserver.InstallCRDs(t.Context(), server.config(), crd); err != nil {
			t.Fatal(err)
		}
	}
	install("v1")
	w := newWarehouse(t, server, newCache, "v1", "v2")
	for n := range 10 { // not touched by change
		if err := w.server.Create(t.Context(), newBox("v1", fmt.Sprint("old-", n), int64(n))); err != nil {
			t.Fatal(err)
		}
	}
	w.settled("creates")
	w.during(func() { install("v2") })
	w.settled("the new storage version")
	for _, again := range []bool{false, true} {
		for n := range 10 {
			box := newBox("v2", fmt.Sprint("old-", n), 0)
			if err := w.server.Get(t.Context(), client.ObjectKeyFromObject(box), box); err != nil {
				t.Fatal(err)
			}
			before := box.GetResourceVersion()
			if err := w.server.Update(t.Context(), box); err != nil {
				t.Fatal(err)
			}
			// An update without a change writes only if the stored form differs.
			if rewritten := box.GetResourceVersion() != before; rewritten == again {
				t.Errorf("%s was rewritten: %t, the second time: %t", box.GetName(), rewritten, again)
			}
		}
	}
	w.settled("the objects were rewritten")

	// Now the old version can be dropped.
	definitions := crdClient(t, server)
	poll.Until(t, func() error {
		crd := boxCRD()
		if err := definitions.Get(t.Context(), client.ObjectKeyFromObject(crd), crd); err != nil {
			return err
		}
		crd.Status.StoredVersions = []string{"v2"}
		return definitions.Status().Update(t.Context(), crd)
	})
	w.during(func() {
		server.Kill()
		server.startAgain(t)
	})
	w.settled("kill -9")
}

// convertBoxes serves a webhook that converts Boxes: v2 calls the size volume.
func convertBoxes(t *testing.T) *apiextensionsv1.CustomResourceConversion {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review apiextensionsv1.ConversionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		review.Response = &apiextensionsv1.ConversionResponse{UID: review.Request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
		for _, raw := range review.Request.Objects {
			box := &unstructured.Unstructured{}
			if err := box.UnmarshalJSON(raw.Raw); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			from := box.GroupVersionKind().Version
			box.SetAPIVersion(review.Request.DesiredAPIVersion)
			if spec, ok := box.Object["spec"].(map[string]any); ok {
				spec[sizeOfBox[box.GroupVersionKind().Version]] = spec[sizeOfBox[from]]
				delete(spec, sizeOfBox[from])
			}
			review.Response.ConvertedObjects = append(review.Response.ConvertedObjects, runtime.RawExtension{Object: box})
		}
		review.Request = nil
		_ = json.NewEncoder(w).Encode(review) // the API server notices a truncated answer
	}))
	t.Cleanup(server.Close)
	url := server.URL + "/convert"
	return &apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook: &apiextensionsv1.WebhookConversion{
			ClientConfig: &apiextensionsv1.WebhookClientConfig{
				URL:      &url,
				CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
			},
			ConversionReviewVersions: []string{"v1"},
		},
	}
}
