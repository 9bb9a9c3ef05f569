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
	third := func(edit func(e sourcetest.Event) []sourcetest.Event) func(*world) {
		return stream(func(n int, e sourcetest.Event) []sourcetest.Event {
			if n == 3 {
				return edit(e)
			}
			return []sourcetest.Event{e}
		})
	}
	one := func(edit func(e *sourcetest.Event)) func(*world) {
		return third(func(e sourcetest.Event) []sourcetest.Event {
			edit(&e)
			return []sourcetest.Event{e}
		})
	}
	bad := reasons(reason.BadData)
	run(t, []fault{
		{name: "object without a name", later: one(func(e *sourcetest.Event) { e.Object.(*corev1.Pod).Name = "" }), reasons: bad, requests: 3, check: noRelist},
		{name: "object without a version", later: one(func(e *sourcetest.Event) { e.Object.(*corev1.Pod).ResourceVersion = "" }), reasons: bad, requests: 3, check: noRelist},
		{name: "object of another kind", later: one(func(e *sourcetest.Event) {
			e.Object = &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: e.Object.(*corev1.Pod).ObjectMeta}
		}), reasons: bad, requests: 3, check: noRelist},
		{name: "event of unknown type", later: one(func(e *sourcetest.Event) { e.Type = "RENAMED" }), reasons: bad, requests: 3, check: noRelist},
		{name: "event without a type", later: one(func(e *sourcetest.Event) { e.Type = "" }), reasons: bad, requests: 3, check: noRelist},
		{name: "event without an object", later: one(func(e *sourcetest.Event) { e.Object = nil }), reasons: bad, requests: 3, check: noRelist},
		{name: "error that is not a Status", later: one(func(e *sourcetest.Event) { e.Type = "ERROR" }), reasons: bad, requests: 3, check: noRelist},
		{name: "the same bad event on every watch", later: func(w *world) {
			// culprit is bad at one version, of which other objects are good, so only a list gets
			// past it.
			var culprit string
			w.inject(sourcetest.Watch, sourcetest.Always, sourcetest.Edit(func(e sourcetest.Event) []sourcetest.Event {
				pod := e.Object.(*corev1.Pod)
				if culprit == "" {
					culprit = pod.ResourceVersion
				}
				if pod.ResourceVersion == culprit {
					pod.Name = ""
				}
				return []sourcetest.Event{e}
			}))
			w.server.EndWatches()
		}, reasons: bad, requests: 5},

		{name: "duplicate events", later: stream(func(_ int, e sourcetest.Event) []sourcetest.Event {
			return []sourcetest.Event{e, e}
		}), requests: 1},
		{name: "everything added again", later: stream(func(_ int, e sourcetest.Event) []sourcetest.Event {
			if e.Type == "MODIFIED" {
				e.Type = "ADDED"
			}
			return []sourcetest.Event{e}
		}), requests: 1},
		{name: "modified before added", later: stream(func(_ int, e sourcetest.Event) []sourcetest.Event {
			if e.Type == "ADDED" {
				e.Type = "MODIFIED"
			}
			return []sourcetest.Event{e}
		}), requests: 1},
		{name: "delete of an object that never was", later: third(func(e sourcetest.Event) []sourcetest.Event {
			ghost := e.Object.DeepCopyObject().(*corev1.Pod)
			ghost.Name, ghost.UID = "ghost", "ghost"
			return []sourcetest.Event{{Type: "DELETED", Object: ghost}, e}
		}), requests: 1},

		{name: "version goes back by one event", later: stream(func(n int, e sourcetest.Event) []sourcetest.Event {
			if n != 4 {
				return []sourcetest.Event{e}
			}
			old := e.Object.DeepCopyObject().(*corev1.Pod)
			version, _ := strconv.Atoi(old.ResourceVersion)
			old.Name, old.ResourceVersion = "p00", strconv.Itoa(version-3)
			return []sourcetest.Event{{Type: "MODIFIED", Object: old}, e}
		}), reasons: reasons(reason.WentBack), requests: 4},
		{name: "bookmark goes back", later: third(func(e sourcetest.Event) []sourcetest.Event {
			mark := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{ResourceVersion: "5"}}
			return []sourcetest.Event{e, {Type: "BOOKMARK", Object: mark}}
		}), reasons: reasons(reason.WentBack), requests: 4},
		{name: "bookmark at version 0", later: third(func(e sourcetest.Event) []sourcetest.Event {
			mark := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{ResourceVersion: "0"}}
			return []sourcetest.Event{e, {Type: "BOOKMARK", Object: mark}}
		}), reasons: bad, requests: 3, check: noRelist},
		{name: "object at version 0", later: one(func(e *sourcetest.Event) { e.Object.(*corev1.Pod).ResourceVersion = "0" }), reasons: bad, requests: 3, check: noRelist},
		{name: "server restored from a backup", back: true, later: func(w *world) {
			// The server's versions stay below those that the informer has seen, so the watch
			// brings nothing.
			version := w.server.ResourceVersion()
			for range 10 {
				w.churn()
			}
			time.Sleep(time.Second)
			w.server.Restore(version)
		}, reasons: reasons(reason.Silent, reason.WentBack), within: 6 * time.Minute, requests: 8},
		{name: "server restored, other content under the same versions, noticed by a watch", back: true, later: rewritten(func(w *world) {
			version := w.server.ResourceVersion()
			w.inject(sourcetest.Watch, 1, sourcetest.Edit(func(e sourcetest.Event) []sourcetest.Event {
				mark := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{ResourceVersion: version}}
				return []sourcetest.Event{{Type: "BOOKMARK", Object: mark}, e}
			}))
		}), reasons: reasons(reason.ServerError, reason.WentBack), requests: 5},
		{name: "server restored, other content under the same versions, noticed by a list", back: true, lists: true, later: rewritten(func(w *world) {
			w.inject(sourcetest.Watch, 1, sourcetest.Refuse(410))
		}), reasons: reasons(reason.ServerError, reason.Expired, reason.TooNew), requests: 6},
		{name: "server restored, other content under the same versions, noticed after a 410", back: true, later: rewritten(func(w *world) {
			w.inject(sourcetest.Watch, 1, sourcetest.Refuse(410))
			w.inject(sourcetest.WatchList, 1, sourcetest.Refuse(410))
		}), reasons: reasons(reason.ServerError, reason.Expired, reason.WentBack), requests: 7},
		{name: "server's clock jumps", later: stream(func(n int, e sourcetest.Event) []sourcetest.Event {
			e.Object.(*corev1.Pod).CreationTimestamp.Time = time.Unix(int64(n%2)*4e9, 0)
			return []sourcetest.Event{e}
		}), requests: 1},
	})
}

// rewritten restores the server to an earlier version, and writes to it again: under the versions
// that the informer knows, Pods have other content. Then the server is one version below the
// informer.
func rewritten(then func(*world)) func(*world) {
	return func(w *world) {
		version := w.server.ResourceVersion()
		write := func() {
			for _, pod := range w.pods.All() {
				w.update(pod.Name)
			}
		}
		write()
		w.update("p00")
		time.Sleep(time.Second)
		away(1)(w)
		w.server.Restore(version)
		w.image = "web:2"
		write()
		then(w)
	}
}

// TestSelectionsWhileSomethingFails has objects enter and leave the selection of an informer while
// something goes wrong.
func TestSelectionsWhileSomethingFails(t *testing.T) {
	run(t, []fault{
		{name: "nothing else", selects: true, later: func(*world) {}, requests: 0},
		{name: "nothing else, by lists", selects: true, lists: true, first: func(*world) {}, requests: 2},
		{name: "while away", selects: true, later: func(w *world) {
			away(3)(w)
			w.churn()
		}, reasons: reasons(reason.ServerError), requests: 4, check: noRelist},
		{name: "while away, and the history is compacted", selects: true, later: func(w *world) {
			away(3)(w)
			w.churn()
			w.churn()
			w.server.Compact()
		}, reasons: reasons(reason.ServerError, reason.Expired), requests: 6},
		{name: "between two pages", selects: true, paged: true, first: func(w *world) {
			w.inject(sourcetest.List|sourcetest.Continue, 3, func(*sourcetest.Answer) { w.churn() })
		}, requests: 6},
		{name: "while the watch is cut again and again", selects: true, later: func(w *world) {
			w.inject(sourcetest.Watch, 4, func(a *sourcetest.Answer) { a.Cut = 400 })
			w.server.EndWatches()
		}, reasons: reasons(reason.Unreachable), requests: 12},
	})
}

func TestAnswersWithWrongBytes(t *testing.T) {
	bad := reasons(reason.BadData)
	cutOff := reasons(reason.Unreachable)
	list := func(times int, do func(*sourcetest.Answer)) func(*world) {
		return func(w *world) { w.inject(sourcetest.List, times, do) }
	}
	// event changes the bytes of the third event of the next stream.
	event := func(change func([]byte) []byte) func(*world) {
		return func(w *world) {
			n := 0
			w.inject(sourcetest.Watch, 1, func(a *sourcetest.Answer) {
				a.Wire = func(raw []byte) []byte {
					if n++; n == 3 {
						return change(raw)
					}
					return raw
				}
			})
			w.server.EndWatches()
		}
	}
	garbage := bytes.Repeat([]byte("\xff\x00garbage{"), 100)
	run(t, []fault{
		{name: "truncated list", lists: true, first: list(2, func(a *sourcetest.Answer) { a.Cut = -20 }), reasons: cutOff, requests: 4},
		{name: "list cut after a few bytes", lists: true, first: list(2, func(a *sourcetest.Answer) { a.Cut = 3 }), reasons: cutOff, requests: 4},
		{name: "empty body of a list", lists: true, first: list(2, func(a *sourcetest.Answer) { a.Body = []byte{} }), reasons: cutOff, requests: 4},
		{name: "empty body of a watch-list", first: func(w *world) {
			w.inject(sourcetest.WatchList, 1, func(a *sourcetest.Answer) { a.Body = []byte{} })
		}, reasons: reasons(reason.NoBookmark), requests: 3},
		{name: "garbage in the place of a list", lists: true, first: list(2, func(a *sourcetest.Answer) { a.Body = garbage }), reasons: bad, requests: 4},
		{name: "garbage behind a list", lists: true, first: list(1, func(a *sourcetest.Answer) {
			a.Wire = func(raw []byte) []byte { return append(raw, garbage...) }
		}), reasons: bad, requests: 3},
		{name: "garbage in the place of initial events", first: func(w *world) {
			w.inject(sourcetest.WatchList, 2, func(a *sourcetest.Answer) { a.Body = garbage })
		}, reasons: bad, requests: 3},
		{name: "garbage in a stream", later: event(func([]byte) []byte { return garbage }), reasons: bad, requests: 3, check: noRelist},
		{name: "truncated event", later: func(w *world) {
			w.inject(sourcetest.Watch, 1, func(a *sourcetest.Answer) { a.Cut = 1000 })
			w.server.EndWatches()
		}, reasons: cutOff, requests: 3, check: noRelist},
		{name: "flipped bits in every event", later: func(w *world) {
			w.inject(sourcetest.Watch, 2, func(a *sourcetest.Answer) {
				a.Wire = func(raw []byte) []byte {
					for i := range raw {
						raw[i] ^= 0x55
					}
					return raw
				}
			})
			w.server.EndWatches()
		}, reasons: bad, requests: 5},
		{name: "frame of four gigabytes", formats: []string{"protobuf"}, later: event(func(raw []byte) []byte {
			copy(raw, "\xff\xff\xff\xff")
			return raw
		}), reasons: bad, requests: 3, check: noRelist},
		{name: "frame without a length", formats: []string{"protobuf"}, later: event(func(raw []byte) []byte { return raw[4:] }), reasons: bad, requests: 3, check: noRelist},
		{name: "frame of no bytes", formats: []string{"protobuf"}, later: event(func([]byte) []byte { return make([]byte, 4) }), reasons: bad, requests: 3, check: noRelist},
		{name: "envelope without its magic", formats: []string{"protobuf"}, lists: true, first: list(2, func(a *sourcetest.Answer) {
			a.Wire = func(raw []byte) []byte { return raw[4:] }
		}), reasons: bad, requests: 4},
		{name: "arrays in arrays", formats: []string{"json"}, later: event(func([]byte) []byte {
			return []byte(`{"type":"ADDED","object":{"x":` + strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20) + "}}")
		}), reasons: bad, requests: 3, check: noRelist},
		{name: "number without an end", formats: []string{"json"}, lists: true, first: list(2, func(a *sourcetest.Answer) {
			a.Body = append([]byte(`{"kind":"PodList","items":[`), bytes.Repeat([]byte{'1'}, 8<<20)...)
		}), reasons: bad, requests: 4},
		{name: "page of HTML", lists: true, first: func(w *world) {
			w.inject(anyVerb, 3, func(a *sourcetest.Answer) {
				a.Body = []byte("<!DOCTYPE html><html><body>Please log in</body></html>")
				a.Header.Set("Content-Type", "text/html; charset=utf-8")
			})
		}, reasons: bad, requests: 5},
		{name: "Content-Type that was not asked for", later: func(w *world) {
			w.inject(sourcetest.Watch, 2, func(a *sourcetest.Answer) { a.Header.Set("Content-Type", "application/xml") })
			w.server.EndWatches()
		}, reasons: bad, requests: 5},
		{name: "Content-Type of another format", lists: true, formats: []string{"protobuf"}, first: list(2, func(a *sourcetest.Answer) {
			a.Header.Set("Content-Type", "application/json")
		}), reasons: bad, requests: 4},
		{name: "no Content-Type", formats: []string{"protobuf"}, lists: true, first: list(1, func(a *sourcetest.Answer) { a.Header.Del("Content-Type") }), reasons: bad, requests: 3},
		{name: "server goes over to JSON", later: func(w *world) {
			w.jsonOnly.Store(true)
			w.server.EndWatches()
		}, requests: 1, check: noRelist},
		{name: "empty object in the place of a list", formats: []string{"json"}, lists: true, first: list(2, func(a *sourcetest.Answer) { a.Body = []byte("{}") }), reasons: bad, requests: 4},
		{name: "null in the place of a list", formats: []string{"json"}, lists: true, first: list(2, func(a *sourcetest.Answer) { a.Body = []byte("null") }), reasons: bad, requests: 4},
		{name: "answer with code 201", lists: true, first: func(w *world) {
			w.inject(anyVerb, 1, func(a *sourcetest.Answer) { a.Code = http.StatusCreated })
		}, reasons: reasons(reason.ServerError), requests: 3},
	})
}
