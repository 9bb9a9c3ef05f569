// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"slices"

	"github.com/informer-gen/informer-gen/runtime/internal/table"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// AddIndexes adds all of the indexes, or returns an error and adds none. It skips indexes that the
// informer already has; if it has all of them, AddIndexes takes no lock. It fills the others on the
// caller's goroutine, and no stream is applied meanwhile. If an index function panics, AddIndexes
// adds none and panics with the same value.
func (i *Informer) AddIndexes(indexes ...Indexer) error {
	if i.broken != nil {
		return i.broken
	}
	if i.published(indexes) {
		return nil
	}
	i.writing.Lock()
	defer i.writing.Unlock()
	added, err := i.checkIndexesLocked(indexes)
	if err != nil || len(added) == 0 {
		return err
	}
	i.functions.Store(true)
	txn := i.table.Begin()
	defer txn.Discard() // does nothing after Publish
	for _, index := range added {
		if err := txn.AddIndex(index); err != nil {
			return err
		}
	}
	txn.Publish()
	for _, index := range added {
		index.informer = i
	}
	i.indexes = append(i.indexes, added...)
	return nil
}

// published reports whether the table's current version has all of the indexes.
func (i *Informer) published(indexes []Indexer) bool {
	version := i.table.Version()
	return !slices.ContainsFunc(indexes, func(index Indexer) bool {
		if index == nil {
			return true
		}
		bound := index.Bind()
		if bound == nil {
			return true
		}
		_, has := version.IndexKeys(bound.ID())
		return !has
	})
}

// checkIndexesLocked returns the indexes that the table lacks, or an error about the first wrong
// one.
func (i *Informer) checkIndexesLocked(indexes []Indexer) (lacking []*guarded, err error) {
	all := slices.Clone(i.indexes)
	for n, index := range indexes {
		var bound table.Index
		if index != nil {
			bound = index.Bind()
		}
		if bound == nil {
			return nil, fmt.Errorf("index %d is nil", n+1)
		}
		if err := bound.Check(); err != nil {
			return nil, err
		}
		at := slices.IndexFunc(all, func(other *guarded) bool { return other.ID().Name == bound.ID().Name })
		if at < 0 {
			g := &guarded{Index: bound}
			all = append(all, g)
			lacking = append(lacking, g)
		} else if all[at].ID() != bound.ID() {
			return nil, fmt.Errorf("two indexes have the name %q", bound.ID().Name)
		}
	}
	return lacking, nil
}

// --- private from here ---

// guarded is an index whose function may panic. An object for which it panics has no keys in this
// index; lookups that don't use the index find it. The panic is reported.
type guarded struct {
	table.Index

	// informer is nil while the index is being added: then a panic reaches the caller of
	// AddIndexes. Informer.writing guards it.
	informer *Informer
}

// Changes calls the index. If the index's function panics, Changes calls it again for each of the
// two states, so that the keys of the state for which it does not panic are right.
func (g *guarded) Changes(old, obj object.Object, c *table.Changes) {
	if g.informer == nil {
		g.Index.Changes(old, obj, c)
		return
	}
	if g.try(old, obj, c, false) {
		return
	}
	c.Reset()
	if old != nil {
		g.try(old, nil, c, false) // if this panics, it did so when old was stored, too
	}
	if obj != nil {
		g.try(nil, obj, c, true)
	}
}

// try calls the index, and reports whether its function has returned. A panic is reported if tell
// is true. If the function calls runtime.Goexit, try doesn't return.
func (g *guarded) try(old, obj object.Object, c *table.Changes, tell bool) (ok bool) {
	defer func() {
		if reason := recover(); reason != nil && tell {
			err := fmt.Errorf("informer %s: the function of index %q panicked for %s, which this index lacks now: %w",
				g.informer.config.Name, g.ID().Name, object.KeyOf(obj), panicError(reason))
			g.informer.reports = append(g.informer.reports, report{err, stack()})
		}
	}()
	g.Index.Changes(old, obj, c)
	return true
}

// report is an error that the user gets once the locks are released.
type report struct {
	err   error
	stack string
}
