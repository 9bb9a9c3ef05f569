// SPDX-License-Identifier: Apache-2.0

package shard_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"path"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
)

// mutation is a mistake that TestHistories must find.
type mutation string

const (
	noFence             mutation = "reconciles don't use the fence"
	unconditionalTable  mutation = "the table is written unconditionally"
	unconditionalDeath  mutation = "Leases are taken unconditionally"
	evictedCountAsDead  mutation = "no wait after an eviction"
	renewalsAreReported mutation = "each renewal counts as sent, whether the server got it or not"
)

// TestMutations shows that TestHistories finds mistakes, of which some can be made by changing
// requests: that two members work on a bucket (I1), or one does after its successor (I5). Each is
// found within a few hundred histories.
func TestMutations(t *testing.T) {
	if *histories < 1000 {
		t.Skip("plays histories until it finds each mistake, if -histories is 1000 at least; .ci/run random runs it")
	}
	for _, m := range []mutation{noFence, unconditionalTable, unconditionalDeath, evictedCountAsDead, renewalsAreReported} {
		t.Run(string(m), func(t *testing.T) {
			t.Parallel()
			for n := range *histories {
				if h := play(t, *firstSeed+uint64(n), m); len(h.violations) > 0 {
					t.Logf("found in history %d: %s", n, h.violations[0])
					return
				}
			}
			t.Error("not found")
		})
	}
}

// change returns a transport that makes the mistake in the requests of a process.
func (m mutation) change(p *process, next http.RoundTripper) http.RoundTripper {
	if m == "" || m == noFence {
		return next
	}
	return roundTrip(func(req *http.Request) (*http.Response, error) {
		if !isLease(req) || req.Method != http.MethodPut {
			return next.RoundTrip(req)
		}
		var l coordinationv1.Lease
		if err := json.NewDecoder(req.Body).Decode(&l); err != nil {
			return nil, err
		}
		name := path.Base(req.URL.Path)
		ring := p.history.options.Name
		isMember := strings.HasPrefix(name, ring+"-m-")
		isOwn := isMember && strings.HasPrefix(name, ring+"-m-"+p.name+"-")
		switch {
		case m == unconditionalTable && name == ring+"-table",
			m == unconditionalDeath && isMember && !isOwn:
			l.ResourceVersion = ""
		case m == evictedCountAsDead && isMember && !isOwn:
			for key, value := range l.Annotations {
				if value == "evicted" {
					l.Annotations[key] = "expired"
				}
			}
		}
		body, err := json.Marshal(&l)
		if err != nil {
			return nil, err
		}
		req = req.Clone(req.Context())
		req.ContentLength, req.Body, req.GetBody = int64(len(body)), io.NopCloser(bytes.NewReader(body)), nil
		resp, err := next.RoundTrip(req)
		if m == renewalsAreReported && isOwn && err != nil && req.Context().Err() == nil {
			resp, err = answer(req, http.StatusOK), nil
			resp.Header.Set("Content-Type", "application/json")
			resp.Body = io.NopCloser(bytes.NewReader(body))
		}
		return resp, err
	})
}
