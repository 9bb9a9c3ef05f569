// SPDX-License-Identifier: Apache-2.0

package inspect_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/runtime/inspect"
	"github.com/informer-gen/informer-gen/runtime/internal/partition"
)

// fixedRing is a ring with a status.
type fixedRing partition.Status

func (fixedRing) Name() string               { return "databases" }
func (f fixedRing) Status() partition.Status { return partition.Status(f) }

// quiet returns the state of a ring of eight buckets, of which pod-1, this process, and pod-2 have
// four each.
func quiet() partition.Status {
	s := partition.Status{
		Identity: "pod-1", State: "active", Coordinator: "pod-2", LeaseDuration: 15 * time.Second, By: "ByNamespace",
		Members: []partition.MemberStatus{
			{Identity: "pod-1", State: "active", Weight: 1, Owned: 4, Unchanged: time.Second},
			{Identity: "pod-2", State: "active", Weight: 1, Owned: 4, Unchanged: 1500 * time.Millisecond},
		},
		Informers: []partition.Mode{{Informer: "pods", Mode: "namespaces"}},
		Granted:   1234, Released: 3, Unclaimed: 7,
	}
	for n := range 8 {
		b := partition.BucketStatus{Owner: "pod-1", Epoch: 5, Since: time.Now().Add(-time.Hour), State: "held", Keys: n}
		if n >= 4 {
			b.Owner, b.State, b.Keys = "pod-2", "away", 0
		}
		s.Buckets = append(s.Buckets, b)
	}
	return s
}

func withRing(s partition.Status) inspect.Option { return inspect.WithRing(fixedRing(s)) }

func TestQuietRing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := inspect.Handler(nil, withRing(quiet()))
		text := page(t, h, "/")
		contains(t, text,
			"Ring databases healthy This process is pod-1, active. It works on 4 of 8 buckets, ByNamespace. The coordinator is pod-2.",
			"Member State Weight Owns Buckets Last renewal seen pod-1 this process active 1 4 0-3 1 second ago pod-2 active 1 4 4-7 1 second ago",
			"Informer reads its part by pods namespaces",
			"Keys here 0 pod-1 5 none none 60 minutes ago held none 1 pod-1 5 none none 60 minutes ago held 1 2",
			"Buckets granted to this process: 1,234; released: 3; lost without a release: 0. Requests of no reconcile: 7.")
		for _, never := range []string{"What is wrong", "without an owner Nobody"} {
			if strings.Contains(text, never) {
				t.Errorf("the page has %q: %s", never, text)
			}
		}
		if body := get(h, "/", browser).Body.String(); strings.Contains(body, "<details open") {
			t.Error("the list of all buckets is open")
		}
		r := reported(t, h, "/")
		same(t, "condition", []string{r.Condition, r.Ring.Condition, r.Ring.Name, r.Ring.Identity}, []string{"healthy", "healthy", "databases", "pod-1"})
		same(t, "a bucket", r.Ring.Buckets[3], ringBucket{Bucket: 3, Owner: "pod-1", State: "held", Epoch: 5, Keys: 3})
		same(t, "a member", r.Ring.Members[1], ringMember{"pod-2", "active", "1.5s", 4})
		same(t, "informers", r.Ring.Informers, []partition.Mode{{Informer: "pods", Mode: "namespaces"}})
		same(t, "without a ring", strings.Contains(page(t, inspect.Handler(nil, inspect.WithRing(nil)), "/"), "Ring"), false)
	})
}

// TestRingWithoutOwners: buckets that nobody works on come first, with their last owner, then those
// that move. The condition says whether that has lasted too long.
func TestRingWithoutOwners(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := quiet()
		for _, n := range []int{2, 5, 6} {
			s.Buckets[n] = partition.BucketStatus{LastOwner: "pod-3", UnownedFor: 12 * time.Second, Epoch: 6, State: "away"}
		}
		s.Buckets[1].Next, s.Buckets[1].Revoking = "pod-2", true
		s.Buckets[7].UnownedFor = 20 * time.Second // its owner has died, and is still in the table
		s.Members[1].State, s.Members[1].Unchanged = "expired", 20*time.Second
		h := inspect.Handler(nil, withRing(s))
		contains(t, page(t, h, "/"),
			"(1) Informers", "What is wrong ring databases recovering Nobody works on bucket 7 for 20s, last owned by pod-2; buckets 2, 5-6 for 12s, last owned by pod-3. Another member should get them soon. Health checks fail after 30 seconds.",
			"Buckets without an owner Nobody works on them for Last owner 7 20 seconds pod-2 2, 5-6 12 seconds pod-3",
			"Keys here 7 none for 20 seconds 5 none none 60 minutes ago away none 2 none for 12 seconds 6", "1 pod-1 revoked 5 pod-2 none 60 minutes ago held 1 0 pod-1 5")
		contains(t, get(h, "/", browser).Body.String(), `<a href="#ring">ring databases</a>`, `<section id="ring">`, "<details open", `<span class="badge bad">expired</span>`)
		r := reported(t, h, "/")
		same(t, "condition", []string{r.Condition, r.Ring.Condition}, []string{"recovering", "recovering"})
		same(t, "unowned", r.Ring.Unowned, []ringUnowned{{"7", "pod-2", "20s"}, {"2, 5-6", "pod-3", "12s"}})
		same(t, "the first bucket", r.Ring.Buckets[0], ringBucket{Bucket: 7, Owner: "pod-2", State: "away", UnownedFor: "20s", Epoch: 5})

		s.Buckets[6].UnownedFor = 31 * time.Second
		r = reported(t, inspect.Handler(nil, withRing(s)), "/")
		same(t, "condition", []string{r.Condition, r.Ring.Condition}, []string{"failing", "failing"})
		same(t, "problem", r.Problems[0].Text, "Nobody has worked on 1 of 8 buckets for longer than 30s: bucket 6 for 31s, last owned by pod-3.")
		same(t, "advice", r.Problems[0].Advice, "Look at the log of the coordinator, pod-2. If it hangs, end its process: another one coordinates then.")
	})
}

func TestConditionsOfRings(t *testing.T) {
	for _, tc := range []struct {
		change            func(*partition.Status)
		condition, advice string
	}{
		{func(s *partition.Status) { *s = partition.Status{} }, "not running", ""},
		{func(s *partition.Status) { s.State = "joining" }, "starting", ""},
		{func(s *partition.Status) { s.State = "leaving" }, "healthy", ""},
		{func(s *partition.Status) { s.State = "lost" }, "failing", "The process should have ended"},
		{func(s *partition.Status) { s.Coordinator = "" }, "recovering", "Look at the logs for failed requests for Leases"},
		{func(s *partition.Status) {
			s.Buckets[0].UnownedFor = time.Minute
			s.Members = nil
		}, "failing", "none of them is active"},
	} {
		s := quiet()
		tc.change(&s)
		h := inspect.Handler(nil, withRing(s))
		r := reported(t, h, "/")
		same(t, fmt.Sprintf("condition of %+v", s), r.Ring.Condition, tc.condition)
		same(t, "problems", len(r.Problems) == 1 && r.Ring.Advice != "" && strings.Contains(r.Ring.Advice, tc.advice), tc.advice != "")
		page(t, h, "/")
	}
	contains(t, page(t, inspect.Handler(nil, withRing(partition.Status{})), "/"), "Ring databases not running This process has not joined the ring.")
	s := quiet()
	s.Coordinator = "pod-1"
	contains(t, page(t, inspect.Handler(nil, withRing(s)), "/"), "It is the coordinator.")
}
