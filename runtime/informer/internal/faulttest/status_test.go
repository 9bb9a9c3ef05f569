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

// mostRequests is the largest number of requests in 8 minutes if each attempt sends two and all
// waits are as short as Backoff allows: 0.4 s, doubled five times, and then 15 s. Two more come
// before, and two after.
const mostRequests = 2*(1+6+(480-25)/15) + 4

func TestStatusesOtherThan200(t *testing.T) {
	run(t, []fault{
		{name: "401 three times", duringSync: refuse(anyVerb, 3, 401), reasons: reasons(reason.Unauthorized), requests: 4},
		{name: "401 while watching", whileWatching: refuseWatch(3, 401), reasons: reasons(reason.Unauthorized), requests: 4, check: noRelist},
		{name: "403 then allowed", duringSync: refuse(anyVerb, 5, 403), reasons: reasons(reason.WatchForbidden, reason.Forbidden), requests: 7},
		{name: "403 for nine minutes", duringSync: func(g *rig) {
			time.AfterFunc(9*time.Minute, g.inject(anyVerb, sourcetest.Always, sourcetest.Refuse(403)))
		}, reasons: reasons(reason.WatchForbidden, reason.Forbidden), within: 10 * time.Minute, requests: 45},
		{name: "403 on the list only", listOnly: true, duringSync: refuse(sourcetest.List, 3, 403), reasons: reasons(reason.Forbidden), requests: 5},
		{name: "403 on the watch only", listOnly: true, duringSync: refuse(sourcetest.Watch, 3, 403), reasons: reasons(reason.WatchForbidden), requests: 7},
		{name: "403 on watches and watch-lists", duringSync: func(g *rig) {
			time.AfterFunc(8*time.Minute, g.inject(sourcetest.Watch|sourcetest.WatchList, sourcetest.Always, sourcetest.Refuse(403)))
			time.AfterFunc(7*time.Minute, func() { // it has synced, and relists find changes
				status := g.informer.Status()
				version, _ := strconv.Atoi(status.ResourceVersion)
				if !status.Synced || status.Reflector.Reason != reason.WatchForbidden || status.Reflector.Relists < 10 || version < 100 {
					g.t.Errorf("while watches are forbidden: %v, %d relists; want synced, at least 10", status, status.Reflector.Relists)
				}
			})
		}, reasons: reasons(reason.WatchForbidden), within: 10 * time.Minute, requests: mostRequests},
		{name: "403 on watches from some time on", whileWatching: func(g *rig) {
			time.AfterFunc(8*time.Minute, g.inject(sourcetest.Watch|sourcetest.WatchList, sourcetest.Always, sourcetest.Refuse(403)))
			g.server.EndWatches()
		}, reasons: reasons(reason.WatchForbidden), within: 10 * time.Minute, requests: mostRequests},
		{
			name: "404 then served", unserved: true, duringSync: func(*rig) {},
			reasons: reasons(reason.NotFound), requests: 8,
		},
		{name: "404 while watching", whileWatching: refuseWatch(3, 404), reasons: reasons(reason.NotFound), requests: 4, check: noRelist},
		{name: "409", duringSync: refuse(anyVerb, 3, 409), reasons: reasons(reason.Refused), requests: 5},
		{name: "422 on watch-lists for ever", duringSync: refuse(sourcetest.WatchList, sourcetest.Always, 422), reasons: reasons(reason.Refused), requests: 3},
		{name: "400 on a watch", whileWatching: refuseWatch(1, 400), reasons: reasons(reason.Refused), requests: 3},
		{name: "406", formats: []string{"json"}, duringSync: refuse(anyVerb, 2, 406), reasons: reasons(reason.Refused), requests: 4},
		{name: "500 on the first sync", duringSync: refuse(anyVerb, 5, 500), reasons: reasons(reason.ServerError), requests: 8},
		{name: "500 on a watch is no reason to list", whileWatching: refuseWatch(4, 500), reasons: reasons(reason.ServerError), requests: 5, check: noRelist},
		{name: "503", duringSync: refuse(anyVerb, 3, 503), reasons: reasons(reason.ServerError), requests: 5},
		{name: "504", whileWatching: refuseWatch(3, 504), reasons: reasons(reason.ServerError), requests: 4, check: noRelist},
		{name: "502 with a page of HTML", duringSync: func(g *rig) {
			g.inject(anyVerb, 3, func(a *sourcetest.Answer) {
				a.Code, a.Body = http.StatusBadGateway, []byte("<html>bad gateway</html>")
				a.Header.Set("Content-Type", "text/html")
			})
		}, reasons: reasons(reason.ServerError), requests: 5},
		{name: "403 whose body does not end", duringSync: func(g *rig) {
			g.inject(anyVerb, 2, func(a *sourcetest.Answer) {
				a.Status = sourcetest.Status(403)
				a.Cut, a.CutErr = 10, sourcetest.ErrHang
			})
		}, reasons: reasons(reason.WatchForbidden, reason.Forbidden), requests: 4},
		{name: "302 to nowhere", duringSync: func(g *rig) {
			g.inject(anyVerb, 2, func(a *sourcetest.Answer) { a.Code, a.Body = http.StatusFound, []byte{} })
		}, reasons: reasons(reason.ServerError), requests: 4},
		{name: "204 without a body", duringSync: func(g *rig) {
			g.inject(anyVerb, 2, func(a *sourcetest.Answer) { a.Code, a.Body = http.StatusNoContent, []byte{} })
		}, reasons: reasons(reason.ServerError), requests: 4},
	})
}

// TestThrottlingIsObeyed shows that the informer obeys Retry-After.
func TestThrottlingIsObeyed(t *testing.T) {
	retryAfter := func(code int, header string) func(*sourcetest.Answer) {
		return func(a *sourcetest.Answer) {
			a.Status = sourcetest.Status(code)
			a.Header.Set("Retry-After", header)
		}
	}
	// apart asserts the time between the first two requests, up to a fifth more.
	apart := func(wait time.Duration) func(g *rig) {
		return func(g *rig) {
			g.t.Helper()
			requests := g.server.Requests()[g.before:]
			if len(requests) < 2 {
				g.t.Errorf("no second request within %v, want one after %v", g.within, wait)
				return
			}
			if got := requests[1].Time.Sub(requests[0].Time); got < wait || got > wait+wait/5 {
				g.t.Errorf("the second request came after %v, want %v", got, wait)
			}
		}
	}
	run(t, []fault{
		{name: "429 without Retry-After", duringSync: func(g *rig) {
			g.inject(anyVerb, 4, func(a *sourcetest.Answer) {
				a.Status = sourcetest.Status(429)
			})
		}, reasons: reasons(reason.Throttled), requests: 5},
		{name: "429 with Retry-After", duringSync: func(g *rig) {
			g.inject(anyVerb, 2, retryAfter(429, "7"))
		}, reasons: reasons(reason.Throttled), requests: 3, check: apart(7 * time.Second)},
		{name: "429 with Retry-After on a watch", whileWatching: func(g *rig) {
			g.inject(sourcetest.Watch, 2, retryAfter(429, "7"))
			g.server.EndWatches()
		}, reasons: reasons(reason.Throttled), requests: 3, check: apart(7 * time.Second)},
		{name: "503 with Retry-After", duringSync: func(g *rig) {
			g.inject(anyVerb, 1, retryAfter(503, "20"))
		}, reasons: reasons(reason.Throttled), requests: 2, check: apart(20 * time.Second)},
		{name: "Retry-After of a server whose clock is a day ahead", duringSync: func(g *rig) {
			now := time.Now().Add(24 * time.Hour).UTC()
			g.inject(anyVerb, 1, func(a *sourcetest.Answer) {
				a.Header.Set("Date", now.Format(http.TimeFormat))
				retryAfter(429, now.Add(5*time.Second).Format(http.TimeFormat))(a)
			})
		}, reasons: reasons(reason.Throttled), requests: 2, check: apart(5 * time.Second)},
		{name: "Retry-After of a server whose clock is a day behind", duringSync: func(g *rig) {
			now := time.Now().Add(-24 * time.Hour).UTC()
			g.inject(anyVerb, 1, func(a *sourcetest.Answer) {
				a.Header.Set("Date", now.Format(http.TimeFormat))
				retryAfter(429, now.Add(5*time.Second).Format(http.TimeFormat))(a)
			})
		}, reasons: reasons(reason.Throttled), requests: 2, check: apart(5 * time.Second)},
		{name: "Retry-After of 68 years", duringSync: func(g *rig) {
			g.inject(anyVerb, 1, retryAfter(429, "2147483647"))
		}, reasons: reasons(reason.Throttled), within: 8 * time.Minute, requests: 2, check: apart(5 * time.Minute)},
		{name: "403 with Retry-After", listOnly: true, duringSync: func(g *rig) {
			g.inject(sourcetest.List, 1, retryAfter(403, "7"))
		}, reasons: reasons(reason.Forbidden), requests: 3, check: apart(7 * time.Second)},
	})
}

// TestExpiredVersionsAnywhere has the server answer 410 wherever it can, and similar failures.
func TestExpiredVersionsAnywhere(t *testing.T) {
	errorEvent := func(status *metav1.Status) func(g *rig) {
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
		{name: "410 on a watch-list", duringSync: refuse(sourcetest.WatchList, 1, 410), reasons: reasons(reason.Expired), requests: 3},
		{name: "410 on a list", listOnly: true, duringSync: refuse(sourcetest.List, 1, 410), reasons: reasons(reason.Expired), requests: 3},
		{name: "410 on a continue token", paged: true, duringSync: func(g *rig) {
			g.server.Inject(sourcetest.Fault{On: sourcetest.Continue, Skip: 1, Do: func(*sourcetest.Answer) {}})
			g.inject(sourcetest.Continue, 1, sourcetest.Refuse(410))
		}, reasons: reasons(reason.Expired), requests: 8},
		{name: "history compacted between two pages", paged: true, duringSync: func(g *rig) {
			g.inject(sourcetest.List, 1, func(*sourcetest.Answer) {
				g.churn()
				g.server.Compact()
			})
		}, reasons: reasons(reason.Expired), requests: 5},
		{name: "410 on a watch", whileWatching: refuseWatch(1, 410), reasons: reasons(reason.Expired), requests: 3},
		{name: "410 inside the stream", whileWatching: errorEvent(sourcetest.Status(410)), reasons: reasons(reason.Expired), requests: 4},
		{name: "history compacted while away", whileWatching: func(g *rig) {
			away(3)(g)
			g.churn()
			g.server.Compact()
		}, reasons: reasons(reason.ServerError, reason.Expired), requests: 6},
		{name: "410 on everything for nine minutes", duringSync: func(g *rig) {
			time.AfterFunc(9*time.Minute, g.inject(anyVerb, sourcetest.Always, sourcetest.Refuse(410)))
		}, reasons: reasons(reason.Expired), within: 10 * time.Minute, requests: 90},
		{name: "410 on every watch for nine minutes", whileWatching: func(g *rig) {
			time.AfterFunc(9*time.Minute, g.inject(sourcetest.Watch, sourcetest.Always, sourcetest.Refuse(410)))
			g.server.EndWatches()
		}, reasons: reasons(reason.Expired), within: 10 * time.Minute, requests: 90},
		{name: "version that is too new", whileWatching: func(g *rig) {
			status := sourcetest.Status(504)
			status.Message = "Timeout: Too large resource version: 77, current: 70"
			g.inject(sourcetest.Watch, 1, func(a *sourcetest.Answer) { a.Status = status })
			g.server.EndWatches()
		}, reasons: reasons(reason.TooNew), requests: 3},
		{name: "500 inside the stream", whileWatching: errorEvent(sourcetest.Status(500)), reasons: reasons(reason.ServerError), requests: 3, check: noRelist},
		{name: "500 inside every stream at the same version", whileWatching: func(g *rig) {
			var culprit string
			g.inject(sourcetest.Watch, sourcetest.Always, sourcetest.Edit(func(e sourcetest.Event) []sourcetest.Event {
				version := e.Object.(*corev1.Pod).ResourceVersion
				if culprit == "" {
					culprit = version
				}
				if version == culprit {
					return []sourcetest.Event{{Type: "ERROR", Object: sourcetest.Status(500)}}
				}
				return []sourcetest.Event{e}
			}))
			g.server.EndWatches()
		}, reasons: reasons(reason.ServerError), requests: 5},
		{name: "object that the server can't read", whileWatching: errorEvent(unreadable), reasons: reasons(reason.Unreadable), requests: 4},
	})
}

// Scripts of faults:

func reasons(r ...reason.Reason) []reason.Reason { return r }

// anyVerb is the On of a fault of every request.
const anyVerb = sourcetest.Verb(0)

func (g *rig) inject(on sourcetest.Verb, times int, do func(*sourcetest.Answer)) (end func()) {
	return g.server.Inject(sourcetest.Fault{On: on, Times: times, Do: do})
}

func refuse(on sourcetest.Verb, times, code int) func(*rig) {
	return func(g *rig) { g.inject(on, times, sourcetest.Refuse(code)) }
}

// refuseWatch ends the watch and refuses the next ones.
func refuseWatch(times, code int) func(*rig) {
	return func(g *rig) {
		refuse(sourcetest.Watch, times, code)(g)
		g.server.EndWatches()
	}
}

// away ends the watch and refuses the next ones. When it returns, the informer misses changes.
func away(times int) func(*rig) {
	return func(g *rig) {
		refuseWatch(times, 503)(g)
		synctest.Wait()
	}
}

// stream ends the watch and edits the events of the next one; n counts them from 1.
func stream(edit func(n int, e sourcetest.Event) []sourcetest.Event) func(*rig) {
	return func(g *rig) {
		n := 0
		g.inject(sourcetest.Watch, 1, sourcetest.Edit(func(e sourcetest.Event) []sourcetest.Event {
			n++
			return edit(n, e)
		}))
		g.server.EndWatches()
	}
}

// noRelist asserts that the informer has sent only watch requests.
func noRelist(g *rig) {
	g.t.Helper()
	for _, r := range g.server.Requests()[g.before:] {
		if r.Verb != sourcetest.Watch {
			g.t.Errorf("request after %v: %v, want watches only", r.Time.Sub(g.begun), r)
		}
	}
}
