// SPDX-License-Identifier: Apache-2.0

package serve_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/informer-gen/informer-gen/server/serve"
)

// FuzzAuthorized shows that, for any path and query, a read returns only objects covered by the
// attributes given to Authorize.
func FuzzAuthorized(f *testing.F) {
	for _, path := range []string{widgets, widgetsInA, widgetsInA + "/one", "/apis/samples.dev/v1/watch/namespaces/a/widgets/one", "/apis/samples.dev/v1/namespaces/a/../b/widgets", "/apis//v1/widgets"} {
		for _, query := range []string{
			"", "fieldSelector=metadata.name%3Done", "fieldSelector=metadata.name=one&fieldSelector=metadata.name=two", "labelSelector=app=x&labelSelector=app",
			"labelSelector=app+in+(x);limit=1", "fieldSelector=metadata.namespace!=b,metadata.name=&limit=1&resourceVersion=0", "fieldSelector=metadata.name=one%2Cmetadata.name=two",
		} {
			f.Add(path, query)
		}
	}
	var asked []serve.Attributes
	r := newRig(f, serve.Config{Authorize: func(_ context.Context, a serve.Attributes) error {
		asked = append(asked, a)
		return nil
	}}, true)
	for _, namespace := range []string{"a", "b"} {
		for _, named := range []string{`"name":"one"`, `"name":"two","labels":{"app":"x"}`} {
			obj, err := r.storage.Create(f.Context(), []byte(`{"apiVersion":"samples.dev/v1","kind":"Widget","metadata":{"namespace":"`+namespace+`",`+named+`}}`))
			if err == nil {
				err = r.cache.WaitUntilFresh(f.Context(), obj.Version)
			}
			if err != nil {
				f.Fatal(err)
			}
		}
	}
	f.Fuzz(func(t *testing.T, path, query string) {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		req.URL.Path, req.URL.RawQuery = path, query
		if serve.AttributesOf(req).Verb == "watch" {
			return // a watch may not end
		}
		asked = nil
		answer := httptest.NewRecorder()
		r.handler.ServeHTTP(answer, req)
		if answer.Code != http.StatusOK {
			return
		}
		var got metav1.PartialObjectMetadataList
		if err := json.Unmarshal(answer.Body.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if got.Kind == "Widget" {
			var one metav1.PartialObjectMetadata
			if err := json.Unmarshal(answer.Body.Bytes(), &one); err != nil {
				t.Fatal(err)
			}
			got.Items = []metav1.PartialObjectMetadata{one}
		}
		for _, o := range got.Items {
			if !slices.ContainsFunc(asked, func(a serve.Attributes) bool { return authorizes(t, a, &o) }) {
				t.Errorf("%s?%s returned %s/%s, but Authorize was called with %+v", path, query, o.Namespace, o.Name, asked)
			}
		}
	})
}

// authorizes reports whether the right to make a request includes an object.
func authorizes(t *testing.T, a serve.Attributes, o *metav1.PartialObjectMetadata) bool {
	t.Helper()
	byLabel, err := labels.Parse(a.LabelSelector)
	if err != nil {
		t.Errorf("%q was served, but is malformed: %v", a.LabelSelector, err)
	}
	byField, err := fields.ParseSelector(a.FieldSelector)
	if err != nil {
		t.Errorf("%q was served, but is malformed: %v", a.FieldSelector, err)
	}
	return (a.Verb == "get" || a.Verb == "list") && a.Resource.Resource == "widgets" && a.Subresource == "" &&
		(a.Namespace == "" || a.Namespace == o.Namespace) && (a.Name == "" || a.Name == o.Name) &&
		byLabel.Matches(labels.Set(o.Labels)) && byField.Matches(fields.Set{"metadata.name": o.Name, "metadata.namespace": o.Namespace})
}
