// SPDX-License-Identifier: Apache-2.0

package shard

// claimState is the state of a bucket in a member.
//
//	away ─▶ loading ─▶ ready ─▶ held ─▶ draining ─▶ away
//	           └───────────────▶ held     (owned, as nobody else had it)
type claimState uint8

const (
	away     claimState = iota
	loading             // its streams run; the member doesn't work on it
	ready               // every informer has it
	held                // the member works on it
	draining            // no reconcile begins; running ones end
)

// claim is a bucket in a member.
type claim struct {
	state claimState
	epoch uint64 // while held or draining
}

// works reports whether requests for the bucket may leave the process, if its fence lets them.
func (c claim) works() bool { return c.state == held || c.state == draining }

// member is the state of this process from the beginning of Run until it leaves or is lost. Its
// identity never comes back.
type member struct {
	identity string
	claims   []claim
	// released has, for each bucket, the highest epoch at which the member has stopped. It never
	// works at that one, or at a lower one.
	released []uint64
}

// circumstances are those of a bucket, except for leave, which is the member's.
type circumstances struct {
	loaded bool // every informer has the bucket
	idle   bool // no reconcile of it runs, or its fence is shut
	leave  bool // the member gives up everything now
}

// step moves a bucket on by its entry in the table. The entry may be old: a grant that was released
// is void, and the member's fence shuts before another member is granted the bucket.
func (m *member) step(bucket int, e entry, c circumstances) {
	now := &m.claims[bucket]
	mine := e.Owner == m.identity
	if now.works() {
		switch {
		case !mine || e.Epoch != now.epoch: // it was taken from a member that is lost
			m.release(bucket)
		case now.state == draining && c.idle:
			m.release(bucket)
		case e.Revoking || c.leave:
			now.state = draining
			return
		default:
			return
		}
	}
	mine = mine && e.Epoch > m.released[bucket]
	wanted := mine || e.Next == m.identity || e.Spare == m.identity
	switch {
	case mine && (e.Revoking || c.leave): // it never began
		m.released[bucket] = e.Epoch
		now.state = away
	case mine && c.loaded:
		*now = claim{held, e.Epoch}
	case wanted && c.loaded && !c.leave:
		now.state = ready
	case wanted && !c.leave:
		now.state = loading
	default:
		now.state = away
	}
}

func (m *member) release(bucket int) {
	m.released[bucket] = m.claims[bucket].epoch
	m.claims[bucket] = claim{}
}

// describe returns the epochs of the member's Lease, by bucket. One of released stays until the
// table has gone on.
func (m *member) describe(t *table) (readyAt, released []uint64) {
	readyAt, released = make([]uint64, len(t.buckets)), make([]uint64, len(t.buckets))
	for b, e := range t.buckets {
		if s := m.claims[b].state; s == ready || s == held {
			readyAt[b] = e.Epoch
		}
		if e.Owner == m.identity && e.Epoch <= m.released[b] {
			released[b] = m.released[b]
		}
	}
	return readyAt, released
}
