// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// TestLostCoordinatorWorksOn shows that a member which has lost its Lease also stops coordinating
// while its work has not returned.
func TestLostCoordinatorWorksOn(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		end := make(chan struct{})
		a := r.startOver("a", nil, nil, func(context.Context) error { <-end; return nil })
		same(t, after(joinDelay+time.Second, a), "64")
		b := r.start("b", nil)
		same(t, after(leaseTime, a, b), "32 32")
		r.leases.Delete("shop", leaseName("widgets", a.Status().Identity))
		same(t, after(leaseTime+2*retry+elected, a, b), "0 64")
		close(end)
		if err := <-a.ended; !errors.Is(err, ErrLost) {
			t.Error(err)
		}
		_ = b.stop()
	})
}

// TestTermEnds shows that a member which may send nothing any more, as a suspended machine's wall
// clock says, leaves its buckets to others.
func TestTermEnds(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		a, b := r.start("a", nil), r.start("b", nil)
		same(t, after(joinDelay+time.Second, a, b), "32 32")
		a.gate.JumpWallClock(leaseTime)
		if err := <-a.ended; !errors.Is(err, ErrLost) {
			t.Error(err)
		}
		same(t, after(retry+elected, a, b), "0 64")
		_ = b.stop()
	})
}

// TestNothingPassesAfterLoss shows that no request leaves a member that was evicted, even while its
// work has not returned and its last renewal is not old.
func TestNothingPassesAfterLoss(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		end := make(chan struct{})
		a := r.startOver("a", nil, nil, func(context.Context) error { <-end; return nil })
		same(t, after(joinDelay+time.Second, a), "64")
		r.leases.Delete("shop", leaseName("widgets", a.Status().Identity))
		same(t, after(retry+time.Millisecond, a), "0")
		if err := a.lastRun().term.Err(); !errors.Is(err, errTaken) {
			t.Errorf("the term ends with %v, want %v", err, errTaken)
		}
		close(end)
		<-a.ended
	})
}

// TestFirstAnswerIsLost shows that a process takes part although the answer to the creation of its
// Lease did not arrive.
func TestFirstAnswerIsLost(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		var first atomic.Bool
		between := func(next http.RoundTripper) http.RoundTripper {
			return roundTripper(func(req *http.Request) (*http.Response, error) {
				resp, err := next.RoundTrip(req)
				if err == nil && req.Method == http.MethodPost && strings.HasSuffix(req.UserAgent(), "/shard") && first.CompareAndSwap(false, true) {
					_ = resp.Body.Close()
					return nil, syscall.ECONNRESET
				}
				return resp, err
			})
		}
		a := r.startOver("a", between, nil, func(ctx context.Context) error { <-ctx.Done(); return nil })
		same(t, after(joinDelay+elected+retry, a), "64")
		_ = a.stop()
	})
}

// TestAnswersToRenewalsAreLost shows that a member keeps its Lease although the answers to some
// renewals in a row were lost: the less time it has left, the less it waits for an answer.
func TestAnswersToRenewalsAreLost(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		var lose atomic.Int32
		between := func(next http.RoundTripper) http.RoundTripper {
			return roundTripper(func(req *http.Request) (*http.Response, error) {
				if req.Method == http.MethodPut && strings.HasSuffix(req.UserAgent(), "/shard") && lose.Add(-1) >= 0 {
					<-req.Context().Done()
					return nil, context.Cause(req.Context())
				}
				return next.RoundTrip(req)
			})
		}
		a := r.startOver("a", between, func(o *Options) { o.RetryPeriod = 3 * time.Second }, func(ctx context.Context) error { <-ctx.Done(); return nil })
		same(t, after(leaseTime, a), "64")
		lose.Store(4)
		same(t, after(leaseTime, a), "64")
		_ = a.stop()
	})
}
