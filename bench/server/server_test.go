// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-gen/informer-gen/bench/data"
)

func marshal(t *testing.T, obj any) []byte {
	t.Helper()
	text, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// newTestAPI serves a world without a socket.
func newTestAPI(t *testing.T, w World) *api {
	t.Helper()
	a := newAPI()
	text := marshal(t, w)
	answer := httptest.NewRecorder()
	a.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/show", bytes.NewReader(text)))
	if answer.Code != http.StatusOK {
		t.Fatalf("show: %d %s", answer.Code, answer.Body)
	}
	t.Cleanup(func() {
		if err := a.close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

func (a *api) ask(t *testing.T, path, accept string) *httptest.ResponseRecorder {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	req.Header.Set("Accept", accept)
	answer := httptest.NewRecorder()
	a.ServeHTTP(answer, req)
	return answer
}

func TestListsArePagedLikeAPIServer(t *testing.T) {
	a := newTestAPI(t, World{Pods: 10, Changed: 3})
	path := data.Pods.Path()
	for _, tc := range []struct {
		path string
		want []int // sizes of the pages
	}{
		{path + "?limit=4", []int{4, 4, 2}},
		{path + "?limit=10", []int{10}},
		{path + "?", []int{10}},
		{path + "?limit=4&resourceVersion=0", []int{10}},
		{PagedPath + path + "?limit=4&resourceVersion=0", []int{4, 4, 2}},
	} {
		next := ""
		for page, want := range tc.want {
			answer := a.ask(t, tc.path+"&continue="+next, runtime.ContentTypeJSON)
			var list corev1.PodList
			if err := json.Unmarshal(answer.Body.Bytes(), &list); err != nil {
				t.Fatalf("%s: %v in %s", tc.path, err, answer.Body)
			}
			if len(list.Items) != want || list.Kind != "PodList" || list.ResourceVersion == "" {
				t.Errorf("%s, page %d has %d Pods, kind %q, version %q", tc.path, page, len(list.Items), list.Kind, list.ResourceVersion)
			}
			next = list.Continue
		}
		if next != "" {
			t.Errorf("%s: the last page has the continue token %q", tc.path, next)
		}
	}
}

func TestSecondStateHasOnlyTheChanges(t *testing.T) {
	a := newTestAPI(t, World{Pods: 50, Changed: 5})
	list := func() corev1.PodList {
		var list corev1.PodList
		if err := json.Unmarshal(a.ask(t, data.Pods.Path(), runtime.ContentTypeJSON).Body.Bytes(), &list); err != nil {
			t.Fatal(err)
		}
		return list
	}
	before := list()
	a.setMoved(true)
	after := list()
	if before.ResourceVersion >= after.ResourceVersion {
		t.Errorf("the versions are %s, then %s", before.ResourceVersion, after.ResourceVersion)
	}
	changed := 0
	for i := range before.Items {
		b, a := &before.Items[i], &after.Items[i]
		if b.UID != a.UID {
			t.Errorf("%s has another UID", b.Name)
		}
		if b.ResourceVersion != a.ResourceVersion {
			changed++
		} else if !bytes.Equal(marshal(t, b), marshal(t, a)) {
			t.Errorf("%s has changed, but not its version", b.Name)
		}
	}
	if changed != 5 {
		t.Errorf("%d Pods have changed", changed)
	}
	a.setMoved(false)
	if again := list(); !bytes.Equal(marshal(t, again), marshal(t, before)) {
		t.Error("the first state differs at the second request")
	}
}

func TestClientGoReadsProtobuf(t *testing.T) {
	a := newTestAPI(t, World{Pods: 7, Protobuf: true})
	answer := a.ask(t, data.Pods.Path()+"?limit=5", runtime.ContentTypeProtobuf)
	obj, err := runtime.Decode(Codecs.UniversalDeserializer(), answer.Body.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	list := obj.(*corev1.PodList)
	if len(list.Items) != 5 || list.Continue == "" || list.RemainingItemCount == nil {
		t.Errorf("got %d Pods, %+v", len(list.Items), list.ListMeta)
	}
	plan := data.NewPodPlan(7)
	for i := range list.Items {
		want := plan.Pod(i, 0, 0)
		want.TypeMeta = metav1.TypeMeta{}
		if got := marshal(t, &list.Items[i]); !bytes.Equal(got, marshal(t, want)) {
			t.Errorf("Pod %d is %s", i, got)
		}
	}
}

func TestInvalidRequestsAreRefused(t *testing.T) {
	a := newTestAPI(t, World{Pods: 10})
	for _, tc := range []struct {
		query, accept string
		code          int
	}{
		{"watch=true&resourceVersion=3", runtime.ContentTypeJSON, http.StatusGone},
		{"watch=true&sendInitialEvents=true", runtime.ContentTypeJSON, http.StatusUnprocessableEntity},
		{"limit=some", runtime.ContentTypeJSON, http.StatusBadRequest},
		{"", runtime.ContentTypeProtobuf, http.StatusNotAcceptable},
	} {
		answer := a.ask(t, data.Pods.Path()+"?"+tc.query, tc.accept)
		var status metav1.Status
		if err := json.Unmarshal(answer.Body.Bytes(), &status); err != nil || answer.Code != tc.code || int(status.Code) != tc.code {
			t.Errorf("%q: got %d %s, %v; want %d", tc.query, answer.Code, answer.Body, err, tc.code)
		}
	}
	if answer := a.ask(t, data.Routes.Path(), runtime.ContentTypeJSON); answer.Code != http.StatusNotFound {
		t.Errorf("a missing resource: code %d", answer.Code)
	}
}

// TestWatchesEndOrGetEvents: when the collection changes, a watch ends with 410 or gets the world's
// events.
func TestWatchesEndOrGetEvents(t *testing.T) {
	for _, tc := range []struct {
		world World
		want  []watch.EventType
	}{
		{World{Pods: 2, Changed: 1}, []watch.EventType{watch.Added, watch.Added, watch.Bookmark, watch.Error}},
		{World{Pods: 2, Events: 3}, []watch.EventType{watch.Added, watch.Added, watch.Bookmark, watch.Modified, watch.Modified, watch.Modified}},
	} {
		s := httptest.NewServer(newTestAPI(t, tc.world))
		resp, err := s.Client().Do(func() *http.Request {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+data.Pods.Path()+WatchListQuery, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Accept", runtime.ContentTypeJSON)
			return req
		}())
		if err != nil {
			t.Fatal(err)
		}
		decoder := json.NewDecoder(resp.Body)
		for i, want := range tc.want {
			if want != watch.Added && want != watch.Bookmark && i == 3 {
				if err := Move(s.URL); err != nil {
					t.Fatal(err)
				}
			}
			var event metav1.WatchEvent
			if err := decoder.Decode(&event); err != nil || event.Type != string(want) {
				t.Fatalf("event %d is %s, %v; want %s", i, event.Type, err, want)
			}
		}
		if tc.world.Events == 0 {
			if _, err := io.ReadAll(resp.Body); err != nil {
				t.Errorf("the error is followed by %v", err)
			}
		}
		resp.Body.Close()
		s.Close()
	}
}

// TestCustomResourcesRoundTripSorted: a custom resource has sorted names, as if from maps. Decoded,
// it is unchanged.
func TestCustomResourcesRoundTripSorted(t *testing.T) {
	for i := range 50 {
		for _, tc := range []struct {
			kind data.Kind
			obj  runtime.Object
			back runtime.Object
		}{
			{data.Certificates, data.NewCertificate(i, 50), CertificateRemote(From{}).Example()},
			{data.Routes, data.NewRoute(i, 50), RouteRemote(From{}).Example()},
		} {
			text, err := newRendering(tc.kind, false).item(tc.obj)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.HasPrefix(text, []byte(`{"apiVersion":`)) || !bytes.HasSuffix(text, []byte("},")) {
				t.Errorf("a %s begins or ends wrongly: %s", tc.kind.Name, text)
			}
			if err := json.Unmarshal(bytes.TrimSuffix(text, []byte(",")), tc.back); err != nil {
				t.Fatal(err)
			}
			if got, want := marshal(t, tc.back), marshal(t, tc.obj); !bytes.Equal(got, want) {
				t.Errorf("%s became\n%s", want, got)
			}
		}
	}
}
