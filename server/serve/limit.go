// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"hash/maphash"
	"net/http"
	"net/netip"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// quota limits concurrent requests of a kind. The last quarter of the places is for callers holding
// fewer than share, so one caller can't take them all.
type quota struct {
	limit, share int // set once at construction

	used     int
	byCaller map[caller]int // callers holding a place
}

func (q *quota) acquire(c caller) bool {
	if q.used >= q.limit || q.used >= q.limit-q.limit/4 && q.byCaller[c] >= q.share {
		return false
	}
	if q.byCaller == nil {
		q.byCaller = map[caller]int{}
	}
	q.used++
	q.byCaller[c]++
	return true
}

func (q *quota) release(c caller) {
	q.used--
	if q.byCaller[c]--; q.byCaller[c] == 0 {
		delete(q.byCaller, c)
	}
}

// joins are the requests being sent a state: lists, and watches that begin with one.
type joins struct {
	mu sync.Mutex // mu guards what follows
	quota
}

// enter gives a request a place until leave is called, or refuses it.
func (j *joins) enter(req *http.Request) (leave func(), err error) {
	c := callerOf(req)
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.acquire(c) {
		return nil, tooMany("lists and watches begin at once")
	}
	return func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.release(c)
	}, nil
}

// caller is a hash of a caller's identity, so that no watch keeps a token in memory.
type caller uint64

var seed = maphash.MakeSeed()

func callerOf(req *http.Request) caller {
	name := req.Header.Get("Authorization")
	if name == "" {
		name = req.RemoteAddr
		if addr, err := netip.ParseAddrPort(name); err == nil {
			name = addr.Addr().String()
		}
	}
	return caller(maphash.String(seed, name))
}

func tooMany(what string) error {
	return apierrors.NewTooManyRequests("too many "+what+"; try again later", 1)
}
