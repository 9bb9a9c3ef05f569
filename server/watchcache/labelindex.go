// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"maps"
	"slices"
)

// labelIndexes are indexes of objects, one for each of a few labels. They are never changed.
type labelIndexes []labelIndex

// labelIndex has the objects that have a label, by its value. It is never changed.
type labelIndex struct {
	label   string
	entries tree[indexEntry] // value and key
	bytes   int64            // about how much memory the entries take
}

// labelIndexOf returns the index of a label.
func labelIndexOf(label string, objects tree[*Object]) labelIndex {
	index := labelIndex{label: label}
	byValue := map[string][]indexEntry{} // so that there is little left to sort
	objects.from("", func(o *Object) bool {
		if value, ok := o.label(label); ok {
			e := labelEntry(value, o)
			byValue[value] = append(byValue[value], e)
			index.bytes += e.memory()
		}
		return true
	})
	var entries []indexEntry
	for _, value := range slices.Sorted(maps.Keys(byValue)) {
		entries = append(entries, byValue[value]...)
	}
	slices.Sort(entries)
	index.entries = treeOf(entries)
	return index
}

func labelEntry(value string, o *Object) indexEntry { return indexEntry(value + "\x00" + o.Key) }

func (e indexEntry) memory() int64 { return indexEntryMemory + int64(len(e)) }

// moved returns the index after a change of an object, and about how much memory the branches take
// that it has copied. Either object may be nil.
func (l labelIndex) moved(before, after *Object) (now labelIndex, copied int64) {
	old, had := before.label(l.label)
	value, has := after.label(l.label)
	if had == has && old == value {
		return l, 0
	}
	if had {
		e := labelEntry(old, before)
		l.entries = l.entries.remove(e.key())
		l.bytes -= e.memory()
		copied += l.entries.wayMemory(stringMemory)
	}
	if has {
		e := labelEntry(value, after)
		l.entries = l.entries.put(e)
		l.bytes += e.memory()
		copied += l.entries.wayMemory(stringMemory)
	}
	return l, copied
}

// labelIndexMemory is how much memory a labelIndex takes besides its entries.
const labelIndexMemory = 32

// moved returns the indexes after a change of an object, and about how much memory that takes which
// it has copied. Either object may be nil.
func (all labelIndexes) moved(before, after *Object) (now labelIndexes, copied int64) {
	now = all
	for i, index := range all {
		moved, more := index.moved(before, after)
		if moved == index {
			continue
		}
		if copied += more; &now[0] == &all[0] {
			now = slices.Clone(all)
			copied += int64(len(all)) * labelIndexMemory
		}
		now[i] = moved
	}
	return now, copied
}

func (all labelIndexes) has(label string) bool {
	return slices.ContainsFunc(all, func(l labelIndex) bool { return l.label == label })
}

// memory returns about how many bytes of memory the indexes take.
func (all labelIndexes) memory() (n int64) {
	for _, l := range all {
		n += l.bytes
	}
	return n
}
