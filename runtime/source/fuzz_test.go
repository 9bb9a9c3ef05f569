// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	sigsjson "sigs.k8s.io/json"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// fuzzSources are the same bytes as a typed and as an untyped collection.
func fuzzSources(t *testing.T, body string) []Source[object.Object] {
	c := newTestClient(t, func(*http.Request) (*http.Response, error) { return answer(200, body), nil })
	typed, err := NewFunc(c, pods, func() object.Object { return &corev1.Pod{} }, Options{})
	if err != nil {
		t.Fatal(err)
	}
	untyped, err := NewFunc(c, pods, func() object.Object { return &unstructured.Unstructured{} }, Options{Kind: "Pod"})
	if err != nil {
		t.Fatal(err)
	}
	return []Source[object.Object]{typed, untyped}
}

// checkObject is what every object that is handed over has to be.
func checkObject(t *testing.T, obj object.Object) {
	t.Helper()
	gvk := obj.GetObjectKind().GroupVersionKind()
	if obj.GetName() == "" || obj.GetResourceVersion() == "" || gvk.Kind != "Pod" || gvk.GroupVersion() != pods.GroupVersion() {
		t.Errorf("handed over %v %q at %q", gvk, obj.GetName(), obj.GetResourceVersion())
	}
}

func FuzzList(f *testing.F) {
	f.Add(podList("7", pod("a", "1"), kindPod("b", "2")))
	f.Add(podList("7", benchPod(1))[:900])
	f.Add(`{"items":[` + pod("a", "1") + `],"metadata":{"continue":"x","resourceVersion":"7"},"apiVersion":"v1","kind":"PodList"}`)
	f.Add(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":null}`)
	f.Add(`{"kind":"Table","apiVersion":"meta.k8s.io/v1"}`)
	f.Fuzz(func(t *testing.T, body string) {
		for _, s := range fuzzSources(t, body) {
			got, result, err := listAll(s)
			for _, obj := range got {
				checkObject(t, obj)
			}
			var decode *DecodeError
			switch {
			case err == nil && result.ResourceVersion == "":
				t.Error("a list without a version")
			case err != nil && !errors.As(err, &decode):
				t.Errorf("got %T %v, want a *DecodeError", err, err)
			case err != nil && (decode.Item < 0 || decode.Item > len(got)+1 || decode.Err == nil):
				t.Errorf("item %d after %d: %v", decode.Item, len(got), err)
			}
			// What we take as a list of Pods is one for client-go's decoder, too.
			if err != nil || len(got) == 0 {
				continue
			}
			if first, ok := got[0].(*corev1.Pod); ok {
				var want corev1.PodList
				if err := sigsjson.UnmarshalCaseSensitivePreserveInts([]byte(body), &want); err != nil || len(want.Items) != len(got) {
					t.Fatalf("sigs.k8s.io/json has %d items and %v, we have %d", len(want.Items), err, len(got))
				}
				want.Items[0].TypeMeta = first.TypeMeta
				if !reflect.DeepEqual(&want.Items[0], first) {
					t.Errorf("sigs.k8s.io/json has %+v\nwe have %+v", &want.Items[0], first)
				}
			}
		}
	})
}

func FuzzWatch(f *testing.F) {
	f.Add(event("ADDED", kindPod("a", "1")) + "\n" + bookmark + "\n" + endBookmark)
	f.Add(event("MODIFIED", `{"apiVersion":"v1","kind":"Pod",`+benchPod(1)[1:])[:800])
	f.Add(`{"object":` + kindPod("b", "3") + `,"type":"DELETED"}` + gone)
	f.Add(throttled)
	f.Add(`{"type":"X","object":{}}`)
	f.Fuzz(func(t *testing.T, body string) {
		for _, s := range fuzzSources(t, body) {
			n := 0
			err := s.Watch(context.Background(), WatchOptions{}, nil, func(e Event[object.Object]) error {
				n++
				if e.ResourceVersion == "" || strings.HasPrefix(e.Type.String(), "UNKNOWN") || (e.Object == nil) != (e.Type == Bookmark) {
					t.Errorf("event %d is %+v", n, e)
				}
				if e.Object != nil {
					checkObject(t, e.Object)
				}
				return nil
			})
			var decode *DecodeError
			var status *apierrors.StatusError
			if err != nil && !errors.As(err, &status) && (!errors.As(err, &decode) || decode.Item != n+1) {
				t.Errorf("after %d events: got %T %v", n, err, err)
			}
		}
	})
}
