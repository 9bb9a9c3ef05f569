// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"sync/atomic"

	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/mutation"
	"github.com/informer-gen/informer-gen/runtime/internal/table"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// staging holds a stream's full state beside the table until it is complete, so that readers of the
// table never see a part of it.
type staging struct {
	active  bool // a full state is being read
	objects fullState
	// number counts the full states whose staging began, also dropped ones.
	number int64

	// base is the table's version when staging began; nil in the first full state.
	base *table.Version
	// keptRows are the rows in base of the full state's unchanged objects, which objects lacks.
	keptRows table.RowSet
	// changedRows are the rows in base of the keys in objects.
	changedRows table.RowSet

	// size is the number of staged objects, for the metrics; it is set from time to time.
	size atomic.Int64
}

// fullState is a full state, in parts, to grow without copying.
type fullState [][]object.Object

// tombstone stands for an object deleted while the full state was read.
type tombstone struct{ object.Object }

func (s *fullState) add(obj object.Object) {
	last := len(*s) - 1
	if last < 0 || len((*s)[last]) == cap((*s)[last]) {
		room := 16
		if last >= 0 {
			room = min(2*cap((*s)[last]), 1024)
		}
		*s = append(*s, make([]object.Object, 0, room))
		last++
	}
	(*s)[last] = append((*s)[last], obj)
}

func (s fullState) len() (n int64) {
	for _, part := range s {
		n += int64(len(part))
	}
	return n
}

// stage adds deltas to the staged full state, until it is complete or aborted. It returns the rest,
// beginning with the delta that completes the state, if any.
func (s *Stream) stage(batch []delta) (rest []delta) {
	for n := range batch {
		switch d := &batch[n]; d.Type {
		case deltafifo.ReplaceStarted:
			s.unstage()
			s.staging.active = true
			s.staging.number++
			if s.HasSynced() {
				s.staging.base = s.intake.table.Version()
			}
		case deltafifo.ReplaceAborted:
			s.unstage()
			return batch[n+1:]
		case deltafifo.ReplaceEnded:
			return batch[n:]
		case deltafifo.Added, deltafifo.Modified, deltafifo.Replaced:
			s.staging.add(d)
		case deltafifo.Deleted:
			if _, at := s.staging.base.Find(d.Key); at != 0 {
				s.staging.changedRows.Add(at)
			}
			s.staging.objects.add(tombstone{d.Object})
		}
	}
	s.staging.size.Store(s.staging.objects.len() + int64(s.staging.keptRows.Len()))
	return nil
}

// add stages an object. If it has not changed, add marks the table's instead. Only the stream
// itself changes its objects in the table, so base and the table have the same ones.
func (s *staging) add(d *delta) {
	own, at := s.base.Find(d.Key)
	switch {
	case at == 0:
	case unchanged(own, d.Object) && !s.changedRows.Has(at):
		s.keptRows.Add(at)
		return
	default:
		s.changedRows.Add(at)
	}
	s.objects.add(d.Object)
}

func (s *Stream) unstage() {
	g := &s.staging
	g.active, g.objects, g.base, g.keptRows, g.changedRows = false, nil, nil, table.RowSet{}, table.RowSet{}
	g.size.Store(0)
}

// unchanged reports whether two objects of one key are the same state of the same object.
func unchanged(a, b object.Object) bool { return a == b || a.GetUID() == b.GetUID() && sameState(a, b) }

// sameState reports whether two objects of one key and uid are the same state. A source may hand
// over the cached object itself (source.ListOptions.Known). A decoded object is compared as a
// whole, because an equal resourceVersion does not prove equal content: the server may have been
// restored from a backup, or the program may have written to a part of a cached object. So a source
// that doubts the cached objects only has to decode all of them; different ones are then replaced
// and reported.
func sameState(a, b object.Object) bool {
	version := b.GetResourceVersion()
	return a.GetResourceVersion() == version && (a == b || version != "" && mutation.Equal(a, b))
}
