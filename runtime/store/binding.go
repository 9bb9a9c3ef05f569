// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"fmt"
	"slices"

	"github.com/informer-gen/informer-gen/runtime/internal/table"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// binding is an index in one table. old and new are scratch memory of the table's writer.
type binding[K comparable] struct {
	of       *index[K]
	old, new []K
}

func (b *binding[K]) ID() *table.ID { return &b.of.id }

func (b *binding[K]) Check() error { return check(b.of.id.Name, b.of.keys != nil) }

// Changes implements table.Index. If both lists of keys are equal, it boxes none of them.
func (b *binding[K]) Changes(old, obj object.Object, c *table.Changes) {
	b.old, b.new = b.old[:0], b.new[:0]
	if old != nil {
		b.old = b.of.keysOf(old, b.old)
	}
	if obj != nil {
		b.new = b.of.keysOf(obj, b.new)
	}
	if !slices.Equal(b.old, b.new) {
		for _, key := range b.old {
			c.Leave(table.Hash(key), key)
		}
		for _, key := range b.new {
			c.Enter(table.Hash(key), key)
		}
	}
	wipe(b.old) // keeps no memory of an object alive
	wipe(b.new)
}

// wipe clears keys, the usual single key without calling the runtime.
func wipe[K any](keys []K) {
	if len(keys) == 1 {
		var zero K
		keys[0] = zero
		return
	}
	clear(keys)
}

func check(name string, hasKeys bool) error {
	switch {
	case name == "":
		return errors.New("an index has no name; give NewIndex one")
	case !hasKeys:
		return fmt.Errorf("index %q: its key function is nil", name)
	}
	return nil
}
