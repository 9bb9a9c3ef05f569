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
	index            *index[K]
	oldKeys, newKeys []K
}

func (b *binding[K]) ID() *table.ID { return &b.index.id }

func (b *binding[K]) Check() error { return checkIndex(b.index.id.Name, b.index.keys != nil) }

// Changes implements table.Index. If both lists of keys are equal, it boxes none of them.
func (b *binding[K]) Changes(old, obj object.Object, c *table.Changes) {
	b.oldKeys, b.newKeys = b.oldKeys[:0], b.newKeys[:0]
	if old != nil {
		b.oldKeys = b.index.keysOf(old, b.oldKeys)
	}
	if obj != nil {
		b.newKeys = b.index.keysOf(obj, b.newKeys)
	}
	if !slices.Equal(b.oldKeys, b.newKeys) {
		for _, key := range b.oldKeys {
			c.Leave(table.Hash(key), key)
		}
		for _, key := range b.newKeys {
			c.Enter(table.Hash(key), key)
		}
	}
	clearKeys(b.oldKeys) // keeps no memory of an object alive
	clearKeys(b.newKeys)
}

// clearKeys clears keys, the usual single key without calling the runtime.
func clearKeys[K any](keys []K) {
	if len(keys) == 1 {
		var zero K
		keys[0] = zero
		return
	}
	clear(keys)
}

func checkIndex(name string, hasKeys bool) error {
	switch {
	case name == "":
		return errors.New("an index has no name; pass one to NewIndex")
	case !hasKeys:
		return fmt.Errorf("index %q has no key function; pass one to NewIndex", name)
	}
	return nil
}
