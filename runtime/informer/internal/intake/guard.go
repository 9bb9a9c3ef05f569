// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"fmt"
	"runtime/debug"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/outcome"
	"github.com/informer-gen/informer-gen/runtime/internal/table"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// guardedIndex is an index whose function may panic. The panic is reported, and its object has no
// keys in this index. Lookups that don't use the index find the object.
type guardedIndex struct {
	table.Index

	// intake is nil while the index is being added: then a panic reaches the caller of AddIndexes.
	// Intake.writeMu guards it.
	intake *Intake
}

// Changes calls the index. If the index's function panics, Changes calls it again for each of the
// two states, so that the keys of a state without a panic are right.
func (g *guardedIndex) Changes(old, obj object.Object, c *table.Changes) {
	if g.intake == nil {
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
	if obj != nil && !g.try(nil, obj, c, true) {
		c.DropEnters()
	}
}

// try calls the index, and reports whether its function has returned. It reports a panic if report
// is true. If the function calls runtime.Goexit, try doesn't return.
func (g *guardedIndex) try(old, obj object.Object, c *table.Changes, report bool) (ok bool) {
	defer func() {
		if recovered := recover(); recovered != nil && report {
			err := fmt.Errorf("informer %s: the function of index %q panicked for %s, so the index lacks this object: %w",
				g.intake.config.Name, g.ID().Name, object.KeyOf(obj), outcome.Panic(recovered))
			g.intake.panics = append(g.intake.panics, indexPanic{err, stack()})
		}
	}()
	g.Index.Changes(old, obj, c)
	return true
}

// indexPanic is a panic to report to the user once the locks are released.
type indexPanic struct {
	err   error
	stack string
}

func stack() string { return string(debug.Stack()) }
