// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/informer-gen/informer-gen/runtime/internal/partition"
)

// Ring is the part of a Ring of package shard that the page uses.
type Ring interface {
	Name() string
	Status() partition.Status
}

// WithRing adds a ring, by which processes share the work. Its methods are called for each request,
// on the server's goroutine; they must not wait. Nil adds none.
func WithRing(ring Ring) Option {
	return func(s *server) { s.ring = ring }
}

// ringReport describes the ring. Why and Advice are "" if it has no problem. Fields that the status
// has too replace its own.
type ringReport struct {
	Condition condition `json:"condition"`
	Why       string    `json:"why,omitempty"`
	Advice    string    `json:"advice,omitempty"`
	Name      string    `json:"name"`
	partition.Status
	Unowned []unownedReport `json:"unowned,omitempty"` // the longest time first
	Buckets []bucketReport  `json:"buckets"`           // the worst first
	Members []memberReport  `json:"members"`
}

// unownedReport is a group of buckets that nobody works on.
type unownedReport struct {
	Buckets   string        `json:"buckets"` // such as "3, 5-7"
	LastOwner string        `json:"lastOwner,omitempty"`
	Time      string        `json:"unownedFor"`
	For       time.Duration `json:"-"`
}

type bucketReport struct {
	Bucket int `json:"bucket"`
	partition.BucketStatus
	Time string `json:"unownedFor,omitempty"`
}

// rank is highest for a bucket without an owner, and lowest for one that stays.
func (b *bucketReport) rank() int {
	switch {
	case b.UnownedFor > 0:
		return 2
	case b.Revoking || b.Next != "":
		return 1
	}
	return 0
}

type memberReport struct {
	partition.MemberStatus
	Time string `json:"unchangedFor"`
}

// reportRing adds the ring. Its condition counts only if something is wrong.
func (s *server) reportRing(r *report) {
	if s.ring == nil {
		return
	}
	ring := describeRing(s.ring.Name(), s.ring.Status())
	r.Ring = &ring
	if ring.Why != "" {
		r.Condition = worse(r.Condition, ring.Condition)
		r.Problems = append(r.Problems, problem{ring.Condition, "ring " + ring.Name, ring.Why, ring.Advice, "ring"})
	}
}

func describeRing(name string, status partition.Status) ringReport {
	r := ringReport{Name: name, Status: status, Buckets: []bucketReport{}, Members: []memberReport{}}
	for _, u := range status.Unowned(0) {
		r.Unowned = append(r.Unowned, unownedReport{partition.Runs(u.Buckets), u.LastOwner, rounded(u.For), u.For})
	}
	for n, b := range status.Buckets {
		one := bucketReport{Bucket: n, BucketStatus: b}
		if b.UnownedFor > 0 {
			one.Time = rounded(b.UnownedFor)
		}
		r.Buckets = append(r.Buckets, one)
	}
	slices.SortStableFunc(r.Buckets, func(a, b bucketReport) int {
		return cmp.Or(b.rank()-a.rank(), cmp.Compare(b.UnownedFor, a.UnownedFor))
	})
	for _, m := range status.Members {
		r.Members = append(r.Members, memberReport{m, rounded(m.Unchanged)})
	}
	r.Condition, r.Why, r.Advice = conditionOfRing(&status)
	return r
}

func rounded(d time.Duration) string { return d.Round(time.Millisecond).String() }

func conditionOfRing(s *partition.Status) (c condition, why, advice string) {
	switch err := s.Healthy(); {
	case err != nil:
		return failing, sentence(err.Error()), adviceOfRing(s)
	case s.State == "lost":
		return failing, sentence(s.Joined().Error()), "The process should have ended. Its log says what it waits for."
	case s.State == "":
		return stopped, "", ""
	}
	if unowned := s.Unowned(0); unowned != nil {
		var texts []string
		for _, u := range unowned {
			texts = append(texts, u.String())
		}
		return recovering, "Nobody works on " + strings.Join(texts, "; ") + ".",
			"Another member should get them soon. Health checks fail after " + inWords(s.UnownedLimit()) + "."
	}
	switch {
	case s.State == "joining":
		return starting, "", ""
	case s.Coordinator == "":
		return recovering, "No process is known to coordinate the ring.", adviceOfRing(s)
	}
	return healthy, "", ""
}

// adviceOfRing names the logs to look at if buckets have no owner.
func adviceOfRing(s *partition.Status) string {
	active := slices.ContainsFunc(s.Members, func(m partition.MemberStatus) bool { return m.State == "active" })
	switch {
	case s.Coordinator == "":
		return "Look at the logs for failed requests for Leases: no process is known to coordinate the ring."
	case !active:
		return "Look at the logs of the members: none of them is active."
	}
	return "Look at the log of the coordinator, " + s.Coordinator + ". If it hangs, end its process: another one coordinates then."
}
