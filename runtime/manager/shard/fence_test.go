// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/internal/partition"
	requests "github.com/informer-gen/informer-gen/runtime/manager/internal/fence"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// TestFence moves a ring's gate as Run does.
func TestFence(t *testing.T) {
	r, err := New(&rest.Config{}, Options{Name: "widgets"})
	if err != nil {
		t.Fatal(err)
	}
	var agent string
	client, err := rest.HTTPClientFor(r.Fence(&rest.Config{UserAgent: "widgets/v1", Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
		agent = req.UserAgent()
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	})}))
	if err != nil {
		t.Fatal(err)
	}
	put := func(claim *partition.Claim) string {
		t.Helper()
		ctx := t.Context()
		if claim != nil {
			ctx = context.WithValue(ctx, partition.ClaimKey{}, claim)
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPut, "http://api.test/api/v1/namespaces/shop/pods/blue", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Do(req)
		if err == nil {
			return agent + resp.Status
		}
		if !errors.Is(err, ErrNotOwned) {
			t.Errorf("%v does not wrap ErrNotOwned", err)
		}
		_, text, _ := strings.Cut(err.Error(), "pods/blue")
		_, text, _ = strings.Cut(text, "pods/blue")
		return text
	}
	same := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	claim := &partition.Claim{Hub: r.Hub(), Bucket: 17, Epoch: 5}
	same(put(nil), " was not sent: this process does not own the object's part of the ring")
	term := r.gate.Begin(t.Context(), "widgets-0-k2p4")
	term.Extend(time.Now(), time.Hour)
	same(put(claim), " for bucket 17 at epoch 5 was not sent: this process does not own the object's part of the ring")
	r.gate.Open(17, 5)
	same(put(claim), "widgets/v1 (shard widgets-0-k2p4 17@5)")
	same(put(nil), "widgets/v1")
	<-r.gate.Shut(17, errHandedOver)
	same(put(claim), " for bucket 17 at epoch 5 was not sent: this process does not own the object's part of the ring any more: it went to another process, and this reconcile went on after its Grace")
	r.gate.Open(17, 6)
	same(put(claim), " for bucket 17 at epoch 5 was not sent: this process does not own the object's part of the ring at epoch 5, but at epoch 6")
	term.Close(errTaken)
	same(put(nil), " was not sent: this process does not own the object's part of the ring any more: the others took this process's lease")
	if n := r.gate.Unclaimed(); n != 1 {
		t.Errorf("%d requests without a claim, want 1", n)
	}
}

// TestTermFollowsWindow, which TestExhaustive uses, by time.
func TestTermFollowsWindow(t *testing.T) {
	for range 200 {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			term, window := newGate(partition.NewHub(partition.Partition{Buckets: 1})).Begin(t.Context(), "a"), requests.Window{}
			for range 20 {
				time.Sleep(rand.N[time.Duration](4) * time.Second)
				now := time.Since(begin)
				if rand.IntN(2) == 0 {
					sent, open := max(0, now-rand.N[time.Duration](4)*time.Second), (1+rand.N[time.Duration](5))*time.Second
					term.Extend(begin.Add(sent), open)
					window.Extend(begin.Add(sent), open, begin.Add(now))
				}
				if open := window.IsOpen(begin.Add(now)); (term.Err() == nil) != open {
					t.Fatalf("at %v the term says %v, the window that it is open: %t", now, term.Err(), open)
				}
			}
			term.Close(errEnded)
			term.Extend(time.Now(), time.Hour)
			if err := term.Err(); !errors.Is(err, ErrNotOwned) {
				t.Errorf("a closed term can be extended: %v", err)
			}
		})
	}
}
