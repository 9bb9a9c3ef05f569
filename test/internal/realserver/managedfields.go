// SPDX-License-Identifier: Apache-2.0

package realserver

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/test/internal/poll"
)

// WithoutManagedFields tests informer.WithoutManagedFields. Whether the server knows the parameter
// of the Accept header or ignores it, objects come without managedFields in each format, and no
// request is refused or made in vain.
func WithoutManagedFields(t *testing.T, config *rest.Config) {
	cluster := newBoats(t, config, "fields.example.com")
	cluster.install()
	if fields := cluster.create("ada").GetManagedFields(); len(fields) == 0 {
		t.Fatal("the server keeps no managedFields")
	}
	t.Run("typed, in protobuf", func(t *testing.T) {
		withoutManagedFields[*apiextensionsv1.CustomResourceDefinition](t, config, cluster.crds, crds, cluster.crdName())
	})
	t.Run("dynamic", func(t *testing.T) {
		withoutManagedFields[*unstructured.Unstructured](t, config, cluster, cluster.gvr, "ada")
	})
	t.Run("metadata", func(t *testing.T) {
		withoutManagedFields[*metav1.PartialObjectMetadata](t, config, cluster, cluster.gvr, "ada")
	})
}

func withoutManagedFields[T object.Object](t *testing.T, config *rest.Config, cluster dynamic.ResourceInterface, gvr schema.GroupVersionResource, name string) {
	poll.Until(t, func() error { // a new resource's watch cache gets ready
		w, err := cluster.Watch(t.Context(), metav1.ListOptions{ResourceVersion: "0"})
		if err == nil {
			w.Stop()
		}
		return err
	})
	for mode, want := range map[string]string{"watch-list": "watch 200", "lists": "list 200, watch 200"} {
		var requests recorder
		config := rest.CopyConfig(config)
		config.Wrap(requests.wrap)
		client, err := source.NewClient(config)
		if err != nil {
			t.Fatal(err)
		}
		f := factories.New(client, informer.WithoutManagedFields(), informer.WithTuning(reflector.Tuning{DisableWatchList: mode == "lists"}))
		i := factories.For[T](f, gvr, factories.WithClusterScope())
		run(t, f)
		if err := f.WaitForCacheSync(t.Context()); err != nil {
			t.Fatal(err)
		}
		// wantLabel waits until the informer has the object with a label, and watches.
		wantLabel := func(label string) {
			t.Helper()
			poll.Until(t, func() error {
				obj, ok := i.Store().Snapshot().Get(object.Key{Name: name})
				if !ok || label != "" && obj.GetLabels()["test"] != label || i.Status().Reflector.State != reflector.StateWatching {
					return errors.New("the informer has not got the object")
				}
				if fields := obj.GetManagedFields(); fields != nil {
					t.Fatalf("%s: the object has the managedFields %v", mode, fields)
				}
				return nil
			})
		}
		wantLabel("")
		patch := fmt.Sprintf(`{"metadata":{"labels":{"test":%q}}}`, mode)
		if _, err := cluster.Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		wantLabel(mode)
		if got := requests.String(); got != want {
			t.Errorf("%s: the requests are %q, want %q", mode, got, want)
		}
	}
}

// recorder records the requests of an informer.
type recorder struct {
	mu    sync.Mutex // guards lines
	lines []string
}

func (r *recorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.lines, ", ")
}

func (r *recorder) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(req)
		if err != nil {
			return resp, err
		}
		line := fmt.Sprint("list ", resp.StatusCode)
		if req.URL.Query().Get("watch") == "true" {
			line = fmt.Sprint("watch ", resp.StatusCode)
		}
		for accept := range strings.SplitSeq(req.Header.Get("Accept"), ",") {
			if !slices.Contains(strings.Split(accept, ";"), "drop=metadata.managedFields") {
				line += " without drop"
			}
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.lines = append(r.lines, line)
		return resp, nil
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }
