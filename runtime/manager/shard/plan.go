// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/informer-gen/informer-gen/runtime/internal/partition"
)

// plan is the goal of a coordinator.
type plan struct {
	// owners and spares have a member for each bucket; "" for none.
	owners, spares []string
}

// maxMoves limits the buckets that change their owner at the same time: to one in maxMoves.
const maxMoves = 8

// planFor divides the buckets among the active members by their weights. Few move: first those
// without an owner, then single ones from members above their share to members below it. While a
// member joins, for at most patience, only buckets without an owner move. So in a rolling update,
// the new member takes the buckets of the leaving one.
func planFor(v *view, spares int, patience, now time.Duration) plan {
	n := len(v.table.buckets)
	p := planning{view: v, plan: plan{make([]string, n), make([]string, n)}, owned: map[string]int{}, kept: map[string]int{}}
	p.divide(now - patience)
	moving := 0
	for b, e := range v.table.buckets {
		owner := e.Owner
		if v.isUsable(e.Next) {
			owner = e.Next
		}
		if e.Next != "" || e.Revoking {
			moving++
		}
		if v.isUsable(owner) {
			p.owners[b] = owner
			p.owned[owner]++
		}
	}
	room := max(1, n/maxMoves) - moving
	for b, e := range v.table.buckets {
		if p.owners[b] != "" || len(p.members) == 0 {
			continue
		}
		gone := e.Owner == "" || v.hasReleased(b, e, now)
		m := v.members[e.Owner]
		switch {
		case !gone && m != nil && m.state == leaving && (p.joining || room <= 0), e.Epoch == 0 && p.joining:
			p.owners[b] = e.Owner
			continue
		case !gone:
			room--
		}
		to := e.Spare
		if !v.isUsable(to) {
			to = p.neediest(b)
		}
		p.owners[b] = to
		p.owned[to]++
	}
	if !p.joining {
		p.balance(room)
	}
	if spares > 0 {
		p.spare()
	}
	return p.plan
}

type planning struct {
	plan
	view        *view
	members     []string // that may own buckets, sorted
	quota       map[string]float64
	joining     bool
	owned, kept map[string]int // how many buckets a member owns, and keeps as a spare
}

// divide computes the quotas. Members that began to join before since are not waited for.
func (p *planning) divide(since time.Duration) {
	weights, sum := map[string]int{}, 0
	for _, m := range p.view.members {
		switch {
		case p.view.isUsable(m.identity):
			weights[m.identity] = m.weight
			sum += m.weight
		case m.state == joining && m.settings == p.view.table.settings && m.first >= since:
			p.joining = true
		}
	}
	p.members = slices.Sorted(maps.Keys(weights))
	p.quota = map[string]float64{}
	for id, w := range weights {
		p.quota[id] = float64(len(p.view.table.buckets)) * float64(w) / float64(sum)
	}
}

// neediest returns a member for a bucket without an owner. Members below their share, rounded down,
// come first, and then those below their share. Among these it is the newest one, which stays
// longest in a rolling update; if several came at once, the highest score decides.
func (p *planning) neediest(bucket int) string {
	lacks := func(id string) int {
		switch owned := p.owned[id]; {
		case owned < int(p.quota[id]):
			return 2
		case float64(owned) < p.quota[id]:
			return 1
		}
		return 0
	}
	first := func(id string) time.Duration { return p.view.members[id].first }
	return slices.MaxFunc(p.members, func(a, b string) int {
		return cmp.Or(cmp.Compare(lacks(a), lacks(b)), cmp.Compare(first(a), first(b)), cmp.Compare(score(bucket, a), score(bucket, b)))
	})
}

// balance moves up to room buckets, each from the member furthest above its share to the one
// furthest below. Nobody ends below its share, rounded down.
func (p *planning) balance(room int) {
	excess := func(id string) float64 { return float64(p.owned[id]) - p.quota[id] }
	byExcess := func(a, b string) int { return cmp.Or(cmp.Compare(excess(a), excess(b)), cmp.Compare(a, b)) }
	for ; room > 0 && len(p.members) > 1; room-- {
		from, to := slices.MaxFunc(p.members, byExcess), slices.MinFunc(p.members, byExcess)
		if excess(from) < 1 && excess(to) > -1 || excess(from)-excess(to) <= 1 {
			return
		}
		best := -1
		for b, e := range p.view.table.buckets {
			movable := p.owners[b] == from && e.Owner == from && e.Next == "" && !e.Revoking
			if movable && (best < 0 || score(b, to) > score(best, to)) {
				best = b
			}
		}
		if best < 0 {
			return
		}
		p.owners[best] = to
		p.owned[from]--
		p.owned[to]++
	}
}

// spare picks a spare for each bucket. A spare stays while it has at most two buckets above its
// share.
func (p *planning) spare() {
	if len(p.members) < 2 {
		return
	}
	limit := func(id string) int { return int(p.quota[id]) + 2 }
	for b, e := range p.view.table.buckets {
		if id := e.Spare; p.view.isUsable(id) && id != p.owners[b] && p.kept[id] < limit(id) {
			p.spares[b] = id
			p.kept[id]++
		}
	}
	for b := range p.spares {
		if p.spares[b] != "" {
			continue
		}
		others := slices.DeleteFunc(slices.Clone(p.members), func(id string) bool { return id == p.owners[b] })
		best := slices.MaxFunc(others, func(x, y string) int {
			return cmp.Or(cmp.Compare(min(0, limit(x)-1-p.kept[x]), min(0, limit(y)-1-p.kept[y])), cmp.Compare(score(b, x), score(b, y)))
		})
		p.spares[b] = best
		p.kept[best]++
	}
}

// score ranks the members for a bucket. A member that comes or goes changes no other pair's order:
// highest random weight (Thaler and Ravishankar, A Name-Based Mapping Scheme for Rendezvous, 1996).
func score(bucket int, identity string) uint64 {
	return partition.Mix(partition.Hash(identity + "/" + strconv.Itoa(bucket)))
}
