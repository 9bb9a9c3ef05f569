// SPDX-License-Identifier: Apache-2.0

package sourcetest_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apiwatch "k8s.io/apimachinery/pkg/watch"

	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// full returns a Pod with a value of each kind that formats encode differently.
func full(name string) *corev1.Pod {
	p := pod("shop", name, label("app", "web"))
	p.Annotations = map[string]string{"note": "é\n\"x\"<&>"}
	p.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl", FieldsType: "FieldsV1", FieldsV1: fieldsV1(`{"f:spec":{}}`)}}
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "u", Controller: new(true)}}
	p.Spec.NodeName = "node-1"
	p.Spec.Containers = []corev1.Container{{
		Name: "web", Image: "web:1", Args: []string{"", "-v"},
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("100m")}},
	}}
	p.Spec.TerminationGracePeriodSeconds = new(int64(30))
	p.Status.StartTime = &metav1.Time{Time: time.Unix(1700000000, 0).Local()}
	return p
}

// TestClientGoReadsEachFormat reads the server's answers with client-go's decoders.
func TestClientGoReadsEachFormat(t *testing.T) {
	for name, contentType := range formats {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			w := newWorld(t, contentType)
			for i := range 5 {
				w.pods.Create(full(fmt.Sprintf("p%d", i)))
			}
			want := w.pods.All()

			var got []corev1.Pod
			var version, token string
			for {
				params := []string{"limit", "2"}
				if token != "" {
					params = append(params, "continue", token)
				}
				result := w.request("shop", params...).Do(ctx)
				var sent string
				if sent = w.contentTypeOf(t, params); sent != contentType {
					t.Fatalf("Content-Type %q, want %q", sent, contentType)
				}
				var page corev1.PodList
				if err := result.Into(&page); err != nil {
					t.Fatal(err)
				}
				got, version, token = append(got, page.Items...), page.ResourceVersion, page.Continue
				if token == "" {
					break
				}
			}
			if len(got) != len(want) || version != w.server.ResourceVersion() {
				t.Fatalf("%d items at version %q, want %d at %q", len(got), version, len(want), w.server.ResourceVersion())
			}
			for i := range got {
				listItem := want[i].DeepCopy()
				listItem.TypeMeta = metav1.TypeMeta{}
				if diff := cmp.Diff(listItem, &got[i], quantities); diff != "" {
					t.Fatalf("item %d (-stored +read):\n%s", i, diff)
				}
			}

			watcher, err := w.request("", "watch", "true", "allowWatchBookmarks", "true", "sendInitialEvents", "true", "resourceVersionMatch", "NotOlderThan").Watch(ctx)
			if err != nil {
				t.Fatal(err)
			}
			defer watcher.Stop()
			check := func(typ apiwatch.EventType, want *corev1.Pod) {
				t.Helper()
				event := <-watcher.ResultChan()
				got, ok := event.Object.(*corev1.Pod)
				if event.Type != typ || !ok {
					t.Fatalf("got %v of %T (%v), want %v", event.Type, event.Object, event.Object, typ)
				}
				want = want.DeepCopy()
				want.TypeMeta, got.TypeMeta = metav1.TypeMeta{}, metav1.TypeMeta{}
				if diff := cmp.Diff(want, got, quantities); diff != "" {
					t.Fatalf("%v (-stored +read):\n%s", typ, diff)
				}
			}
			for _, pod := range want {
				check(apiwatch.Added, pod)
			}
			end := <-watcher.ResultChan()
			if mark, ok := end.Object.(*corev1.Pod); !ok || end.Type != apiwatch.Bookmark || mark.ResourceVersion != version ||
				mark.Annotations[metav1.InitialEventsAnnotationKey] != "true" {
				t.Fatalf("got %v", end)
			}
			check(apiwatch.Modified, w.pods.Update(full("p0")))
			check(apiwatch.Deleted, w.pods.Delete("shop", "p1"))

			if _, err = w.request("", "resourceVersion", "x").Do(ctx).Get(); !apierrors.IsBadRequest(err) {
				t.Errorf("a watch from version x: error %v", err)
			}
			w.server.Compact()
			old, err := w.request("", "watch", "true", "resourceVersion", "3").Watch(ctx)
			if err != nil {
				t.Fatal(err)
			}
			defer old.Stop()
			if event := <-old.ResultChan(); event.Type != apiwatch.Error || !apierrors.IsResourceExpired(apierrors.FromObject(event.Object)) {
				t.Errorf("a watch after a compaction: event %v", event)
			}
		})
	}
}

// quantities are equal if they print alike: decoders cache different fields.
var quantities = cmp.Comparer(func(a, b resource.Quantity) bool { return a.String() == b.String() })

func (w *world) contentTypeOf(t *testing.T, params []string) string {
	query := ""
	for i := 0; i < len(params); i += 2 {
		query += "&" + params[i] + "=" + params[i+1]
	}
	requests := w.server.Requests()
	resp := send(context.Background(), t, w.server, "/api/v1/pods?"+query[1:], requests[len(requests)-1].Accept)
	defer resp.Body.Close()
	return resp.Header.Get("Content-Type")
}

func TestMetadataOnly(t *testing.T) {
	for name, contentType := range formats {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			w := newWorld(t, contentType)
			want := w.pods.Create(full("p"))
			var list metav1.PartialObjectMetadataList
			err := w.request("").SetHeader("Accept", contentType+";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1").Do(ctx).Into(&list)
			if err != nil || len(list.Items) != 1 {
				t.Fatalf("%d items, %v", len(list.Items), err)
			}
			if diff := cmp.Diff(want.ObjectMeta, list.Items[0].ObjectMeta); diff != "" {
				t.Errorf("(-stored +read):\n%s", diff)
			}
			watcher, err := w.request("", "watch", "true").SetHeader("Accept", contentType+";as=PartialObjectMetadata;g=meta.k8s.io;v=v1").Watch(ctx)
			if err != nil {
				t.Fatal(err)
			}
			defer watcher.Stop()
			event := <-watcher.ResultChan()
			got, ok := event.Object.(*metav1.PartialObjectMetadata)
			if !ok {
				t.Fatalf("got %v", event)
			}
			if diff := cmp.Diff(want.ObjectMeta, got.ObjectMeta); diff != "" {
				t.Errorf("(-stored +read):\n%s", diff)
			}
		})
	}
}

func TestNegotiation(t *testing.T) {
	server := sourcetest.New()
	sourcetest.Serve[*corev1.Pod](server, podResource, "Pod")
	widgets := sourcetest.Serve[*unstructured.Unstructured](server, widgetResource, "Widget")
	widgets.Create(&unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "w", "namespace": "shop"}, "n": int64(1)}})
	const podList, widgetList = "/api/v1/pods", "/apis/samples.io/v1/widgets"
	const asTable = ";as=Table;g=meta.k8s.io;v=v1"
	only := func(types ...string) func() { return func() { server.MediaTypes = types } }
	for _, tc := range []struct {
		path, accept string
		offer        func()
		want         string // "" is 406
	}{
		{podList, "", nil, sourcetest.JSON},
		{podList, "*/*", nil, sourcetest.JSON},
		{podList, "application/vnd.kubernetes.protobuf,application/json", nil, sourcetest.Protobuf},
		{podList, "application/vnd.kubernetes.protobuf;q=0.5,application/json;q=0.9", nil, sourcetest.JSON},
		{podList + "?watch=1", "application/vnd.kubernetes.protobuf;stream=watch,application/json", nil, sourcetest.Protobuf + ";stream=watch"},
		{podList, "application/json" + asTable, nil, ""},
		{podList, "application/json" + asTable + ",application/json", nil, sourcetest.JSON},
		{podList, "text/html", nil, ""},
		{podList, "application/vnd.kubernetes.protobuf,application/json", only(sourcetest.JSON), sourcetest.JSON},
		{widgetList, "application/vnd.kubernetes.protobuf,application/json", nil, sourcetest.JSON},
		{widgetList, "application/vnd.kubernetes.protobuf", nil, ""},
		{widgetList, "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", nil, sourcetest.Protobuf},
	} {
		server.MediaTypes = nil
		if tc.offer != nil {
			tc.offer()
		}
		resp := send(t.Context(), t, server, tc.path, tc.accept)
		got := resp.Header.Get("Content-Type")
		if resp.StatusCode == http.StatusNotAcceptable {
			got = ""
		}
		if got != tc.want {
			t.Errorf("%s, Accept %q: got %s %q, want %q", tc.path, tc.accept, resp.Status, got, tc.want)
		}
		resp.Body.Close()
	}
}

// TestKindsOfItems checks details of lists that decoders rely on. Items of built-in kinds have no
// kind. Items of other kinds have one, and in their lists the list's own kind comes last.
func TestKindsOfItems(t *testing.T) { synctest.Test(t, kindsOfItems) }

func kindsOfItems(t *testing.T) {
	server := sourcetest.New()
	sourcetest.Serve[*corev1.Pod](server, podResource, "Pod").Create(pod("shop", "p"))
	sourcetest.Serve[*unstructured.Unstructured](server, widgetResource, "Widget").
		Create(&unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "w"}, "n": int64(1), "f": 1.5, "list": []any{"x", true, nil}}})
	read := func(path, accept string) string {
		resp := send(t.Context(), t, server, path, accept)
		defer resp.Body.Close()
		raw, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	if body := read("/api/v1/pods", ""); strings.Contains(body, `"kind":"Pod"`) || !strings.HasPrefix(body, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"3"},"items":[{"metadata":{"name":"p"`) {
		t.Error(body)
	}
	if body := read("/apis/samples.io/v1/widgets", ""); !strings.Contains(body, `"kind":"Widget"`) || !strings.HasPrefix(body, `{"apiVersion":"samples.io/v1","items":[{`) {
		t.Error(body)
	}
	const as = "application/json;g=meta.k8s.io;v=v1;as=PartialObjectMetadata"
	if body := read("/api/v1/pods", as+"List"); !strings.HasPrefix(body, `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1"`) ||
		!strings.Contains(body, `[{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"p"`) {
		t.Error(body)
	}
	if body := read("/api/v1/pods?watch=1&timeoutSeconds=1", as); !strings.HasPrefix(body, `{"type":"ADDED","object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",`) {
		t.Error(body)
	}
}

// TestEncodingFailurePanics: a fault that puts an object without protobuf into a protobuf answer
// panics.
func TestEncodingFailurePanics(t *testing.T) {
	server := sourcetest.New()
	sourcetest.Serve[*corev1.Pod](server, podResource, "Pod").Create(pod("shop", "p"))
	server.Inject(sourcetest.Fault{Do: func(a *sourcetest.Answer) {
		a.Page.Items = append(a.Page.Items, &unstructured.Unstructured{})
	}})
	defer func() {
		if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), "no protobuf") {
			t.Errorf("recovered %v, want a panic about protobuf", r)
		}
	}()
	send(t.Context(), t, server, "/api/v1/pods", sourcetest.Protobuf)
}

// fieldsV1 does without metav1.NewFieldsV1, which the oldest supported apimachinery lacks.
func fieldsV1(raw string) *metav1.FieldsV1 {
	fields := &metav1.FieldsV1{}
	if err := fields.UnmarshalJSON([]byte(raw)); err != nil {
		panic(err)
	}
	return fields
}
