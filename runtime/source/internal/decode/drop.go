// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"github.com/informer-gen/informer-gen/runtime/object"
)

// dropped lists the parts of an object's own metadata that are not decoded. The zero value drops
// nothing.
type dropped struct {
	managedFields bool
	annotations   map[string]bool // by key
}

func newDropped(opts Options) dropped {
	d := dropped{managedFields: opts.DropManagedFields}
	for _, key := range opts.DropAnnotations {
		if d.annotations == nil {
			d.annotations = map[string]bool{}
		}
		d.annotations[key] = true
	}
	return d
}

func (d *dropped) nothing() bool { return !d.managedFields && d.annotations == nil }

// from removes the parts from a decoded object, for decoders that can't skip them.
func (d *dropped) from(obj object.Object) {
	defer func() { _ = recover() }() // see readMeta
	if d.managedFields {
		obj.SetManagedFields(nil)
	}
	if d.annotations == nil {
		return
	}
	kept := obj.GetAnnotations()
	before := len(kept)
	for key := range d.annotations {
		delete(kept, key)
	}
	if len(kept) == 0 && before > 0 {
		kept = nil
	}
	if len(kept) != before {
		obj.SetAnnotations(kept)
	}
}
