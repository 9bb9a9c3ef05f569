// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"errors"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestKindOfType has a Go type of one kind and a Go type of two kinds. For the second, an object
// alone doesn't tell its kind.
func TestKindOfType(t *testing.T) {
	settings := func(version string) schema.GroupVersionKind {
		return schema.GroupVersionKind{Group: "example.com", Version: version, Kind: "Settings"}
	}
	scheme, mapper := runtime.NewScheme(), meta.NewDefaultRESTMapper(nil)
	scheme.AddKnownTypes(corev1.SchemeGroupVersion, &corev1.Pod{})
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Pod"), meta.RESTScopeNamespace)
	for _, version := range []string{"v1", "v2"} {
		scheme.AddKnownTypeWithName(settings(version), &corev1.ConfigMap{})
		mapper.Add(settings(version), meta.RESTScopeNamespace)
	}
	c, err := New(&rest.Config{Host: "http://none.invalid"}, cache.Options{
		Scheme:     scheme,
		Mapper:     mapper,
		HTTPClient: &http.Client{Transport: unanswered{}},
	})
	if err != nil {
		t.Fatal(err)
	}
	pod, first, second := &corev1.Pod{}, &corev1.ConfigMap{}, &corev1.ConfigMap{}
	first.SetGroupVersionKind(settings("v1"))
	second.SetGroupVersionKind(settings("v2"))
	for range 2 { // first the kind is made, then found
		if _, err := c.readableFor(pod); !errors.As(err, new(*cache.ErrCacheNotStarted)) {
			t.Errorf("readableFor before the start: error %v, want ErrCacheNotStarted", err)
		}
	}
	start(t.Context(), t, c)
	for range 2 { // first each kind is made, then found
		for _, read := range []struct {
			obj  client.Object
			want schema.GroupVersionKind
		}{
			{pod, corev1.SchemeGroupVersion.WithKind("Pod")},
			{first, settings("v1")},
			{second, settings("v2")},
		} {
			if k, err := c.readableFor(read.obj); err != nil || k.gvk != read.want {
				t.Errorf("want the kind %v, got %v, error %v", read.want, k, err)
			}
		}
	}
	if k, err := c.readableFor(&corev1.ConfigMap{}); err == nil {
		t.Errorf("an object of two possible kinds is taken for %v", k.gvk)
	}
	if err := c.RemoveInformer(t.Context(), pod); err != nil {
		t.Error(err)
	}
	if k := c.kinds.Load().byType[addressOf(pod)]; k != nil {
		t.Error("the kind is found after RemoveInformer")
	}
}

// unanswered is a server that does not answer.
type unanswered struct{}

func (unanswered) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}
