// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/internal/podtest"
)

var metadataMeta = metav1.TypeMeta{Kind: "PartialObjectMetadata", APIVersion: "meta.k8s.io/v1"}

func metadataOf(name, version string) metav1.PartialObjectMetadata {
	return metav1.PartialObjectMetadata{TypeMeta: metadataMeta, ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", ResourceVersion: version, Labels: map[string]string{"a": "b"}}}
}

// TestMetadataIsAskedFor: any resource, and nothing but its metadata.
func TestMetadataIsAskedFor(t *testing.T) {
	var accept string
	c := newTestClient(t, func(req *http.Request) (*http.Response, error) {
		accept = req.Header.Get("Accept")
		return nil, errors.New("that is enough")
	})
	s := sourceOf[*metav1.PartialObjectMetadata](t, c, deployments, Options{})
	listAll(s)
	if want := acceptHeader([]Format{Protobuf, JSON}, "PartialObjectMetadataList", false); accept != want {
		t.Errorf("list accepts %s\nwant %s", accept, want)
	}
	watchAll(s)
	if want := acceptHeader([]Format{Protobuf, JSON}, "PartialObjectMetadata", false); accept != want {
		t.Errorf("watch accepts %s\nwant %s", accept, want)
	}
}

// TestMetadataInEveryFormat: objects are the same from every server and in every format.
func TestMetadataInEveryFormat(t *testing.T) {
	for _, kind := range []string{"", "Pod"} {
		want := metadataOf("a", "1")
		if kind != "" {
			want.TypeMeta = metav1.TypeMeta{Kind: kind, APIVersion: "v1"}
		}
		check := func(name string, list, watch []byte, f Format) {
			t.Helper()
			opts := Options{Kind: kind}
			got, result, err := listAll(serveIn[*metav1.PartialObjectMetadata](t, f, list, opts))
			if err != nil || len(got) != 1 || result.ResourceVersion != "7" {
				t.Fatalf("%s from %v as %q: %v, %v, %v", name, f, kind, got, result, err)
			}
			events, err := watchAll(serveIn[*metav1.PartialObjectMetadata](t, f, watch, opts))
			if err != nil || len(events) != 2 || events[1].ResourceVersion != "9" {
				t.Fatalf("%s from %v as %q: %v, %v", name, f, kind, events, err)
			}
			for _, m := range []*metav1.PartialObjectMetadata{got[0], events[0].Object} {
				if diff := cmp.Diff(&want, m); diff != "" {
					t.Errorf("%s from %v as %q: %s", name, f, kind, diff)
				}
			}
		}
		for _, f := range everyFormat {
			m, mark := metadataOf("a", "1"), metadataOf("", "9")
			list := &metav1.PartialObjectMetadataList{
				TypeMeta: metav1.TypeMeta{Kind: "PartialObjectMetadataList", APIVersion: "meta.k8s.io/v1"},
				ListMeta: metav1.ListMeta{ResourceVersion: "7"}, Items: []metav1.PartialObjectMetadata{m},
			}
			check("metadata", podtest.Encode(t, f, list), append(podtest.EncodeEvent(t, f, "ADDED", &m), podtest.EncodeEvent(t, f, "BOOKMARK", &mark)...), f)
		}
		// A server that can't convert objects sends whole ones.
		whole := strings.Replace(podtest.Pod("a", "1"), `"name"`, `"labels":{"a":"b"},"name"`, 1)
		whole = whole[:len(whole)-1] + `,"spec":{"containers":[{"name":"c"}]}}`
		check("whole objects", []byte(podtest.List("7", whole)), []byte(podtest.Event("ADDED", podtest.WithKind(whole))+podtest.Bookmark), JSON)
	}
}

func TestMetadataRejects(t *testing.T) {
	item := func(apiVersion, kind string) string {
		return `{"apiVersion":"` + apiVersion + `","kind":"` + kind + `",` + podtest.Pod("a", "1")[1:]
	}
	for name, tc := range map[string]struct{ kind, body string }{
		"another kind":     {"Pod", item("v1", "Node")},
		"another version":  {"", item("v2", "Pod")},
		"a status":         {"", item("v1", "Status")},
		"a table":          {"", item("meta.k8s.io/v1", "Table")},
		"metadata of old":  {"", item("meta.k8s.io/v1beta1", "PartialObjectMetadata")},
		"metadata of none": {"", item("v1", "PartialObjectMetadata")},
	} {
		_, err := watchAll(serveIn[*metav1.PartialObjectMetadata](t, JSON, []byte(podtest.Event("ADDED", tc.body)), Options{Kind: tc.kind}))
		if !errors.Is(err, ErrWrongKind) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	table := `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"1"},"items":[]}`
	if _, _, err := listAll(serveIn[*metav1.PartialObjectMetadata](t, JSON, []byte(table), Options{})); !errors.Is(err, ErrWrongKind) {
		t.Errorf("a list that is a table: got %v", err)
	}
	whole := bytes.Clone([]byte(podtest.List("7", podtest.Pod("a", "1"))))
	if _, _, err := listAll(serveIn[*metav1.PartialObjectMetadata](t, JSON, whole, Options{Kind: "Node"})); !errors.Is(err, ErrWrongKind) {
		t.Errorf("whole objects of another kind: got %v", err)
	}
}

// TestMetadataFallsBackToJSON: every server supports JSON without parameters.
func TestMetadataFallsBackToJSON(t *testing.T) {
	var requests []string
	s := sourceOf[*metav1.PartialObjectMetadata](t, newTestClient(t, refusing(&requests)), pods, Options{Formats: []Format{JSON}})
	err := s.Watch(context.Background(), WatchOptions{}, nil, func(e Event[*metav1.PartialObjectMetadata]) error {
		if e.Object.TypeMeta != metadataMeta || e.Object.Name != "a" {
			t.Errorf("got %+v", e.Object)
		}
		return nil
	})
	if err != nil || len(requests) != 2 {
		t.Errorf("got %v after requests for %q", err, requests)
	}
}
