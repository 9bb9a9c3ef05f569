// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"fmt"
	"slices"

	"github.com/informer-gen/informer-gen/runtime/internal/table"
)

// Indexer makes a table.Index for one table. store.AnyIndex is one.
type Indexer interface{ Bind() table.Index }

// AddIndexes adds all of the indexes, or returns an error and adds none. It skips existing indexes,
// and takes no lock if all exist. It fills the others on the caller's goroutine, and no stream is
// applied meanwhile. If an index function panics, AddIndexes adds none and panics with the same
// value.
func (in *Intake) AddIndexes(indexes ...Indexer) error {
	if in.hasIndexes(indexes) {
		return nil
	}
	in.writeMu.Lock()
	defer in.writeMu.Unlock()
	added, err := in.checkIndexesLocked(indexes)
	if err != nil || len(added) == 0 {
		return err
	}
	txn := in.table.Begin()
	defer txn.Discard() // does nothing after Publish
	for _, index := range added {
		if err := txn.AddIndex(index); err != nil {
			return err
		}
	}
	in.config.Publish(Publication{txn: txn})
	for _, index := range added {
		index.intake = in
	}
	in.indexes = append(in.indexes, added...)
	return nil
}

// hasIndexes reports whether the table's current version has all of the indexes.
func (in *Intake) hasIndexes(indexes []Indexer) bool {
	version := in.table.Version()
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

// checkIndexesLocked returns the missing indexes, or an error about the first wrong one.
func (in *Intake) checkIndexesLocked(indexes []Indexer) (missing []*guardedIndex, err error) {
	all := slices.Clone(in.indexes)
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
		at := slices.IndexFunc(all, func(other *guardedIndex) bool { return other.ID().Name == bound.ID().Name })
		if at < 0 {
			g := &guardedIndex{Index: bound}
			all = append(all, g)
			missing = append(missing, g)
		} else if all[at].ID() != bound.ID() {
			return nil, fmt.Errorf("two indexes have the name %q", bound.ID().Name)
		}
	}
	return missing, nil
}
