// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/informer-gen/informer-gen/runtime/internal/podtest"
	"github.com/informer-gen/informer-gen/runtime/object"
)

func withoutBookmarks[T object.Object](events []Event[T]) []Event[T] {
	return slices.DeleteFunc(slices.Clone(events), func(e Event[T]) bool { return e.Type == Bookmark })
}

// ownedPod returns a Pod with a controller among other owners.
func ownedPod(n int) *corev1.Pod {
	return &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("pod-%d", n), Namespace: fmt.Sprintf("ns-%d", n%3), UID: "u", ResourceVersion: fmt.Sprint(100 + n),
			OwnerReferences: []metav1.OwnerReference{
				{APIVersion: "v1", Kind: "Node", Name: "node", UID: "n"},
				{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: fmt.Sprintf("rs-%d", n%5), UID: "r", Controller: ptr.To(true)},
			},
		},
	}
}

// describeEvents returns the types, names and versions of events. The response may arrive in parts,
// each with a bookmark at its end, so it leaves out bookmarks before another event.
func describeEvents(events []Event[*corev1.Pod]) string {
	var b strings.Builder
	for n, e := range events {
		switch {
		case e.Object != nil:
			fmt.Fprintf(&b, "%v %s %s; ", e.Type, e.Object.Name, e.ResourceVersion)
		case e.InitialEventsEnd || n == len(events)-1:
			fmt.Fprintf(&b, "%v %s; ", e.Type, e.ResourceVersion)
		}
	}
	return strings.TrimSuffix(b.String(), "; ")
}

var formatsOfPods = []Format{JSON, Protobuf}

// TestKeep lists and watches the objects of one controller.
func TestKeep(t *testing.T) {
	keep := func(m object.Meta) bool {
		if m.Controller == nil || m.Controller.Kind != "ReplicaSet" || m.Controller.APIVersion != "apps/v1" || m.Controller.UID != "r" || m.UID != "u" || m.Namespace == "" {
			t.Errorf("got the metadata %+v with controller %+v", m, m.Controller)
		}
		return m.Controller.Name == "rs-1"
	}
	for _, f := range formatsOfPods {
		list := corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}, ListMeta: metav1.ListMeta{ResourceVersion: "200"}}
		var events []byte
		for n := range 10 {
			pod := ownedPod(n)
			events = append(events, podtest.EncodeEvent(t, f, []string{"ADDED", "MODIFIED", "DELETED"}[n%3], pod)...)
			pod.TypeMeta = metav1.TypeMeta{}
			list.Items = append(list.Items, *pod)
		}
		var got []string
		skipped := 0
		result, err := serveIn[*corev1.Pod](t, f, podtest.Encode(t, f, &list), Options{}).List(t.Context(), ListOptions{Keep: keep, KeepByController: true, Skipped: func() { skipped++ }},
			func(pod *corev1.Pod) error { got = append(got, pod.Name); return nil })
		if err != nil || fmt.Sprint(got) != "[pod-1 pod-6]" || result.Skipped != 8 || skipped != 8 {
			t.Errorf("%v: got %v, %+v, %d calls of Skipped, %v", f, got, result, skipped, err)
		}

		var seen []Event[*corev1.Pod]
		opts := WatchOptions{ResourceVersion: "1", Keep: keep, KeepByController: true}
		take := func(e Event[*corev1.Pod]) error { seen = append(seen, e); return nil }
		src := serveIn[*corev1.Pod](t, f, events, Options{})
		if err := src.Watch(t.Context(), opts, nil, take); err != nil {
			t.Fatal(err)
		}
		if got, want := describeEvents(seen), "MODIFIED pod-1 101; ADDED pod-6 106; BOOKMARK 109"; got != want {
			t.Errorf("%v: got %s, want %s", f, got, want)
		}
	}
}

// TestKeepAmongInitialEvents shows that objects of a watch-list that are not kept don't move the
// version, because initial events are sorted by name.
func TestKeepAmongInitialEvents(t *testing.T) {
	for _, f := range formatsOfPods {
		var events []byte
		for n := range 3 {
			events = append(events, podtest.EncodeEvent(t, f, "ADDED", ownedPod(n))...)
		}
		end := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{
			ResourceVersion: "300", Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"},
		}}
		initial := slices.Clone(events)
		events = append(append(events, podtest.EncodeEvent(t, f, "BOOKMARK", end)...), podtest.EncodeEvent(t, f, "ADDED", ownedPod(201))...)
		for body, want := range map[string]string{
			string(initial): "ADDED pod-1 101",
			string(events):  "ADDED pod-1 101; BOOKMARK 300; BOOKMARK 301",
		} {
			for _, opts := range []WatchOptions{{SendInitialEvents: true}, {}, {ResourceVersion: "0"}} {
				var seen []Event[*corev1.Pod]
				skipped, wantSkipped := 0, 0
				if opts.SendInitialEvents {
					wantSkipped = 2
				}
				opts.Keep, opts.Skipped = func(m object.Meta) bool { return m.Name == "pod-1" }, func() { skipped++ }
				src := serveIn[*corev1.Pod](t, f, []byte(body), Options{})
				err := src.Watch(t.Context(), opts, nil, func(e Event[*corev1.Pod]) error { seen = append(seen, e); return nil })
				if err != nil || describeEvents(seen) != want || skipped != wantSkipped {
					t.Errorf("%v, %+v: got %s, %d calls of Skipped, %v, want %s, %d", f, opts, describeEvents(seen), skipped, err, want, wantSkipped)
				}
			}
		}
	}
}

const (
	anyUID   = "shardRange(object.metadata.uid, '0x0000000000000000', '0x10000000000000000')"
	noPodUID = "shardRange(object.metadata.uid, '0x0000000000000000', '0x0000000000000001')"
)

// TestShardOfRequest shows that a request's own selector is sent and applied, and that the list
// says whether the server has echoed it.
func TestShardOfRequest(t *testing.T) {
	for _, f := range formatsOfPods {
		for _, echo := range []bool{false, true} {
			body := shardedList(t, f, echo)
			asked := ""
			c := newTestClient(t, func(req *http.Request) (*http.Response, error) {
				asked = req.URL.Query().Get("shardSelector")
				return answer(200, string(body), "Content-Type", f.mediaType()), nil
			})
			src := sourceOf[*corev1.Pod](t, c, pods, Options{Formats: []Format{f}})
			for selector, want := range map[string]int{"": 1, anyUID: 1, noPodUID: 0} {
				n := 0
				result, err := src.List(t.Context(), ListOptions{ShardSelector: selector}, func(*corev1.Pod) error { n++; return nil })
				if err != nil || n != want || result.Sharded != echo || result.ResourceVersion != "7" || asked != selector {
					t.Errorf("%v, %q: got %d objects, %+v, %v; the server was asked for %q", f, selector, n, result, err, asked)
				}
				if honored, err := HonorsShards(t.Context(), src, selector); honored != (echo && selector != "") || err != nil {
					t.Errorf("%v, %q: HonorsShards = %v, %v, want %v", f, selector, honored, err, echo)
				}
			}
		}
	}
	src := sourceOf[*corev1.Pod](t, clientOfNothing(t), pods, Options{ShardSelector: anyUID})
	for name, src := range map[string]*HTTP[*corev1.Pod]{"ShardSelector in its Options": src, "shard selector": sourceOf[*corev1.Pod](t, clientOfNothing(t), pods, Options{})} {
		selector := map[bool]string{true: noPodUID, false: "nonsense"}[strings.Contains(name, "Options")]
		_, err := src.List(context.Background(), ListOptions{ShardSelector: selector}, func(*corev1.Pod) error { return nil })
		errWatch := src.Watch(context.Background(), WatchOptions{ShardSelector: selector}, nil, func(Event[*corev1.Pod]) error { return nil })
		_, errAsked := HonorsShards(context.Background(), src, selector)
		for _, err := range []error{err, errWatch, errAsked} {
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("got the error %v, want one about %s", err, name)
			}
		}
	}
}

// TestHonorsShardsWithoutEcho asks servers that don't say whether they apply selectors.
func TestHonorsShardsWithoutEcho(t *testing.T) {
	list, empty := string(shardedList(t, JSON, false)), podtest.List("7")
	for name, test := range map[string]struct {
		sharded, all string // answers to requests with a selector of nothing, and without one
		want         bool
	}{
		"applied": {empty, list, true}, "ignored": {list, list, false}, "an empty collection": {empty, empty, false},
	} {
		src := sourceOf[*corev1.Pod](t, newTestClient(t, func(req *http.Request) (*http.Response, error) {
			switch q := req.URL.Query(); {
			case q.Get("limit") != "1":
				t.Errorf("%s: asked for %s", name, req.URL)
			case q.Get("shardSelector") == "":
				return answer(200, test.all), nil
			case q.Get("shardSelector") != anyUID:
				return answer(200, test.sharded), nil
			}
			return answer(200, test.all), nil
		}), pods, Options{})
		if got, err := HonorsShards(t.Context(), src, anyUID); got != test.want || err != nil {
			t.Errorf("%s: HonorsShards = %v, %v, want %v", name, got, err, test.want)
		}
	}
	for failing := range 3 {
		n := -1
		src := sourceOf[*corev1.Pod](t, newTestClient(t, func(*http.Request) (*http.Response, error) {
			if n++; n == failing {
				return answer(414, ""), nil
			}
			return answer(200, empty), nil
		}), pods, Options{})
		if got, err := HonorsShards(t.Context(), src, anyUID); got || err == nil {
			t.Errorf("request %d fails: HonorsShards = %v, %v, want an error", failing, got, err)
		}
	}
}

func clientOfNothing(t *testing.T) *Client {
	return newTestClient(t, func(*http.Request) (*http.Response, error) {
		t.Error("a request was sent")
		return answer(500, ""), nil
	})
}

// shardedList returns a list of one Pod, as a server writes it that has applied a shard selector.
func shardedList(t *testing.T, f Format, echo bool) []byte {
	pod := ownedPod(1)
	pod.TypeMeta = metav1.TypeMeta{}
	list := corev1.PodList{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}, ListMeta: metav1.ListMeta{ResourceVersion: "7"}, Items: []corev1.Pod{*pod},
	}
	if echo { // older versions of apimachinery have no such field
		if err := json.Unmarshal(fmt.Appendf(nil, `{"metadata":{"shardInfo":{"selector":%q}}}`, anyUID), &list); err != nil {
			t.Fatal(err)
		}
	}
	body := podtest.Encode(t, f, &list)
	if echo && !strings.Contains(string(body), "shardRange") {
		t.Skip("this version of apimachinery has no ListMeta.ShardInfo")
	}
	return body
}
