// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"net/http"
	"testing"

	"github.com/informer-gen/informer-gen/runtime/internal/podtest"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// TestUntypedObjectsOfAnotherKind: without Options.Kind, a source of untyped objects takes the kind
// from the first object or list whose usual plural is the resource. Until then, the objects of one
// response are of one kind.
func TestUntypedObjectsOfAnotherKind(t *testing.T) {
	node := `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n","resourceVersion":"3"}}`
	good, other := podtest.Event("ADDED", podtest.KindPod("a", "1")), podtest.Event("MODIFIED", node)
	for name, tc := range map[string]struct {
		list, watch string
		wrongList   bool
		events      int
		wrongWatch  bool
	}{
		"in a list":                         {list: podtest.List("7", node), wrongList: true, watch: good, events: 1},
		"in a list, whose kind comes later": {list: `{"items":[` + node + `],"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"}}`, wrongList: true, watch: good, events: 1},
		"in a watch after a list":           {list: podtest.List("7", podtest.KindPod("a", "1")), watch: other, wrongWatch: true},
		"in a watch after an empty list":    {list: podtest.List("7"), watch: other, wrongWatch: true},
		"in a watch after Pods":             {list: podtest.List("7"), watch: good + other, events: 1, wrongWatch: true},
		// Thing may be the kind of the resource "pods", with an unusual plural.
		"of an unusual plural": {
			list:  `{"kind":"ThingList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[{"kind":"Thing",` + podtest.Pod("a", "1")[1:] + `]}`,
			watch: podtest.Event("ADDED", `{"apiVersion":"v1","kind":"Thing","metadata":{"name":"n","resourceVersion":"3"}}`), events: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newTestClient(t, func(r *http.Request) (*http.Response, error) {
				body := tc.list
				if r.URL.Query().Get("watch") != "" {
					body = tc.watch
				}
				return answer(200, body, "Content-Type", JSON.mediaType()), nil
			})
			s := sourceOf[object.Object](t, c, pods, Options{NewObject: newUntyped})
			if _, _, err := listAll(s); errors.Is(err, ErrWrongKind) != tc.wrongList || !tc.wrongList && err != nil {
				t.Errorf("list: got %v", err)
			}
			events, err := watchAll(s)
			if errors.Is(err, ErrWrongKind) != tc.wrongWatch || len(events) != tc.events {
				t.Errorf("watch: got %d events and %v", len(events), err)
			}
		})
	}
}
