// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"slices"
	"sync"
)

const (
	// maxLabels is how many labels have an index, at most.
	maxLabels = 8
	// indexAfter is when a label gets an index: when requests that require a value of it have
	// looked in vain at that many times the objects that there are. Making the index costs about as
	// much as that.
	indexAfter = 16
	// remembered is how much of what an index has spared counts, likewise. So labels that were
	// asked for once give way to those that are asked for now.
	remembered = 4 * indexAfter
)

// labelUses finds out which labels are worth an index. It counts, for each label that requests
// require a value of, the objects that they look at in vain, or would if there were no index.
//
// It has a few labels only. When there is no room for another one, its count is subtracted from the
// least of theirs, and a label that has nothing left gives way. So labels that are asked for often
// keep their places, and any number of others share the last one.
type labelUses struct {
	mu  sync.Mutex // mu guards all
	all []labelUse // at most maxLabels
}

type labelUse struct {
	label   string
	spared  int
	indexed bool // it has an index, or the one who got true from count is making it
}

// count counts n of objects for a label. It returns true when the caller should make an index of
// the label.
func (u *labelUses) count(label string, n, objects int) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	at := slices.IndexFunc(u.all, func(use labelUse) bool { return use.label == label })
	if at < 0 {
		if n = u.makeRoom(n); n == 0 {
			return false
		}
		at = len(u.all)
		u.all = append(u.all, labelUse{label: label})
	}
	use := &u.all[at]
	use.spared = min(use.spared+n, remembered*objects)
	if use.indexed || use.spared < indexAfter*objects {
		return false
	}
	use.indexed = true
	return true
}

// makeRoom makes room for a label that has a count of n. It returns what is left of n, 0 if that is
// not enough.
func (u *labelUses) makeRoom(n int) int {
	if len(u.all) < maxLabels {
		return n
	}
	least := 0
	for i := range u.all {
		if u.all[i].spared < u.all[least].spared {
			least = i
		}
	}
	if u.all[least].spared > n {
		u.all[least].spared -= n
		return 0
	}
	n -= u.all[least].spared
	u.all = slices.Delete(u.all, least, least+1)
	return n
}

// worth returns the indexes of labels that are still counted.
func (u *labelUses) worth(indexes labelIndexes) labelIndexes {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(indexes), func(l labelIndex) bool {
		return !slices.ContainsFunc(u.all, func(use labelUse) bool { return use.label == l.label && use.indexed })
	})
}

// countLabels counts objects for the labels that a filter requires, if it was their indexes that
// spared looking at them, or could have been. It may make an index, which takes some hundred
// nanoseconds for each object of the cache.
func (c *Cache) countLabels(f *filter, by search, objects int) {
	h := c.head.Load()
	if f.labels == nil || objects <= 0 || h == nil {
		return
	}
	count := func(label string) {
		if c.labels.count(label, objects, h.state.objects.len()) {
			c.indexLabel(label)
		}
	}
	if by.indexed {
		if by.label != "" {
			count(by.label)
		}
		return
	}
	required, _ := f.labels.Requirements()
	if len(required) > fewRequirements {
		return // counting them all would cost more than an index spares
	}
	for i := range required {
		label := required[i].Key()
		// an index that there is by now is one that was of no use
		if _, one := f.labels.RequiresExactMatch(label); one && !h.state.labels.has(label) {
			count(label)
		}
	}
}

// indexLabel makes an index of a label. The next states have it too. Changes wait only while those
// are put in that came while the index was made.
func (c *Cache) indexLabel(label string) {
	before := c.head.Load()
	if before == nil {
		return
	}
	index := labelIndexOf(label, before.state.objects)

	c.writing.Lock()
	defer c.writing.Unlock()
	now := c.head.Load()
	if now == nil || now.state.labels.has(label) {
		return
	}
	before.state.objects.diff(now.state.objects, func(before, after *Object) { index, _ = index.moved(before, after) })
	next := *now
	next.state.labels = c.labels.worth(append(slices.Clip(now.state.labels), index))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.head.Store(&next)
}
