// SPDX-License-Identifier: Apache-2.0

package faulttest

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// TestListsWithWrongAnswers is about watch-lists too.
func TestListsWithWrongAnswers(t *testing.T) {
	page := func(on sourcetest.Verb, times int, edit func(*sourcetest.Page)) func(*world) {
		return func(w *world) {
			w.inject(on, times, func(a *sourcetest.Answer) {
				if a.Page == nil { // a token of the test's own
					a.Status, a.Page = nil, &sourcetest.Page{APIVersion: "v1", Kind: "PodList", ResourceVersion: "2"}
				}
				edit(a.Page)
			})
		}
	}
	item := func(edit func(*corev1.Pod)) func(*sourcetest.Page) {
		return func(p *sourcetest.Page) { edit(p.Items[min(3, len(p.Items)-1)].(*corev1.Pod)) }
	}
	initial := func(edit func(n int, e sourcetest.Event) []sourcetest.Event) func(*world) {
		return func(w *world) {
			n := 0
			w.inject(sourcetest.WatchList, 1, sourcetest.Edit(func(e sourcetest.Event) []sourcetest.Event {
				n++
				return edit(n, e)
			}))
		}
	}
	mark := func(e sourcetest.Event) bool { return e.Type == "BOOKMARK" }
	const everyPage = sourcetest.List | sourcetest.Continue

	run(t, []fault{
		{name: "empty list", lists: true, empty: true, first: func(*world) {}, requests: 2},
		{name: "empty watch-list", empty: true, first: func(*world) {}, requests: 1},
		{name: "list emptied while away", later: func(w *world) {
			away(1)(w)
			for _, pod := range w.pods.All() {
				w.remove(pod.Name)
			}
			w.server.Compact()
		}, reasons: reasons(reason.ServerError, reason.Expired), requests: 4},

		{name: "0 items with a continue token", paged: true, first: func(w *world) {
			var held []runtime.Object
			w.inject(sourcetest.List, 1, func(a *sourcetest.Answer) { held, a.Page.Items = a.Page.Items, nil })
			w.inject(sourcetest.Continue, 1, func(a *sourcetest.Answer) { a.Page.Items = append(held, a.Page.Items...) })
		}, requests: 5},
		{name: "pages stay empty", paged: true, first: func(w *world) {
			n := 0
			page(everyPage, 22, func(p *sourcetest.Page) {
				n++
				p.Items, p.Continue = nil, fmt.Sprint("token-", n)
			})(w)
		}, reasons: reasons(reason.EndlessList), requests: 40},
		{name: "continue token that repeats", paged: true, first: func(w *world) {
			var token string
			w.inject(sourcetest.List, 1, func(a *sourcetest.Answer) { token = a.Page.Continue })
			w.inject(sourcetest.Continue, 3, func(a *sourcetest.Answer) { a.Page.Continue = token })
		}, reasons: reasons(reason.EndlessList), requests: 12},
		{name: "continue tokens that go round", paged: true, first: func(w *world) {
			n := 0
			page(sourcetest.Continue, 12, func(p *sourcetest.Page) {
				n++
				p.Continue = fmt.Sprint("token-", n%3)
			})(w)
		}, reasons: reasons(reason.EndlessList), requests: 40},
		{name: "items on two pages", paged: true, first: func(w *world) {
			var last runtime.Object
			w.inject(sourcetest.List, 1, func(a *sourcetest.Answer) { last = a.Page.Items[4] })
			w.inject(sourcetest.Continue, 1, func(a *sourcetest.Answer) { a.Page.Items = append([]runtime.Object{last}, a.Page.Items...) })
		}, requests: 5},
		{name: "pages of different versions", paged: true, first: func(w *world) {
			w.inject(sourcetest.Continue, 2, func(a *sourcetest.Answer) { a.Page.ResourceVersion = "1" })
		}, requests: 5},

		{name: "list of another kind", lists: true, first: page(sourcetest.List, 2, func(p *sourcetest.Page) {
			p.Kind, p.Items = "ConfigMapList", []runtime.Object{&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "c", ResourceVersion: "1"}}}
		}), reasons: reasons(reason.BadData), requests: 4},
		{name: "list of another version", lists: true, first: page(sourcetest.List, 1, func(p *sourcetest.Page) { p.APIVersion = "v2" }),
			reasons: reasons(reason.BadData), requests: 3},
		{name: "list without a kind", lists: true, first: page(sourcetest.List, 1, func(p *sourcetest.Page) { p.APIVersion, p.Kind = "", "" }),
			reasons: reasons(reason.BadData), requests: 3},
		{name: "list without a version", lists: true, first: page(sourcetest.List, 2, func(p *sourcetest.Page) { p.ResourceVersion = "" }),
			reasons: reasons(reason.BadData), requests: 4},
		{name: "object without a name in a list", lists: true, first: page(sourcetest.List, 3, item(func(p *corev1.Pod) { p.Name = "" })),
			reasons: reasons(reason.BadData), requests: 5},
		{name: "object without a version in a list", lists: true, first: page(sourcetest.List, 1, item(func(p *corev1.Pod) { p.ResourceVersion = "" })),
			reasons: reasons(reason.BadData), requests: 3},
		{name: "object without a name in a relist", lists: true, later: func(w *world) {
			w.inject(sourcetest.Watch, 1, sourcetest.Refuse(410))
			page(sourcetest.List, 2, item(func(p *corev1.Pod) { p.Name = "" }))(w)
			w.server.EndWatches()
			w.churn()
		}, reasons: reasons(reason.Expired, reason.BadData), requests: 6},
		{name: "answer to a list is a Status with code 200", lists: true, first: func(w *world) {
			w.inject(sourcetest.List, 2, func(a *sourcetest.Answer) { a.Code, a.Status = 200, sourcetest.Status(503) })
		}, reasons: reasons(reason.BadData), requests: 4},
		{name: "Table", lists: true, formats: []string{"json"}, first: func(w *world) {
			w.inject(sourcetest.List, 2, func(a *sourcetest.Answer) {
				a.Body = []byte(`{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7"},"columnDefinitions":[],"rows":[{"cells":["a"]}]}`)
			})
		}, reasons: reasons(reason.BadData), requests: 4},

		{name: "no bookmark ends the initial events", first: initial(func(_ int, e sourcetest.Event) []sourcetest.Event {
			if mark(e) {
				return nil
			}
			return []sourcetest.Event{e}
		}), reasons: reasons(reason.NoBookmark), requests: 3},
		{name: "bookmarks without the annotation", first: initial(func(_ int, e sourcetest.Event) []sourcetest.Event {
			if mark(e) {
				e.Object.(*corev1.Pod).Annotations = nil
			}
			return []sourcetest.Event{e}
		}), reasons: reasons(reason.NoBookmark), requests: 3},
		{name: "bookmark comes early", first: func(w *world) {
			var end []sourcetest.Event
			initial(func(n int, e sourcetest.Event) []sourcetest.Event {
				switch {
				case n == 1:
					early := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}}
					early.ResourceVersion = w.server.ResourceVersion()
					early.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
					end = []sourcetest.Event{e, {Type: "BOOKMARK", Object: early}}
					return end
				case mark(e) && n < 25:
					return nil
				}
				return []sourcetest.Event{e}
			})(w)
		}, reasons: reasons(reason.WentBack), requests: 4},
		{name: "initial bookmark without a version", first: initial(func(_ int, e sourcetest.Event) []sourcetest.Event {
			if mark(e) {
				e.Object.(*corev1.Pod).ResourceVersion = ""
			}
			return []sourcetest.Event{e}
		}), reasons: reasons(reason.BadData), requests: 3},
		{name: "watch-list closed before its bookmark, always", first: func(w *world) {
			w.inject(sourcetest.WatchList, sourcetest.Always, sourcetest.Edit(func(e sourcetest.Event) []sourcetest.Event {
				w.server.EndWatches()
				if mark(e) {
					return nil
				}
				return []sourcetest.Event{e}
			}))
		}, reasons: reasons(reason.NoBookmark), requests: 6},
		{name: "object without a name among initial events", first: initial(func(n int, e sourcetest.Event) []sourcetest.Event {
			if n == 3 {
				e.Object.(*corev1.Pod).Name = ""
			}
			return []sourcetest.Event{e}
		}), reasons: reasons(reason.BadData), requests: 3},
	})
}
