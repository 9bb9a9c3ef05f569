// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"strings"

	"k8s.io/apimachinery/pkg/selection"

	"github.com/informer-gen/informer-gen/internal/btree"
)

// objectSet is the objects of a state, ordered by key, with an index by the values of their fields.
// The index changes only if a value does. A set is immutable.
type objectSet struct {
	objects     btree.Tree[string, objectEntry]
	fields      btree.Tree[string, indexEntry] // field, value and key
	copiedBytes int64                          // approximate, by the last put or remove
}

type objectEntry struct{ *Object }

// Key implements [btree.Entry].
func (k objectEntry) Key() string { return k.Object.Key }

// indexEntry is an entry of the index: field name, value, and object key, separated by zero bytes.
// So the objects with a value are ordered by key.
type indexEntry string

// Key implements [btree.Entry].
func (e indexEntry) Key() string { return string(e) }

// Memory of a tree for each entry, in bytes.
const (
	pointerMemory = 8
	stringMemory  = 16
)

// fieldEntries yields the index entries of o's fields that other lacks. Either may be nil.
func (o *Object) fieldEntries(other *Object, yield func(indexEntry)) {
	if o == nil {
		return
	}
	for _, p := range o.Fields {
		if other != nil {
			if value, ok := other.Fields.Lookup(p.Name); ok && value == p.Value {
				continue
			}
		}
		yield(indexEntry(fieldPrefix(p.Name, p.Value) + o.Key))
	}
}

func fieldPrefix(field, value string) string { return field + "\x00" + value + "\x00" }

// buildOwner owns the nodes of a set under construction. Other changes have no owner.
const buildOwner = 1

// objectSetOf returns the set of objects, which must be sorted and have different keys.
func objectSetOf(objects []*Object) (s objectSet) {
	s.objects = treeOf(objects)
	for _, o := range objects {
		o.fieldEntries(nil, func(e indexEntry) { s.fields.Set(buildOwner, e) })
	}
	return s
}

func treeOf(objects []*Object) (t btree.Tree[string, objectEntry]) {
	for _, o := range objects {
		t.Set(buildOwner, objectEntry{o})
	}
	return t
}

func (s objectSet) get(key string) *Object {
	k, _ := s.objects.Get(key)
	return k.Object
}

// countBetween returns the number of objects with from <= key < to; an empty to means no end.
func (s objectSet) countBetween(from, to string) int { return countBetween(s.objects, from, to) }

func countBetween[E btree.Entry[string]](t btree.Tree[string, E], from, to string) int {
	end := t.Len()
	if to != "" {
		end = t.Rank(to)
	}
	return max(0, end-t.Rank(from))
}

// diff calls visit with each object that differs between the sets, in key order: before is its
// state in s, after in u, or nil.
func (s objectSet) diff(u objectSet, visit func(before, after *Object)) {
	btree.Diff(s.objects, u.objects, func(before, after objectEntry) { visit(before.Object, after.Object) })
}

func (s objectSet) put(o *Object) objectSet {
	old := s.get(o.Key)
	s.objects.Set(0, objectEntry{o})
	return s.reindex(old, o)
}

func (s objectSet) remove(key string) objectSet {
	if old := s.get(key); old != nil {
		s.objects.Delete(0, key)
		s = s.reindex(old, nil)
	}
	return s
}

// reindex returns the set with its index updated for a changed object. Either object may be nil.
func (s objectSet) reindex(before, after *Object) objectSet {
	s.copiedBytes = s.objects.CopiedBytes(pointerMemory, stringMemory)
	before.fieldEntries(after, func(e indexEntry) {
		s.fields.Delete(0, e.Key())
		// half, since Set replaces the rest
		s.copiedBytes += s.fields.CopiedBytes(stringMemory, stringMemory) / 2
	})
	after.fieldEntries(before, func(e indexEntry) {
		s.fields.Set(0, e)
		s.copiedBytes += s.fields.CopiedBytes(stringMemory, stringMemory)
	})
	return s
}

// scan yields objects in key order, beginning at a key, until yield returns false: all objects
// within the filter's bounds, or only those with a required field value if that is cheaper.
func (s objectSet) scan(f *filter, from string, yield func(*Object) bool) {
	lowest, to := f.bounds()
	from = max(from, lowest)
	inBounds := func(key string) bool { return to == "" || key < to }
	prefix := s.cheapestPrefix(f, from, to)
	if prefix == "" {
		s.objects.From(from, func(o objectEntry) bool { return inBounds(o.Key()) && yield(o.Object) })
		return
	}
	s.fields.From(prefix+from, func(e indexEntry) bool {
		key, ok := strings.CutPrefix(e.Key(), prefix)
		if !ok || !inBounds(key) {
			return false
		}
		o := s.get(key)
		return o == nil || yield(o) // nil if a value contains a zero byte
	})
}

// searchCost is the cost of finding an object by key, in objects visited in order.
const searchCost = 8

// cheapestPrefix returns the prefix of the index entries that find the objects with from <= key <
// to at the least cost. An empty to means no end. It returns "" if a scan of all objects is
// cheapest.
func (s objectSet) cheapestPrefix(f *filter, from, to string) (best string) {
	cost := s.countBetween(from, to)
	for _, r := range f.fields {
		if r.Operator == selection.NotEquals || r.Value == "" {
			continue
		}
		prefix := fieldPrefix(r.Field, r.Value)
		end := prefix[:len(prefix)-1] + "\x01"
		if to != "" {
			end = prefix + to
		}
		if n := searchCost * countBetween(s.fields, prefix+from, end); n < cost {
			best, cost = prefix, n
		}
	}
	return best
}
