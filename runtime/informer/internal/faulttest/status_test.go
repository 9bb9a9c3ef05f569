// SPDX-License-Identifier: Apache-2.0

package faulttest

import (
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// mostRequests is how many requests 8 minutes have room for if each try sends two of them and all
// waits are as short as Backoff allows: 0.4 s, doubled five times, and then 15 s. Two more come
// before, and two after.
const mostRequests = 2*(1+6+(480-25)/15) + 4

func TestStatusesOtherThan200(t *testing.T) {
	run(t, []fault{
		{name: "401 three times", first: refuse(anyVerb, 3, 401), reasons: reasons(reason.Unauthorized), requests: 4},
		{name: "401 while watching", later: refuseWatch(3, 401), reasons: reasons(reason.Unauthorized), requests: 4, check: noRelist},
		{name: "403 then allowed", first: refuse(anyVerb, 5, 403), reasons: reasons(reason.WatchForbidden, reason.Forbidden), requests: 7},
		{name: "403 for nine minutes", first: func(w *world) {
			time.AfterFunc(9*time.Minute, w.inject(anyVerb, sourcetest.Always, sourcetest.Refuse(403)))
		}, reasons: reasons(reason.WatchForbidden, reason.Forbidden), within: 10 * time.Minute, requests: 45},
		{name: "403 on the list only", lists: true, first: refuse(sourcetest.List, 3, 403), reasons: reasons(reason.Forbidden), requests: 5},
		{name: "403 on the watch only", lists: true, first: refuse(sourcetest.Watch, 3, 403), reasons: reasons(reason.WatchForbidden), requests: 7},
		{name: "403 on watches and watch-lists", first: func(w *world) {
			time.AfterFunc(8*time.Minute, w.inject(sourcetest.Watch|sourcetest.WatchList, sourcetest.Always, sourcetest.Refuse(403)))
			time.AfterFunc(7*time.Minute, func() { // it has synced, and lists show what changes
				status := w.informer.Status()
				version, _ := strconv.Atoi(status.ResourceVersion)
				if !status.Synced || status.Reflector.Reason != reason.WatchForbidden || status.Reflector.Relists < 10 || version < 100 {
					w.t.Errorf("while watches are forbidden: %v, %d relists", status, status.Reflector.Relists)
				}
			})
		}, reasons: reasons(reason.WatchForbidden), within: 10 * time.Minute, requests: mostRequests},
		{name: "403 on watches from some time on", later: func(w *world) {
			time.AfterFunc(8*time.Minute, w.inject(sourcetest.Watch|sourcetest.WatchList, sourcetest.Always, sourcetest.Refuse(403)))
			w.server.EndWatches()
		}, reasons: reasons(reason.WatchForbidden), within: 10 * time.Minute, requests: mostRequests},
		{
			name: "404 then served", unserved: true, first: func(*world) {},
			reasons: reasons(reason.NotFound), requests: 8,
		},
		{name: "404 while watching", later: refuseWatch(3, 404), reasons: reasons(reason.NotFound), requests: 4, check: noRelist},
		{name: "409", first: refuse(anyVerb, 3, 409), reasons: reasons(reason.Refused), requests: 5},
		{name: "422 on watch-lists for ever", first: refuse(sourcetest.WatchList, sourcetest.Always, 422), reasons: reasons(reason.Refused), requests: 3},
		{name: "400 on a watch", later: refuseWatch(1, 400), reasons: reasons(reason.Refused), requests: 3},
		{name: "406", formats: []string{"json"}, first: refuse(anyVerb, 2, 406), reasons: reasons(reason.Refused), requests: 4},
		{name: "500 on the first sync", first: refuse(anyVerb, 5, 500), reasons: reasons(reason.ServerError), requests: 8},
		{name: "500 on a watch is no reason to list", later: refuseWatch(4, 500), reasons: reasons(reason.ServerError), requests: 5, check: noRelist},
		{name: "503", first: refuse(anyVerb, 3, 503), reasons: reasons(reason.ServerError), requests: 5},
		{name: "504", later: refuseWatch(3, 504), reasons: reasons(reason.ServerError), requests: 4, check: noRelist},
		{name: "502 with a page of HTML", first: func(w *world) {
			w.inject(anyVerb, 3, func(a *sourcetest.Answer) {
				a.Code, a.Body = http.StatusBadGateway, []byte("<html>bad gateway</html>")
				a.Header.Set("Content-Type", "text/html")
			})
		}, reasons: reasons(reason.ServerError), requests: 5},
		{name: "403 whose body does not end", first: func(w *world) {
			w.inject(anyVerb, 2, func(a *sourcetest.Answer) {
				a.Status = sourcetest.Status(403)
				a.Cut, a.CutErr = 10, sourcetest.ErrHang
			})
		}, reasons: reasons(reason.WatchForbidden, reason.Forbidden), requests: 4},
		{name: "302 to nowhere", first: func(w *world) {
			w.inject(anyVerb, 2, func(a *sourcetest.Answer) { a.Code, a.Body = http.StatusFound, []byte{} })
		}, reasons: reasons(reason.ServerError), requests: 4},
		{name: "204 without a body", first: func(w *world) {
			w.inject(anyVerb, 2, func(a *sourcetest.Answer) { a.Code, a.Body = http.StatusNoContent, []byte{} })
		}, reasons: reasons(reason.ServerError), requests: 4},
	})
}

// TestThrottlingIsObeyed has a server that answers 429, and shows that Retry-After is obeyed.
func TestThrottlingIsObeyed(t *testing.T) {
	retryAfter := func(code int, header string) func(*sourcetest.Answer) {
		return func(a *sourcetest.Answer) {
			a.Status = sourcetest.Status(code)
			a.Header.Set("Retry-After", header)
		}
	}
	// apart asserts that the second request came that long after the first one, and not much later.
	apart := func(wait time.Duration) func(w *world) {
		return func(w *world) {
			w.t.Helper()
			requests := w.server.Requests()[w.before:]
			if len(requests) < 2 {
				w.t.Errorf("not tried again within %v, want %v", w.within, wait)
				return
			}
			if got := requests[1].Time.Sub(requests[0].Time); got < wait || got > wait+wait/5 {
				w.t.Errorf("tried again after %v, want %v", got, wait)
			}
		}
	}
	run(t, []fault{
		{name: "429 without Retry-After", first: func(w *world) {
			w.inject(anyVerb, 4, func(a *sourcetest.Answer) {
				a.Status = sourcetest.Status(429)
			})
		}, reasons: reasons(reason.Throttled), requests: 5},
		{name: "429 with Retry-After", first: func(w *world) {
			w.inject(anyVerb, 2, retryAfter(429, "7"))
		}, reasons: reasons(reason.Throttled), requests: 3, check: apart(7 * time.Second)},
		{name: "429 with Retry-After on a watch", later: func(w *world) {
			w.inject(sourcetest.Watch, 2, retryAfter(429, "7"))
			w.server.EndWatches()
		}, reasons: reasons(reason.Throttled), requests: 3, check: apart(7 * time.Second)},
		{name: "503 with Retry-After", first: func(w *world) {
			w.inject(anyVerb, 1, retryAfter(503, "20"))
		}, reasons: reasons(reason.Throttled), requests: 2, check: apart(20 * time.Second)},
		{name: "Retry-After of a server whose clock is a day ahead", first: func(w *world) {
			now := time.Now().Add(24 * time.Hour).UTC()
			w.inject(anyVerb, 1, func(a *sourcetest.Answer) {
				a.Header.Set("Date", now.Format(http.TimeFormat))
				retryAfter(429, now.Add(5*time.Second).Format(http.TimeFormat))(a)
			})
		}, reasons: reasons(reason.Throttled), requests: 2, check: apart(5 * time.Second)},
		{name: "Retry-After of a server whose clock is a day behind", first: func(w *world) {
			now := time.Now().Add(-24 * time.Hour).UTC()
			w.inject(anyVerb, 1, func(a *sourcetest.Answer) {
				a.Header.Set("Date", now.Format(http.TimeFormat))
				retryAfter(429, now.Add(5*time.Second).Format(http.TimeFormat))(a)
			})
		}, reasons: reasons(reason.Throttled), requests: 2, check: apart(5 * time.Second)},
		{name: "Retry-After of 68 years", first: func(w *world) {
			w.inject(anyVerb, 1, retryAfter(429, "2147483647"))
		}, reasons: reasons(reason.Throttled), within: 8 * time.Minute, requests: 2, check: apart(5 * time.Minute)},
		{name: "403 with Retry-After", lists: true, first: func(w *world) {
			w.inject(sourcetest.List, 1, retryAfter(403, "7"))
		}, reasons: reasons(reason.Forbidden), requests: 3, check: apart(7 * time.Second)},
	})
}

// TestExpiredVersionsAnywhere has 410 in all places where a server can send it, and similar
// failures.
func TestExpiredVersionsAnywhere(t *testing.T) {
	errorEvent := func(status *metav1.Status) func(w *world) {
		return stream(func(n int, e sourcetest.Event) []sourcetest.Event {
			if n == 3 {
				return []sourcetest.Event{{Type: "ERROR", Object: status}}
			}
			return []sourcetest.Event{e}
		})
	}
	unreadable := sourcetest.Status(500)
	unreadable.Reason = metav1.StatusReasonStoreReadError
	run(t, []fault{
		{name: "410 on a watch-list", first: refuse(sourcetest.WatchList, 1, 410), reasons: reasons(reason.Expired), requests: 3},
		{name: "410 on a list", lists: true, first: refuse(sourcetest.List, 1, 410), reasons: reasons(reason.Expired), requests: 3},
		{name: "410 on a continue token", paged: true, first: func(w *world) {
			w.server.Inject(sourcetest.Fault{On: sourcetest.Continue, Skip: 1, Do: func(*sourcetest.Answer) {}})
			w.inject(sourcetest.Continue, 1, sourcetest.Refuse(410))
		}, reasons: reasons(reason.Expired), requests: 8},
		{name: "history compacted between two pages", paged: true, first: func(w *world) {
			w.inject(sourcetest.List, 1, func(*sourcetest.Answer) {
				w.churn()
				w.server.Compact()
			})
		}, reasons: reasons(reason.Expired), requests: 5},
		{name: "410 on a watch", later: refuseWatch(1, 410), reasons: reasons(reason.Expired), requests: 3},
		{name: "410 inside the stream", later: errorEvent(sourcetest.Status(410)), reasons: reasons(reason.Expired), requests: 4},
		{name: "history compacted while away", later: func(w *world) {
			away(3)(w)
			w.churn()
			w.server.Compact()
		}, reasons: reasons(reason.ServerError, reason.Expired), requests: 6},
		{name: "410 on everything for nine minutes", first: func(w *world) {
			time.AfterFunc(9*time.Minute, w.inject(anyVerb, sourcetest.Always, sourcetest.Refuse(410)))
		}, reasons: reasons(reason.Expired), within: 10 * time.Minute, requests: 90},
		{name: "410 on every watch for nine minutes", later: func(w *world) {
			time.AfterFunc(9*time.Minute, w.inject(sourcetest.Watch, sourcetest.Always, sourcetest.Refuse(410)))
			w.server.EndWatches()
		}, reasons: reasons(reason.Expired), within: 10 * time.Minute, requests: 90},
		{name: "a version that is too new", later: func(w *world) {
			status := sourcetest.Status(504)
			status.Message = "Timeout: Too large resource version: 77, current: 70"
			w.inject(sourcetest.Watch, 1, func(a *sourcetest.Answer) { a.Status = status })
			w.server.EndWatches()
		}, reasons: reasons(reason.TooNew), requests: 3},
		{name: "500 inside the stream", later: errorEvent(sourcetest.Status(500)), reasons: reasons(reason.ServerError), requests: 3, check: noRelist},
		{name: "500 inside every stream at the same version", later: func(w *world) {
			var culprit string
			w.inject(sourcetest.Watch, sourcetest.Always, sourcetest.Edit(func(e sourcetest.Event) []sourcetest.Event {
				version := e.Object.(*corev1.Pod).ResourceVersion
				if culprit == "" {
					culprit = version
				}
				if version == culprit {
					return []sourcetest.Event{{Type: "ERROR", Object: sourcetest.Status(500)}}
				}
				return []sourcetest.Event{e}
			}))
			w.server.EndWatches()
		}, reasons: reasons(reason.ServerError), requests: 5},
		{name: "an object that the server can't read", later: errorEvent(unreadable), reasons: reasons(reason.Unreadable), requests: 4},
	})
}

// --- scripts ---

func reasons(r ...reason.Reason) []reason.Reason { return r }

// anyVerb is the On of a fault that hits every request.
const anyVerb = sourcetest.Verb(0)

func (w *world) inject(on sourcetest.Verb, times int, do func(*sourcetest.Answer)) (end func()) {
	return w.server.Inject(sourcetest.Fault{On: on, Times: times, Do: do})
}

func refuse(on sourcetest.Verb, times, code int) func(*world) {
	return func(w *world) { w.inject(on, times, sourcetest.Refuse(code)) }
}

// refuseWatch ends the watch and refuses the next ones.
func refuseWatch(times, code int) func(*world) {
	return func(w *world) {
		refuse(sourcetest.Watch, times, code)(w)
		w.server.EndWatches()
	}
}

// away ends the watch and refuses the next ones. When it returns, the informer doesn't see changes.
func away(times int) func(*world) {
	return func(w *world) {
		refuseWatch(times, 503)(w)
		synctest.Wait()
	}
}

// stream ends the watch and edits the events of the next one; n counts them from 1.
func stream(edit func(n int, e sourcetest.Event) []sourcetest.Event) func(*world) {
	return func(w *world) {
		n := 0
		w.inject(sourcetest.Watch, 1, sourcetest.Edit(func(e sourcetest.Event) []sourcetest.Event {
			n++
			return edit(n, e)
		}))
		w.server.EndWatches()
	}
}

// noRelist asserts that the informer has sent no requests but watches.
func noRelist(w *world) {
	w.t.Helper()
	for _, r := range w.server.Requests()[w.before:] {
		if r.Verb != sourcetest.Watch {
			w.t.Errorf("%v: %v", r.Time.Sub(w.begun), r)
		}
	}
}
