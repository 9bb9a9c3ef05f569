// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"net/http"
	"net/netip"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// joins counts the requests that are being sent a state: lists, and watches that begin with one.
// The last quarter of the places is for callers that have none, so one caller can't take them all.
type joins struct {
	most int // set once at construction

	mu  sync.Mutex // mu guards what follows
	now int
	by  map[string]int // of callers that have a place
}

// enter gives a request a place until it calls leave, or returns its refusal.
func (j *joins) enter(req *http.Request) (leave func(), err error) {
	caller := callerOf(req)
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.now >= j.most || j.now >= j.most-j.most/4 && j.by[caller] > 0 {
		return nil, tooMany("lists and watches begin at once")
	}
	if j.by == nil {
		j.by = map[string]int{}
	}
	j.now++
	j.by[caller]++
	return func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.now--
		if j.by[caller]--; j.by[caller] == 0 {
			delete(j.by, caller)
		}
	}, nil
}

// callerOf returns whose request it is: by its credentials, or else by its address.
func callerOf(req *http.Request) string {
	if credentials := req.Header.Get("Authorization"); credentials != "" {
		return credentials
	}
	if addr, err := netip.ParseAddrPort(req.RemoteAddr); err == nil {
		return addr.Addr().String()
	}
	return req.RemoteAddr
}

func tooMany(what string) error {
	return apierrors.NewTooManyRequests("too many "+what+"; try again later", 1)
}
