// SPDX-License-Identifier: Apache-2.0

//go:build unix

package sharding

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"time"
)

// audit sees the writes of all reconciles, in the order in which the server gets them.
type audit struct {
	mu      sync.Mutex // mu guards the fields below
	last    map[int]mark
	marks   []mark // the first write of each bucket at each epoch
	writes  int
	unknown int // writes without a claim
	// stop is called once, when a process whose name is the key has sent the first one of a
	// reconcile's writes, before the server answers it.
	stop       map[string]func()
	violations []string
}

// mark is a write.
type mark struct {
	process, member string
	bucket          int
	epoch           uint64
	at              time.Time
}

// claim is what the fence adds to the User-Agent.
var claim = regexp.MustCompile(`^(\S+) \(shard (\S+) (\d+)@(\d+)\)$`)

func newAudit() *audit { return &audit{last: map[int]mark{}, stop: map[string]func(){}} }

// wrap is a devserver's WrapHandler.
func (a *audit) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodPatch {
			body, err := io.ReadAll(req.Body)
			if err != nil {
				return // the request was cut off
			}
			req.Body = io.NopCloser(bytes.NewReader(body))
			a.note(req.UserAgent(), bytes.Contains(body, []byte("first")))
		}
		next.ServeHTTP(w, req)
	})
}

// note checks a write against the last one of its bucket.
func (a *audit) note(agent string, first bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.writes++
	found := claim.FindStringSubmatch(agent)
	if found == nil {
		a.unknown++
		return
	}
	m := mark{process: found[1], member: found[2], at: time.Now()}
	m.bucket, _ = strconv.Atoi(found[3])
	m.epoch, _ = strconv.ParseUint(found[4], 10, 64)
	switch last := a.last[m.bucket]; {
	case m.epoch < last.epoch:
		a.violations = append(a.violations, fmt.Sprintf("%s wrote at epoch %d of bucket %d, %v after %s at epoch %d", m.member, m.epoch, m.bucket, m.at.Sub(last.at), last.member, last.epoch))
		return
	case m.epoch == last.epoch && m.member != last.member:
		a.violations = append(a.violations, fmt.Sprintf("%s and %s both wrote at epoch %d of bucket %d", m.member, last.member, m.epoch, m.bucket))
	case m.epoch > last.epoch:
		a.marks = append(a.marks, m)
	}
	a.last[m.bucket] = m
	if stop := a.stop[m.process]; stop != nil && first {
		delete(a.stop, m.process)
		stop()
	}
}

// stopAt sets a function for the next first write of a process.
func (a *audit) stopAt(process string, stop func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stop[process] = stop
}

// owners returns the last write of each bucket.
func (a *audit) owners() (all [buckets]mark) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for b, m := range a.last {
		all[b] = m
	}
	return all
}

// since returns the times of the first writes at new epochs after a moment, by bucket.
func (a *audit) since(moment time.Time) map[int]time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	times := map[int]time.Duration{}
	for _, m := range a.marks {
		if _, known := times[m.bucket]; !known && m.at.After(moment) {
			times[m.bucket] = m.at.Sub(moment)
		}
	}
	return times
}
