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

	list    shardedList // the reader's: the current list
	sharded atomic.Bool // the server has sent, for the last list, the objects of a shard only

	consumed int64        // deltas the loop has taken; used by the loop only
	applied  atomic.Int64 // consumed, when the table had all of them

	// Intake.writeMu guards these.
	covered partition.Set
	listed  bool // the run has published a full state

	mu       sync.Mutex // guards the rest
	wanted   selection
	listings []listing // the last one published, and those begun later
	server   sharding  // what the run has learned
}

// selection is a part of a stream's objects.
type selection struct {
	buckets partition.Set
	// namespaces are those in the buckets, as far as known, if the server is to be asked for them;
	// nil: it isn't. It is not changed.
	namespaces map[string]struct{}
}

// listing is a full state. It covers the buckets of a selection. If the server was asked for
// namespaces, the objects of newer namespaces are missing.
type listing struct {
	number int64 // as counted by Sink.replaces
	covers selection
	whole  bool // the server was asked for all objects
}

func (s *Stream) newPart(wanted selection) *part {
	return &part{stream: s, wanted: wanted, ahead: map[object.Key]struct{}{}, keys: map[object.Key]struct{}{}}
}

func (p *part) bucketOf(obj object.Object) int {
	return p.stream.intake.config.Partition.BucketOf(object.MetaOf(obj))
}

// begin begins a run. Intake.writeMu is held.
func (p *part) begin() {
	p.consumed, p.listed = 0, false
	p.applied.Store(0)
	p.sharded.Store(false)
	clear(p.keys)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.server = shardingUnknown
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
	covers := selection{p.wanted.buckets, p.namespacesToAskFor()}
	p.listings = append(p.listings, listing{p.stream.sink.replaces, covers, p.selectorOf(covers) == ""})
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
	return p.listings[len(p.listings)-1].covers.buckets.Has(bucket)
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
	return p.listings[0].covers.buckets
}

// setWanted returns the buckets that are covered and not wanted any more. Intake.writeMu is held.
func (p *part) setWanted(wanted selection) (lost partition.Set) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wanted = wanted
	for n := range p.listings {
		covers := &p.listings[n].covers.buckets
		*covers = covers.And(wanted.buckets)
	}
	return p.covered.Without(wanted.buckets)
}

// needsList reports whether the newest full state lacks wanted buckets or namespaces, or the server
// could send less.
func (p *part) needsList() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.listings) == 0 {
		return false // the first one has yet to begin
	}
	newest := &p.listings[len(p.listings)-1]
	return !newest.covers.buckets.Contains(p.wanted.buckets) || !p.unread(newest).IsEmpty() ||
		newest.whole && p.server != shardingIgnored && p.selectorOf(p.wanted) != ""
}

// unread returns the wanted buckets with namespaces that a listing wasn't asked for. mu is held.
func (p *part) unread(l *listing) partition.Set {
	asked, unread := l.covers.namespaces, map[int]bool{}
	switch {
	case asked == nil:
		return partition.Set{}
	case p.wanted.namespaces == nil: // some may not be known
		return p.wanted.buckets
	}
	config := p.stream.intake.config.Partition
	for namespace := range p.wanted.namespaces {
		if _, ok := asked[namespace]; !ok {
			unread[config.BucketOfKey(namespace, "")] = true
		}
	}
	return partition.SetOf(config.Buckets, func(b int) bool { return unread[b] })
}

// loaded returns the buckets that the table has completely. Intake.writeMu is held.
func (p *part) loaded() partition.Set {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.listed {
		return partition.Set{}
	}
	return p.covered.Without(p.unread(&p.listings[0]))
}

// SetWanted makes the informer read the wanted buckets of the objects in streams of these
// namespaces. It removes the objects of others; per stream, in one step. If asked is not nil, it
// has all namespaces in wanted buckets, as far as known, to ask the server for. If more is wanted
// than before, the caller calls Relist afterwards. It is otherwise like SetNamespaces.
func (in *Intake) SetWanted(r *Run, namespaces map[string]struct{}, buckets partition.Set, asked map[string]struct{}) {
	if buckets.IsEmpty() {
		namespaces = nil
	}
	wanted := selection{buckets, asked}
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
func (in *Intake) lose(s *Stream, wanted selection) (_ []indexPanic, wait func(over <-chan struct{})) {
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
	s.part.covered = s.part.covered.And(wanted.buckets)
	wait = in.config.Publish(Publication{Stream: s, Changes: b.changes, Lost: lost, txn: b.txn})
	return in.panics, wait
}

// Relist makes the streams that lack something wanted read a full state anew.
func (in *Intake) Relist() {
	for _, s := range in.Streams() {
		if s.part != nil && s.part.needsList() {
			s.reader.(relister).Relist()
		}
	}
}

// relister is a Reader of a part.
type relister interface{ Relist() }

// Loaded returns the wanted buckets that the table has completely, as read by the run, and whether
// Relist would do anything.
func (in *Intake) Loaded() (loaded partition.Set, relist bool) {
	in.writeMu.Lock()
	defer in.writeMu.Unlock()
	if in.wanted == nil {
		return loaded, false
	}
	loaded = in.wanted.buckets
	for _, s := range in.Streams() {
		if s.part == nil || s.reader.Status().State == reflector.StateAbsent {
			continue // the server has no objects
		}
		loaded = loaded.And(s.part.loaded())
		relist = relist || s.part.needsList()
	}
	return loaded, relist
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
