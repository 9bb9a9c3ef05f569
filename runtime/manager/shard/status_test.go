// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// TestUnownedBucketsAreReported: if nobody gets the buckets of a dead member, as the table can't be
// written, the others name them and that member after twice LeaseDuration.
func TestUnownedBucketsAreReported(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		a, b := r.start("a", nil), r.start("b", nil)
		same(t, after(joinDelay+time.Second, a, b), "32 32")
		end := r.forbidTables()
		dead := a.Status().Identity
		a.cut.Store(true)
		after(leaseTime+retry, b)
		s := b.Status()
		if err := b.Healthy(); err != nil || len(s.Unowned(0)) != 1 || s.Unowned(0)[0].LastOwner != dead || len(s.Unowned(0)[0].Buckets) != 32 {
			t.Errorf("Healthy() = %v, unowned: %v", err, s.Unowned(0))
		}
		after(2*leaseTime, b)
		if err := b.Healthy(); err == nil || !strings.Contains(err.Error(), "ring shop/widgets: nobody has worked on 32 of 64 buckets for longer than 30s: buckets ") ||
			!strings.Contains(err.Error(), "last owned by "+dead+"; the coordinator is "+b.Status().Identity) {
			t.Errorf("Healthy() = %v", err)
		}
		end()
		same(t, after(leaseTime, b), "64")
		if err := errors.Join(b.Healthy(), b.stop()); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if err := b.Healthy(); err != nil {
			t.Errorf("after the end: %v", err)
		}
		<-a.ended
	})
}

// TestNoTable: if no table can be created, all buckets are reported.
func TestNoTable(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		end := r.forbidTables()
		a := r.start("a", nil)
		same(t, after(2*leaseTime, a), "0")
		if err := a.Healthy(); err != nil {
			t.Error(err)
		}
		same(t, after(2*time.Second, a), "0")
		if err := a.Healthy(); err == nil || !strings.Contains(err.Error(), "64 of 64 buckets") {
			t.Errorf("Healthy() = %v", err)
		}
		if since := a.Status().Buckets[0].Since; !since.IsZero() {
			t.Errorf("a bucket that nobody ever had is without an owner since %v", since)
		}
		end()
		same(t, after(2*retry, a), "64")
		if err := errors.Join(a.Healthy(), a.stop()); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// TestLeasesCannotBeListed shows that health is red for a member which can't see the ring, from its
// start or later. It goes on with what it holds: others must take its Lease before they own that.
func TestLeasesCannotBeListed(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		forbid := func() (end func()) {
			defer r.server.EndWatches()
			return r.server.Inject(sourcetest.Fault{On: ^(sourcetest.Write | sourcetest.Get), Times: sourcetest.Always, Do: func(answer *sourcetest.Answer) {
				answer.Status = sourcetest.Status(http.StatusForbidden)
			}})
		}
		end := forbid()
		a := r.start("a", nil)
		for _, want := range []string{"0", "64"} {
			same(t, after(2*leaseTime, a), want)
			if err := a.Healthy(); err != nil {
				t.Error(err)
			}
			same(t, after(leaseTime+time.Second, a), want)
			if err := a.Healthy(); err == nil || !strings.Contains(err.Error(), "64 of 64 buckets for longer than 30s") {
				t.Errorf("Healthy() = %v", err)
			}
			end()
			same(t, after(time.Minute, a), "64")
			if err := a.Healthy(); err != nil {
				t.Error(err)
			}
			end = forbid()
		}
		end()
		_ = a.stop()
	})
}

// forbidTables lets all writes of tables fail.
func (r *rig) forbidTables() (end func()) {
	return r.server.Inject(sourcetest.Fault{Times: sourcetest.Always, Do: func(answer *sourcetest.Answer) {
		switch answer.Request.Method {
		case http.MethodPost, http.MethodPut:
			if bytes.Contains(answer.Request.Body, []byte(tableAnnotation)) {
				answer.Status = sourcetest.Status(http.StatusForbidden)
			}
		}
	}})
}
