// SPDX-License-Identifier: Apache-2.0

package faulttest

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

func TestWatchesWithWrongEvents(t *testing.T) {
	// third edits the third event of a stream.
	third := func(edit func(e sourcetest.Event) []sourcetest.Event) func(*rig) {
		return stream(func(n int, e sourcetest.Event) []sourcetest.Event {
			if n == 3 {
				return edit(e)
			}
			return []sourcetest.Event{e}
		})
	}
	one := func(edit func(e *sourcetest.Event)) func(*rig) {
		return third(func(e sourcetest.Event) []sourcetest.Event {
			edit(&e)
			return []sourcetest.Event{e}
		})
	}
	bad := reasons(reason.BadData)
	run(t, []fault{
		{name: "object without a name", whileWatching: one(func(e *sourcetest.Event) { e.Object.(*corev1.Pod).Name = "" }), reasons: bad, requests: 3, check: noRelist},
		{name: "object without a version", whileWatching: one(func(e *sourcetest.Event) { e.Object.(*corev1.Pod).ResourceVersion = "" }), reasons: bad, requests: 3, check: noRelist},
		{name: "object of another kind", whileWatching: one(func(e *sourcetest.Event) {
			e.Object = &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: e.Object.(*corev1.Pod).ObjectMeta}
		}), reasons: bad, requests: 3, check: noRelist},
		{name: "event of unknown type", whileWatching: one(func(e *sourcetest.Event) { e.Type = "RENAMED" }), reasons: bad, requests: 3, check: noRelist},
		{name: "event without a type", whileWatching: one(func(e *sourcetest.Event) { e.Type = "" }), reasons: bad, requests: 3, check: noRelist},
		{name: "event without an object", whileWatching: one(func(e *sourcetest.Event) { e.Object = nil }), reasons: bad, requests: 3, check: noRelist},
		{name: "error that is not a Status", whileWatching: one(func(e *sourcetest.Event) { e.Type = "ERROR" }), reasons: bad, requests: 3, check: noRelist},
		{name: "the same bad event on every watch", whileWatching: func(g *rig) {
			// culprit is the version of the bad event. A list of that version is good, so only a
			// list gets past it.
			var culprit string
			g.inject(sourcetest.Watch, sourcetest.Always, sourcetest.Edit(func(e sourcetest.Event) []sourcetest.Event {
				pod := e.Object.(*corev1.Pod)
				if culprit == "" {
					culprit = pod.ResourceVersion
				}
				if pod.ResourceVersion == culprit {
					pod.Name = ""
				}
				return []sourcetest.Event{e}
			}))
			g.server.EndWatches()
		}, reasons: bad, requests: 5},

		{name: "duplicate events", whileWatching: stream(func(_ int, e sourcetest.Event) []sourcetest.Event {
			return []sourcetest.Event{e, e}
		}), requests: 1},
		{name: "all updates as additions", whileWatching: stream(func(_ int, e sourcetest.Event) []sourcetest.Event {
			if e.Type == "MODIFIED" {
				e.Type = "ADDED"
			}
			return []sourcetest.Event{e}
		}), requests: 1},
		{name: "all additions as updates", whileWatching: stream(func(_ int, e sourcetest.Event) []sourcetest.Event {
			if e.Type == "ADDED" {
				e.Type = "MODIFIED"
			}
			return []sourcetest.Event{e}
		}), requests: 1},
		{name: "delete of an unknown object", whileWatching: third(func(e sourcetest.Event) []sourcetest.Event {
			ghost := e.Object.DeepCopyObject().(*corev1.Pod)
			ghost.Name, ghost.UID = "ghost", "ghost"
			return []sourcetest.Event{{Type: "DELETED", Object: ghost}, e}
		}), requests: 1},

		{name: "version goes back by one event", whileWatching: stream(func(n int, e sourcetest.Event) []sourcetest.Event {
			if n != 4 {
				return []sourcetest.Event{e}
			}
			old := e.Object.DeepCopyObject().(*corev1.Pod)
			version, _ := strconv.Atoi(old.ResourceVersion)
			old.Name, old.ResourceVersion = "p00", strconv.Itoa(version-3)
			return []sourcetest.Event{{Type: "MODIFIED", Object: old}, e}
		}), reasons: reasons(reason.WentBack), requests: 4},
		{name: "bookmark goes back", whileWatching: third(func(e sourcetest.Event) []sourcetest.Event {
			mark := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{ResourceVersion: "5"}}
			return []sourcetest.Event{e, {Type: "BOOKMARK", Object: mark}}
		}), reasons: reasons(reason.WentBack), requests: 4},
		{name: "bookmark at version 0", whileWatching: third(func(e sourcetest.Event) []sourcetest.Event {
			mark := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{ResourceVersion: "0"}}
			return []sourcetest.Event{e, {Type: "BOOKMARK", Object: mark}}
		}), reasons: bad, requests: 3, check: noRelist},
		{name: "object at version 0", whileWatching: one(func(e *sourcetest.Event) { e.Object.(*corev1.Pod).ResourceVersion = "0" }), reasons: bad, requests: 3, check: noRelist},
		{name: "server restored from a backup", restored: true, whileWatching: func(g *rig) {
			// The server's versions stay below those that the informer has seen, so the watch
			// brings nothing.
			version := g.server.ResourceVersion()
			for range 10 {
				g.churn()
			}
			time.Sleep(time.Second)
			g.server.Restore(version)
		}, reasons: reasons(reason.Silent, reason.WentBack), within: 6 * time.Minute, requests: 8},
		{name: "server restored, other content under the same versions, noticed by a watch", restored: true, whileWatching: rewritten(func(g *rig) {
			version := g.server.ResourceVersion()
			g.inject(sourcetest.Watch, 1, sourcetest.Edit(func(e sourcetest.Event) []sourcetest.Event {
				mark := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{ResourceVersion: version}}
				return []sourcetest.Event{{Type: "BOOKMARK", Object: mark}, e}
			}))
		}), reasons: reasons(reason.ServerError, reason.WentBack), requests: 5},
		{name: "server restored, other content under the same versions, noticed by a list", restored: true, listOnly: true, whileWatching: rewritten(func(g *rig) {
			g.inject(sourcetest.Watch, 1, sourcetest.Refuse(410))
		}), reasons: reasons(reason.ServerError, reason.Expired, reason.TooNew), requests: 6},
		{name: "server restored, other content under the same versions, noticed after a 410", restored: true, whileWatching: rewritten(func(g *rig) {
			g.inject(sourcetest.Watch, 1, sourcetest.Refuse(410))
			g.inject(sourcetest.WatchList, 1, sourcetest.Refuse(410))
		}), reasons: reasons(reason.ServerError, reason.Expired, reason.WentBack), requests: 7},
		{name: "server's clock jumps", whileWatching: stream(func(n int, e sourcetest.Event) []sourcetest.Event {
			e.Object.(*corev1.Pod).CreationTimestamp.Time = time.Unix(int64(n%2)*4e9, 0)
			return []sourcetest.Event{e}
		}), requests: 1},
	})
}

// rewritten restores the server to an earlier version, and writes to it again, so Pods have other
// content under the versions that the informer knows. Then the server is one version below the
// informer.
func rewritten(then func(*rig)) func(*rig) {
	return func(g *rig) {
		version := g.server.ResourceVersion()
		write := func() {
			for _, pod := range g.pods.All() {
				g.update(pod.Name)
			}
		}
		write()
		g.update("p00")
		time.Sleep(time.Second)
		away(1)(g)
		g.server.Restore(version)
		g.image = "web:2"
		write()
		then(g)
	}
}

// TestSelectorsDuringFaults has objects enter and leave the selection of an informer during faults.
func TestSelectorsDuringFaults(t *testing.T) {
	run(t, []fault{
		{name: "no fault", selects: true, whileWatching: func(*rig) {}, requests: 0},
		{name: "no fault, by lists", selects: true, listOnly: true, duringSync: func(*rig) {}, requests: 2},
		{name: "while away", selects: true, whileWatching: func(g *rig) {
			away(3)(g)
			g.churn()
		}, reasons: reasons(reason.ServerError), requests: 4, check: noRelist},
		{name: "while away, and the history is compacted", selects: true, whileWatching: func(g *rig) {
			away(3)(g)
			g.churn()
			g.churn()
			g.server.Compact()
		}, reasons: reasons(reason.ServerError, reason.Expired), requests: 6},
		{name: "between two pages", selects: true, paged: true, duringSync: func(g *rig) {
			g.inject(sourcetest.List|sourcetest.Continue, 3, func(*sourcetest.Answer) { g.churn() })
		}, requests: 6},
		{name: "while the watch is cut again and again", selects: true, whileWatching: func(g *rig) {
			g.inject(sourcetest.Watch, 4, func(a *sourcetest.Answer) { a.Cut = 400 })
			g.server.EndWatches()
		}, reasons: reasons(reason.Unreachable), requests: 12},
	})
}

func TestAnswersWithWrongBytes(t *testing.T) {
	bad := reasons(reason.BadData)
	cutOff := reasons(reason.Unreachable)
	list := func(times int, do func(*sourcetest.Answer)) func(*rig) {
		return func(g *rig) { g.inject(sourcetest.List, times, do) }
	}
	// event changes the bytes of the third event of the next stream.
	event := func(change func([]byte) []byte) func(*rig) {
		return func(g *rig) {
			n := 0
			g.inject(sourcetest.Watch, 1, func(a *sourcetest.Answer) {
				a.Wire = func(raw []byte) []byte {
					if n++; n == 3 {
						return change(raw)
					}
					return raw
				}
			})
			g.server.EndWatches()
		}
	}
	garbage := bytes.Repeat([]byte("\xff\x00garbage{"), 100)
	run(t, []fault{
		{name: "truncated list", listOnly: true, duringSync: list(2, func(a *sourcetest.Answer) { a.Cut = -20 }), reasons: cutOff, requests: 4},
		{name: "list cut after a few bytes", listOnly: true, duringSync: list(2, func(a *sourcetest.Answer) { a.Cut = 3 }), reasons: cutOff, requests: 4},
		{name: "empty body of a list", listOnly: true, duringSync: list(2, func(a *sourcetest.Answer) { a.Body = []byte{} }), reasons: cutOff, requests: 4},
		{name: "empty body of a watch-list", duringSync: func(g *rig) {
			g.inject(sourcetest.WatchList, 1, func(a *sourcetest.Answer) { a.Body = []byte{} })
		}, reasons: reasons(reason.NoBookmark), requests: 3},
		{name: "garbage instead of a list", listOnly: true, duringSync: list(2, func(a *sourcetest.Answer) { a.Body = garbage }), reasons: bad, requests: 4},
		{name: "garbage after a list", listOnly: true, duringSync: list(1, func(a *sourcetest.Answer) {
			a.Wire = func(raw []byte) []byte { return append(raw, garbage...) }
		}), reasons: bad, requests: 3},
		{name: "garbage instead of initial events", duringSync: func(g *rig) {
			g.inject(sourcetest.WatchList, 2, func(a *sourcetest.Answer) { a.Body = garbage })
		}, reasons: bad, requests: 3},
		{name: "garbage in a stream", whileWatching: event(func([]byte) []byte { return garbage }), reasons: bad, requests: 3, check: noRelist},
		{name: "truncated event", whileWatching: func(g *rig) {
			g.inject(sourcetest.Watch, 1, func(a *sourcetest.Answer) { a.Cut = 1000 })
			g.server.EndWatches()
		}, reasons: cutOff, requests: 3, check: noRelist},
		{name: "flipped bits in every event", whileWatching: func(g *rig) {
			g.inject(sourcetest.Watch, 2, func(a *sourcetest.Answer) {
				a.Wire = func(raw []byte) []byte {
					for i := range raw {
						raw[i] ^= 0x55
					}
					return raw
				}
			})
			g.server.EndWatches()
		}, reasons: bad, requests: 5},
		{name: "frame of four gigabytes", formats: []string{"protobuf"}, whileWatching: event(func(raw []byte) []byte {
			copy(raw, "\xff\xff\xff\xff")
			return raw
		}), reasons: bad, requests: 3, check: noRelist},
		{name: "frame without a length", formats: []string{"protobuf"}, whileWatching: event(func(raw []byte) []byte { return raw[4:] }), reasons: bad, requests: 3, check: noRelist},
		{name: "frame of no bytes", formats: []string{"protobuf"}, whileWatching: event(func([]byte) []byte { return make([]byte, 4) }), reasons: bad, requests: 3, check: noRelist},
		{name: "envelope without its magic", formats: []string{"protobuf"}, listOnly: true, duringSync: list(2, func(a *sourcetest.Answer) {
			a.Wire = func(raw []byte) []byte { return raw[4:] }
		}), reasons: bad, requests: 4},
		{name: "arrays in arrays", formats: []string{"json"}, whileWatching: event(func([]byte) []byte {
			return []byte(`{"type":"ADDED","object":{"x":` + strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20) + "}}")
		}), reasons: bad, requests: 3, check: noRelist},
		{name: "number without an end", formats: []string{"json"}, listOnly: true, duringSync: list(2, func(a *sourcetest.Answer) {
			a.Body = append([]byte(`{"kind":"PodList","items":[`), bytes.Repeat([]byte{'1'}, 8<<20)...)
		}), reasons: bad, requests: 4},
		{name: "page of HTML", listOnly: true, duringSync: func(g *rig) {
			g.inject(anyVerb, 3, func(a *sourcetest.Answer) {
				a.Body = []byte("<!DOCTYPE html><html><body>Please log in</body></html>")
				a.Header.Set("Content-Type", "text/html; charset=utf-8")
			})
		}, reasons: bad, requests: 5},
		{name: "Content-Type that was not requested", whileWatching: func(g *rig) {
			g.inject(sourcetest.Watch, 2, func(a *sourcetest.Answer) { a.Header.Set("Content-Type", "application/xml") })
			g.server.EndWatches()
		}, reasons: bad, requests: 5},
		{name: "Content-Type of another format", listOnly: true, formats: []string{"protobuf"}, duringSync: list(2, func(a *sourcetest.Answer) {
			a.Header.Set("Content-Type", "application/json")
		}), reasons: bad, requests: 4},
		{name: "no Content-Type", formats: []string{"protobuf"}, listOnly: true, duringSync: list(1, func(a *sourcetest.Answer) { a.Header.Del("Content-Type") }), reasons: bad, requests: 3},
		{name: "server switches to JSON", whileWatching: func(g *rig) {
			g.jsonOnly.Store(true)
			g.server.EndWatches()
		}, requests: 1, check: noRelist},
		{name: "empty object instead of a list", formats: []string{"json"}, listOnly: true, duringSync: list(2, func(a *sourcetest.Answer) { a.Body = []byte("{}") }), reasons: bad, requests: 4},
		{name: "null instead of a list", formats: []string{"json"}, listOnly: true, duringSync: list(2, func(a *sourcetest.Answer) { a.Body = []byte("null") }), reasons: bad, requests: 4},
		{name: "answer with code 201", listOnly: true, duringSync: func(g *rig) {
			g.inject(anyVerb, 1, func(a *sourcetest.Answer) { a.Code = http.StatusCreated })
		}, reasons: reasons(reason.ServerError), requests: 3},
	})
}
