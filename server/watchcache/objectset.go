// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/selection"
)

// objectSet is the objects of a state, with indexes of them: by the values of their fields, and by
// the values of the labels that lists ask for. Like a tree, it is never changed, and a copy is a
// snapshot. An index changes only if a value does.
type objectSet struct {
	objects tree[*Object]
	fields  tree[indexEntry] // field, value and key
	labels  labelIndexes
	copied  int64 // about how much memory the branches take that the last put or remove has copied
}

// indexEntry is an object in an index: a value, and the object's key, with a zero byte before the
// key. So the objects with a value are in the order of their keys. An entry of the fields' index
// begins with the field's name and a zero byte.
type indexEntry string

func (e indexEntry) key() string { return string(e) }

// indexEntryMemory is about how much memory an entry takes besides its key and its value.
const indexEntryMemory = 24

// fieldEntries yields the entries of an object's fields that other has not. Either may be nil.
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

// fieldPrefix returns what the entries of a field's value begin with.
func fieldPrefix(field, value string) string { return field + "\x00" + value + "\x00" }

// objectSetOf returns the set of objects, which must be in order and have different keys, with
// indexes of the labels that another set has indexes of.
func objectSetOf(objects []*Object, other labelIndexes) objectSet {
	var entries []indexEntry
	for _, o := range objects {
		o.fieldEntries(nil, func(e indexEntry) { entries = append(entries, e) })
	}
	slices.Sort(entries)
	s := objectSet{objects: treeOf(objects), fields: treeOf(entries)}
	for _, index := range other {
		s.labels = append(s.labels, labelIndexOf(index.label, s.objects))
	}
	return s
}

// put returns the set with o under its key.
func (s objectSet) put(o *Object) objectSet {
	old := s.objects.get(o.Key)
	s.objects = s.objects.put(o)
	return s.moved(old, o)
}

// remove returns the set without the object under key.
func (s objectSet) remove(key string) objectSet {
	if old := s.objects.get(key); old != nil {
		s.objects = s.objects.remove(key)
		s = s.moved(old, nil)
	}
	return s
}

// moved returns the set with the indexes after a change of an object. Either object may be nil.
func (s objectSet) moved(before, after *Object) objectSet {
	s.copied = s.objects.wayMemory(pointerMemory)
	before.fieldEntries(after, func(e indexEntry) {
		s.fields = s.fields.remove(e.key())
		s.copied += s.fields.wayMemory(stringMemory)
	})
	after.fieldEntries(before, func(e indexEntry) {
		s.fields = s.fields.put(e)
		s.copied += s.fields.wayMemory(stringMemory)
	})
	labels, copied := s.labels.moved(before, after)
	s.labels, s.copied = labels, s.copied+copied
	return s
}

// from yields objects from a key on, in the order of their keys, until yield returns false: all
// that are within the filter's bounds, or only those of them that a search finds, which it returns.
func (s objectSet) from(f *filter, from string, yield func(*Object) bool) search {
	least, to := f.bounds()
	from = max(from, least)
	within := func(key string) bool { return to == "" || key < to }
	by := s.search(f, from, to)
	if !by.indexed {
		s.objects.from(from, func(o *Object) bool { return within(o.Key) && yield(o) })
		return by
	}
	by.index.from(by.prefix+from, func(e indexEntry) bool {
		key, ok := strings.CutPrefix(e.key(), by.prefix)
		if !ok || !within(key) {
			return false
		}
		o := s.objects.get(key)
		return o == nil || yield(o) // none, if a value has a zero byte in it
	})
	return by
}

// search is a way to the objects that a filter may select. The zero search looks at all objects.
type search struct {
	indexed bool
	index   tree[indexEntry]
	prefix  string // of the index's entries
	label   string // of which it is an index; "": of fields
}

// searchCost is how many objects can be looked at in order while one is found by its key.
const searchCost = 8

// search returns the cheapest way to the objects from a key on and before to, if to isn't "".
func (s objectSet) search(f *filter, from, to string) (best search) {
	least := s.objects.between(from, to)
	consider := func(way search) {
		end := way.prefix[:len(way.prefix)-1] + "\x01"
		if to != "" {
			end = way.prefix + to
		}
		if n := searchCost * way.index.between(way.prefix+from, end); n < least {
			best, least = way, n
		}
	}
	for _, r := range f.fields {
		if r.Operator != selection.NotEquals && r.Value != "" {
			consider(search{true, s.fields, fieldPrefix(r.Field, r.Value), ""})
		}
	}
	if f.labels == nil {
		return best
	}
	for _, index := range s.labels {
		if value, ok := f.labels.RequiresExactMatch(index.label); ok {
			consider(search{true, index.entries, value + "\x00", index.label})
		}
	}
	return best
}
