// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/changelog"
	"github.com/informer-gen/informer-gen/runtime/internal/partition"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
)

// part restricts a stream to the objects of some buckets. A full state has the buckets wanted when
// its request began, less those lost since: it covers them. The table has the objects of covered
// buckets only.
//
// The reader drops objects of other buckets as early as it can. The loop decides: it alone knows
// the table.
type part struct {
	stream *Stream // set once at construction

	// keys are the reader's: those of objects it has passed on that may not be in the table yet.
	// ahead are those of objects that the source has only asked about.
	keys, ahead map[object.Key]struct{}

	// The reader alone uses these. refused is true once the server has refused a shard selector,
	// listSelector is that of all pages of a list.
	refused      bool
	listSelector string

	sharded atomic.Bool // the last list had the objects of a shard selector only

	consumed int64        // deltas the loop has taken; used by the loop only
	applied  atomic.Int64 // consumed, when the table had all of them

	// Intake.writeMu guards these.
	covered partition.Set
	listed  bool // the run has published a full state

	mu       sync.Mutex // guards the rest
	wanted   partition.Set
	listings []listing // the last one published, and those begun later
}

// listing is a full state.
type listing struct {
	number int64 // as counted by Sink.replaces
	covers partition.Set
}

func (s *Stream) newPart(wanted partition.Set) *part {
	return &part{stream: s, wanted: wanted, ahead: map[object.Key]struct{}{}, keys: map[object.Key]struct{}{}}
}

func (p *part) bucketOf(obj object.Object) int {
	return p.stream.intake.config.Partition.BucketOf(object.MetaOf(obj))
}

// begin begins a run. Intake.writeMu is held.
func (p *part) begin() {
	p.consumed, p.listed = 0, false
	p.applied.Store(0)
	clear(p.keys)
}

// beginRequest is called by the reader before each request; full reports that it begins a full
// state.
func (p *part) beginRequest(full bool) {
	clear(p.ahead)
	if !full {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.listings = append(p.listings, listing{p.stream.sink.replaces, p.wanted})
}

// keep reports whether the reader passes on an object: it is in a bucket of the full state, or the
// table may have it, and must learn of its new bucket. It is called on the reader's goroutine.
func (p *part) keep(obj object.Meta) bool {
	key := object.Key{Namespace: obj.Namespace, Name: obj.Name}
	return p.lists(p.stream.intake.config.Partition.BucketOf(obj)) || p.mayHold(key)
}

// keepAhead is keep for a source, whose strings are valid during the call only.
func (p *part) keepAhead(obj object.Meta) bool {
	keep := p.keep(obj)
	if keep {
		p.ahead[object.Key{Namespace: strings.Clone(obj.Namespace), Name: strings.Clone(obj.Name)}] = struct{}{}
	}
	return keep
}

// byController reports whether keep looks at an object's controller.
func (p *part) byController() bool {
	config := p.stream.intake.config.Partition
	return config.By != partition.ByNamespace && len(config.Roots) > 0
}

func (p *part) lists(bucket int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.listings[len(p.listings)-1].covers.Has(bucket)
}

func (p *part) mayHold(key object.Key) bool {
	if _, ok := p.ahead[key]; ok {
		return true
	}
	if _, ok := p.keys[key]; ok {
		return true
	}
	_, ok := p.stream.intake.table.Version().Get(key)
	return ok
}

// receive is keep for an object from the source, which may have ignored keep.
func (p *part) receive(obj object.Object) bool {
	switch {
	case p.applied.Load() != p.stream.sink.taken:
	case len(p.keys) <= maxBatch:
		clear(p.keys) // the table has them
	default:
		p.keys = map[object.Key]struct{}{} // later ones take less room than those of a full state
	}
	if !p.keep(object.MetaOf(obj)) {
		return false
	}
	key := object.KeyOf(obj)
	delete(p.ahead, key)
	p.keys[key] = struct{}{}
	return true
}

// consume notes that the loop has taken deltas.
func (p *part) consume(deltas int) {
	if p.consumed += int64(deltas); !p.stream.staging.active {
		p.applied.Store(p.consumed)
	}
}

// complete returns the buckets covered by a full state that is about to be published.
func (p *part) complete(number int64) partition.Set {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.listings = slices.DeleteFunc(p.listings, func(l listing) bool { return l.number < number })
	return p.listings[0].covers
}

// setWanted returns the buckets that are covered and not wanted any more. Intake.writeMu is held.
func (p *part) setWanted(wanted partition.Set) (lost partition.Set) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wanted = wanted
	for n := range p.listings {
		p.listings[n].covers = p.listings[n].covers.And(wanted)
	}
	return p.covered.Without(wanted)
}

// gained reports whether buckets are wanted that the newest full state lacks.
func (p *part) gained() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.listings) > 0 && !p.listings[len(p.listings)-1].covers.Contains(p.wanted)
}

// SetWanted makes the informer read the wanted buckets of these namespaces. It removes the objects
// of others; per stream, in one step. For gained buckets, the caller calls Relist afterwards. It is
// otherwise like SetNamespaces.
func (in *Intake) SetWanted(r *Run, namespaces map[string]struct{}, wanted partition.Set) {
	if wanted.IsEmpty() {
		namespaces = nil
	}
	in.endOnError(r, func() error {
		in.writeMu.Lock()
		in.wanted = &wanted
		in.writeMu.Unlock()
		for _, s := range in.Streams() {
			if _, stays := namespaces[s.namespace]; stays && s.part != nil {
				panics, wait := in.lose(s, wanted)
				in.report(r.Logger, panics)
				if wait != nil {
					wait(r.Ctx.Done())
				}
			}
		}
		return in.setNamespaces(r, namespaces)
	})
}

// lose sets the wanted buckets of a stream, and removes the objects of others in one step. If an
// index function calls runtime.Goexit, the table stays as it was.
func (in *Intake) lose(s *Stream, wanted partition.Set) (_ []indexPanic, wait func(over <-chan struct{})) {
	in.writeMu.Lock()
	defer in.writeMu.Unlock()
	lost := s.part.setWanted(wanted)
	if lost.IsEmpty() {
		return nil, nil
	}
	b := batchWriter{stream: s, txn: in.table.Begin()}
	defer b.txn.Discard() // does nothing after Publish
	in.panics = nil
	for obj := range in.table.Version().Namespace(s.namespace).All {
		if !lost.Has(s.part.bucketOf(obj)) {
			continue
		}
		if old, ok := b.txn.Delete(object.KeyOf(obj)); ok {
			b.record(changelog.Change{Type: deltafifo.Deleted, Old: old, FinalStateUnknown: true})
		}
	}
	s.part.covered = s.part.covered.And(wanted)
	wait = in.config.Publish(Publication{Stream: s, Changes: b.changes, Lost: lost, txn: b.txn})
	return in.panics, wait
}

// Relist makes the streams that lack wanted buckets read a full state anew.
func (in *Intake) Relist() {
	for _, s := range in.Streams() {
		if s.part != nil && s.part.gained() {
			s.reader.(relister).Relist()
		}
	}
}

// relister is a Reader of a part.
type relister interface{ Relist() }

// Covered returns the wanted buckets that the table has completely, as read by the run, and whether
// Relist would do anything.
func (in *Intake) Covered() (covered partition.Set, gained bool) {
	in.writeMu.Lock()
	defer in.writeMu.Unlock()
	if in.wanted == nil {
		return covered, false
	}
	covered = *in.wanted
	for _, s := range in.Streams() {
		if s.part == nil || s.reader.Status().State == reflector.StateAbsent {
			continue // the server has no objects
		}
		if !s.part.listed {
			covered = partition.Set{}
		}
		covered = covered.And(s.part.covered)
		gained = gained || s.part.gained()
	}
	return covered, gained
}

// foreign reports whether an object is in none of the covered buckets.
func (w *batchWriter) foreign(obj object.Object) bool {
	p := w.stream.part
	return p != nil && !w.covered.Has(p.bucketOf(obj))
}

// drop deletes the table's object under the key of an object that is now in another bucket.
func (w *batchWriter) drop(key object.Key, obj object.Object) {
	if old, ok := w.txn.Delete(key); ok {
		w.applied++
		w.record(changelog.Change{Type: deltafifo.Deleted, Old: old, FinalStateUnknown: old.GetUID() != obj.GetUID()})
	}
}
