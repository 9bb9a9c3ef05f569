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

// FuzzAuthorized: whatever the path and the query are, a read answers with objects only that the
// authorizer was asked for.
func FuzzAuthorized(f *testing.F) {
	for _, path := range []string{widgets, inA, inA + "/one", "/apis/samples.dev/v1/watch/namespaces/a/widgets/one", "/apis/samples.dev/v1/namespaces/a/../b/widgets", "/apis//v1/widgets"} {
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
			return // it might last
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
			if !slices.ContainsFunc(asked, func(a serve.Attributes) bool { return covers(t, a, &o) }) {
				t.Errorf("%s?%s answers with %s/%s, and asks for %+v", path, query, o.Namespace, o.Name, asked)
			}
		}
	})
}

// covers reports whether who may make a request may read an object.
func covers(t *testing.T, a serve.Attributes, o *metav1.PartialObjectMetadata) bool {
	t.Helper()
	byLabel, err := labels.Parse(a.LabelSelector)
	if err != nil {
		t.Errorf("%q is served: %v", a.LabelSelector, err)
	}
	byField, err := fields.ParseSelector(a.FieldSelector)
	if err != nil {
		t.Errorf("%q is served: %v", a.FieldSelector, err)
	}
	return (a.Verb == "get" || a.Verb == "list") && a.Resource.Resource == "widgets" && a.Subresource == "" &&
		(a.Namespace == "" || a.Namespace == o.Namespace) && (a.Name == "" || a.Name == o.Name) &&
		byLabel.Matches(labels.Set(o.Labels)) && byField.Matches(fields.Set{"metadata.name": o.Name, "metadata.namespace": o.Namespace})
}
