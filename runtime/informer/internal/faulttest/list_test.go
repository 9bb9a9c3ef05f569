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

// TestListsWithWrongAnswers has wrong lists and watch-lists.
func TestListsWithWrongAnswers(t *testing.T) {
	page := func(on sourcetest.Verb, times int, edit func(*sourcetest.Page)) func(*rig) {
		return func(g *rig) {
			g.inject(on, times, func(a *sourcetest.Answer) {
				if a.Page == nil { // the continue token is not the server's
					a.Status, a.Page = nil, &sourcetest.Page{APIVersion: "v1", Kind: "PodList", ResourceVersion: "2"}
				}
				edit(a.Page)
			})
		}
	}
	item := func(edit func(*corev1.Pod)) func(*sourcetest.Page) {
		return func(p *sourcetest.Page) { edit(p.Items[min(3, len(p.Items)-1)].(*corev1.Pod)) }
	}
	initial := func(edit func(n int, e sourcetest.Event) []sourcetest.Event) func(*rig) {
		return func(g *rig) {
			n := 0
			g.inject(sourcetest.WatchList, 1, sourcetest.Edit(func(e sourcetest.Event) []sourcetest.Event {
				n++
				return edit(n, e)
			}))
		}
	}
	mark := func(e sourcetest.Event) bool { return e.Type == "BOOKMARK" }
	const everyPage = sourcetest.List | sourcetest.Continue

	run(t, []fault{
		{name: "empty list", listOnly: true, empty: true, duringSync: func(*rig) {}, requests: 2},
		{name: "empty watch-list", empty: true, duringSync: func(*rig) {}, requests: 1},
		{name: "list emptied while away", whileWatching: func(g *rig) {
			away(1)(g)
			for _, pod := range g.pods.All() {
				g.remove(pod.Name)
			}
			g.server.Compact()
		}, reasons: reasons(reason.ServerError, reason.Expired), requests: 4},

		{name: "0 items with a continue token", paged: true, duringSync: func(g *rig) {
			var held []runtime.Object
			g.inject(sourcetest.List, 1, func(a *sourcetest.Answer) { held, a.Page.Items = a.Page.Items, nil })
			g.inject(sourcetest.Continue, 1, func(a *sourcetest.Answer) { a.Page.Items = append(held, a.Page.Items...) })
		}, requests: 5},
		{name: "empty pages without an end", paged: true, duringSync: func(g *rig) {
			n := 0
			page(everyPage, 22, func(p *sourcetest.Page) {
				n++
				p.Items, p.Continue = nil, fmt.Sprint("token-", n)
			})(g)
		}, reasons: reasons(reason.EndlessList), requests: 40},
		{name: "continue token that repeats", paged: true, duringSync: func(g *rig) {
			var token string
			g.inject(sourcetest.List, 1, func(a *sourcetest.Answer) { token = a.Page.Continue })
			g.inject(sourcetest.Continue, 3, func(a *sourcetest.Answer) { a.Page.Continue = token })
		}, reasons: reasons(reason.EndlessList), requests: 12},
		{name: "continue tokens in a cycle", paged: true, duringSync: func(g *rig) {
			n := 0
			page(sourcetest.Continue, 12, func(p *sourcetest.Page) {
				n++
				p.Continue = fmt.Sprint("token-", n%3)
			})(g)
		}, reasons: reasons(reason.EndlessList), requests: 40},
		{name: "items on two pages", paged: true, duringSync: func(g *rig) {
			var last runtime.Object
			g.inject(sourcetest.List, 1, func(a *sourcetest.Answer) { last = a.Page.Items[4] })
			g.inject(sourcetest.Continue, 1, func(a *sourcetest.Answer) { a.Page.Items = append([]runtime.Object{last}, a.Page.Items...) })
		}, requests: 5},
		{name: "pages of different versions", paged: true, duringSync: func(g *rig) {
			g.inject(sourcetest.Continue, 2, func(a *sourcetest.Answer) { a.Page.ResourceVersion = "1" })
		}, requests: 5},

		{name: "list of another kind", listOnly: true, duringSync: page(sourcetest.List, 2, func(p *sourcetest.Page) {
			p.Kind, p.Items = "ConfigMapList", []runtime.Object{&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "c", ResourceVersion: "1"}}}
		}), reasons: reasons(reason.BadData), requests: 4},
		{name: "list of another version", listOnly: true, duringSync: page(sourcetest.List, 1, func(p *sourcetest.Page) { p.APIVersion = "v2" }),
			reasons: reasons(reason.BadData), requests: 3},
		{name: "list without a kind", listOnly: true, duringSync: page(sourcetest.List, 1, func(p *sourcetest.Page) { p.APIVersion, p.Kind = "", "" }),
			reasons: reasons(reason.BadData), requests: 3},
		{name: "list without a version", listOnly: true, duringSync: page(sourcetest.List, 2, func(p *sourcetest.Page) { p.ResourceVersion = "" }),
			reasons: reasons(reason.BadData), requests: 4},
		{name: "object without a name in a list", listOnly: true, duringSync: page(sourcetest.List, 3, item(func(p *corev1.Pod) { p.Name = "" })),
			reasons: reasons(reason.BadData), requests: 5},
		{name: "object without a version in a list", listOnly: true, duringSync: page(sourcetest.List, 1, item(func(p *corev1.Pod) { p.ResourceVersion = "" })),
			reasons: reasons(reason.BadData), requests: 3},
		{name: "object without a name in a relist", listOnly: true, whileWatching: func(g *rig) {
			g.inject(sourcetest.Watch, 1, sourcetest.Refuse(410))
			page(sourcetest.List, 2, item(func(p *corev1.Pod) { p.Name = "" }))(g)
			g.server.EndWatches()
			g.churn()
		}, reasons: reasons(reason.Expired, reason.BadData), requests: 6},
		{name: "answer to a list is a Status with code 200", listOnly: true, duringSync: func(g *rig) {
			g.inject(sourcetest.List, 2, func(a *sourcetest.Answer) { a.Code, a.Status = 200, sourcetest.Status(503) })
		}, reasons: reasons(reason.BadData), requests: 4},
		{name: "Table", listOnly: true, formats: []string{"json"}, duringSync: func(g *rig) {
			g.inject(sourcetest.List, 2, func(a *sourcetest.Answer) {
				a.Body = []byte(`{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7"},"columnDefinitions":[],"rows":[{"cells":["a"]}]}`)
			})
		}, reasons: reasons(reason.BadData), requests: 4},

		{name: "no bookmark ends the initial events", duringSync: initial(func(_ int, e sourcetest.Event) []sourcetest.Event {
			if mark(e) {
				return nil
			}
			return []sourcetest.Event{e}
		}), reasons: reasons(reason.NoBookmark), requests: 3},
		{name: "bookmarks without the annotation", duringSync: initial(func(_ int, e sourcetest.Event) []sourcetest.Event {
			if mark(e) {
				e.Object.(*corev1.Pod).Annotations = nil
			}
			return []sourcetest.Event{e}
		}), reasons: reasons(reason.NoBookmark), requests: 3},
		{name: "early bookmark", duringSync: func(g *rig) {
			var end []sourcetest.Event
			initial(func(n int, e sourcetest.Event) []sourcetest.Event {
				switch {
				case n == 1:
					early := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}}
					early.ResourceVersion = g.server.ResourceVersion()
					early.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
					end = []sourcetest.Event{e, {Type: "BOOKMARK", Object: early}}
					return end
				case mark(e) && n < 25:
					return nil
				}
				return []sourcetest.Event{e}
			})(g)
		}, reasons: reasons(reason.WentBack), requests: 4},
		{name: "initial bookmark without a version", duringSync: initial(func(_ int, e sourcetest.Event) []sourcetest.Event {
			if mark(e) {
				e.Object.(*corev1.Pod).ResourceVersion = ""
			}
			return []sourcetest.Event{e}
		}), reasons: reasons(reason.BadData), requests: 3},
		{name: "watch-list closed before its bookmark, always", duringSync: func(g *rig) {
			g.inject(sourcetest.WatchList, sourcetest.Always, sourcetest.Edit(func(e sourcetest.Event) []sourcetest.Event {
				g.server.EndWatches()
				if mark(e) {
					return nil
				}
				return []sourcetest.Event{e}
			}))
		}, reasons: reasons(reason.NoBookmark), requests: 6},
		{name: "object without a name among initial events", duringSync: initial(func(n int, e sourcetest.Event) []sourcetest.Event {
			if n == 3 {
				e.Object.(*corev1.Pod).Name = ""
			}
			return []sourcetest.Event{e}
		}), reasons: reasons(reason.BadData), requests: 3},
	})
}
