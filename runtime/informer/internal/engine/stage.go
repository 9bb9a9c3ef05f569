// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/mutation"
	"github.com/informer-gen/informer-gen/runtime/internal/table"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// fullState is a full state, in parts, which are not copied when it grows.
type fullState [][]object.Object

// tombstone stands for an object that was deleted while the full state was read.
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

// stage adds deltas to the staged full state, until that is complete or aborted.
func (s *stream) stage() {
	for n := range s.rest {
		switch d := &s.rest[n]; d.Type {
		case deltafifo.ReplaceStarted:
			s.unstage()
			s.staging = true
			s.stagings++
			if s.HasSynced() {
				s.base = s.informer.table.Version()
			}
		case deltafifo.ReplaceAborted:
			s.unstage()
			s.rest = s.rest[n+1:]
			return
		case deltafifo.ReplaceEnded:
			s.rest = s.rest[n:]
			return
		case deltafifo.Added, deltafifo.Modified, deltafifo.Replaced:
			s.stageObject(d.Object)
		case deltafifo.Deleted:
			if _, at := s.base.Find(object.KeyOf(d.Object)); at != 0 {
				s.touched.Add(at)
			}
			s.staged.add(tombstone{d.Object})
		}
	}
	s.rest = nil
	s.stagedLen.Store(s.staged.len() + int64(s.kept.Len()))
}

// stageObject stages an object. If the object has not changed, it marks the one in the table
// instead, and keeps nothing of obj. Only the stream itself changes its objects in the table, so
// base and the table have the same ones.
func (s *stream) stageObject(obj object.Object) {
	own, at := s.base.Find(object.KeyOf(obj))
	switch {
	case at == 0:
	case same(own, obj) && !s.touched.Has(at):
		s.kept.Add(at)
		return
	default:
		s.touched.Add(at)
	}
	s.staged.add(obj)
}

// unstage drops what is staged.
func (s *stream) unstage() {
	s.staging, s.staged, s.base, s.kept, s.touched = false, nil, nil, table.RowSet{}, table.RowSet{}
	s.stagedLen.Store(0)
}

// same reports whether two objects of one key are the same state of the same object.
func same(a, b object.Object) bool { return a == b || a.GetUID() == b.GetUID() && sameState(a, b) }

// sameState reports whether two objects of one key and uid are the same state. A source may
// hand over the cached object itself instead of decoding it again (source.ListOptions.Known). An
// object that the source has decoded is compared as a whole, because an equal uid and
// resourceVersion do not prove equal content: the server may have been restored from a backup, or
// the program may have written to a part of a cached object. So a source that doubts the cached
// objects only has to decode all of them. Those that differ are then replaced and reported.
func sameState(a, b object.Object) bool {
	version := b.GetResourceVersion()
	return a.GetResourceVersion() == version && (a == b || version != "" && mutation.Equal(a, b))
}
