// SPDX-License-Identifier: Apache-2.0

package partition

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Status is the state of a ring, as a member sees it. It is shard.Status, and here so that package
// inspect can show it.
type Status struct {
	// Identity is this member's name, "" before the first Run. State is "" before Run, and then
	// "joining", "active", "leaving" or "lost".
	Identity string `json:"identity,omitempty"`
	State    string `json:"state,omitempty"`
	// Coordinator is the coordinator's identity, as last seen; "" if unknown.
	Coordinator string `json:"coordinator,omitempty"`
	// LeaseDuration is Options.LeaseDuration.
	LeaseDuration time.Duration `json:"-"`
	// By is Options.By. Buckets has one element for each bucket.
	By      string         `json:"by"`
	Buckets []BucketStatus `json:"buckets"`
	// Members are those with a Lease, by identity.
	Members []MemberStatus `json:"members"`
	// Informers says how each informer with this ring reads its part.
	Informers []Mode `json:"informers"`
	// Granted and Released count this member's grants and releases of buckets, Evicted the buckets
	// taken from it without a release.
	Granted  uint64 `json:"granted"`
	Released uint64 `json:"released"`
	Evicted  uint64 `json:"evicted"`
	// Unclaimed counts requests of fenced clients that belong to no reconcile, so that only the
	// member's lease guards them.
	Unclaimed uint64 `json:"unclaimed"`
}

// BucketStatus is the state of a bucket.
type BucketStatus struct {
	// Owner works on the bucket; "" for none. Next and Spare load it.
	Owner string `json:"owner,omitempty"`
	Next  string `json:"next,omitempty"`
	Spare string `json:"spare,omitempty"`
	// LastOwner is the last Owner seen by this process; "" for none.
	LastOwner string `json:"lastOwner,omitempty"`
	// Epoch grows with each grant.
	Epoch uint64 `json:"epoch"`
	// Revoking is true from the order to release it until Owner has.
	Revoking bool `json:"revoking,omitempty"`
	// Since is the time of the last grant or loss, by the coordinator's clock; zero before the
	// first.
	Since time.Time `json:"since,omitzero"`
	// UnownedFor is the time without a worker, as seen by this process; 0 while the bucket has one.
	UnownedFor time.Duration `json:"-"`
	// State is this member's part in it: "away", "loading", "ready", "held" or "draining".
	State string `json:"state"`
	// Keys is the number of its keys in the queues of this process.
	Keys int `json:"keys"`
}

// MemberStatus is a process in the ring.
type MemberStatus struct {
	Identity string `json:"identity"`
	// State is "joining", "active", "leaving", "left", "expired" or "evicted".
	State  string `json:"state"`
	Weight int    `json:"weight"`
	// Owned is the number of its buckets.
	Owned int `json:"owned"`
	// Unchanged is the time since this process saw the last renewal.
	Unchanged time.Duration `json:"-"`
}

// TakesPart reports whether the member's lease has not ended.
func (m *MemberStatus) TakesPart() bool {
	return m.State == "joining" || m.State == "active" || m.State == "leaving"
}

// UnownedLimit returns how long a bucket may have no owner: twice LeaseDuration. Within it, the
// others find that an owner has died, and grant its buckets anew.
func (s *Status) UnownedLimit() time.Duration { return 2 * s.LeaseDuration }

// Healthy returns an error if nobody has worked on a bucket for longer than UnownedLimit. It names
// these buckets, the time, and who worked on them last.
func (s *Status) Healthy() error {
	count, texts := 0, []string(nil)
	for _, u := range s.Unowned(s.UnownedLimit()) {
		count += len(u.Buckets)
		texts = append(texts, u.String())
	}
	if count == 0 {
		return nil
	}
	return fmt.Errorf("nobody has worked on %d of %d buckets for longer than %v: %s", count, len(s.Buckets), s.UnownedLimit(), strings.Join(texts, "; "))
}

// Joined returns an error while this process is not a member of the ring that may be granted
// buckets, now or after its JoinDelay.
func (s *Status) Joined() error {
	if s.State == "joining" || s.State == "active" {
		// Until its Lease is seen, others don't count on it.
		for n := range s.Members {
			if m := &s.Members[n]; m.Identity == s.Identity && (m.State == "joining" || m.State == "active") {
				return nil
			}
		}
	}
	switch s.State {
	case "leaving":
		return errors.New("this process is leaving the ring")
	case "lost":
		return errors.New("this process has lost its lease")
	}
	return errors.New("this process has not joined the ring")
}

// Unowned is a group of buckets without a worker.
type Unowned struct {
	Buckets []int
	// For is the longest time of one of them.
	For time.Duration
	// LastOwner worked on all of them; "" if this process has seen nobody work on them.
	LastOwner string
}

// String returns a text such as "buckets 3, 5-7 for 45s, last owned by pod-1-abc".
func (u Unowned) String() string {
	text := "bucket " + Runs(u.Buckets)
	if len(u.Buckets) > 1 {
		text = "buckets " + Runs(u.Buckets)
	}
	text += fmt.Sprintf(" for %v", u.For.Round(time.Second))
	if u.LastOwner == "" {
		return text + ", since this process began"
	}
	return text + ", last owned by " + u.LastOwner
}

// Unowned returns the buckets without a worker for longer than a time, by their last
// owners, the longest time first.
func (s *Status) Unowned(longerThan time.Duration) (groups []Unowned) {
	for b := range s.Buckets {
		bucket := &s.Buckets[b]
		if bucket.UnownedFor <= longerThan {
			continue
		}
		last := cmp.Or(bucket.Owner, bucket.LastOwner) // Owner is one that has died, here
		n := slices.IndexFunc(groups, func(u Unowned) bool { return u.LastOwner == last })
		if n < 0 {
			n, groups = len(groups), append(groups, Unowned{LastOwner: last})
		}
		groups[n].Buckets = append(groups[n].Buckets, b)
		groups[n].For = max(groups[n].For, bucket.UnownedFor)
	}
	slices.SortStableFunc(groups, func(a, b Unowned) int { return cmp.Compare(b.For, a.For) })
	return groups
}

// Runs returns ascending numbers in short: "3, 5-7".
func Runs(numbers []int) string {
	var text strings.Builder
	for n := 0; n < len(numbers); n++ {
		if n > 0 {
			text.WriteString(", ")
		}
		first := n
		for n+1 < len(numbers) && numbers[n+1] == numbers[n]+1 {
			n++
		}
		text.WriteString(strconv.Itoa(numbers[first]))
		if n > first {
			text.WriteString("-" + strconv.Itoa(numbers[n]))
		}
	}
	return text.String()
}
