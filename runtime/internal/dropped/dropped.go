// SPDX-License-Identifier: Apache-2.0

// Package dropped names the parts of metadata that are not decoded.
package dropped

import (
	"fmt"
	"maps"
	"slices"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// Parts are the parts left out of an object. The zero value leaves out nothing.
type Parts struct {
	ManagedFields bool
	// by key; if all are left out, the object has no annotations; must not be changed any more
	Annotations map[string]bool
}

// New returns the Parts with managedFields, if true, and annotations by key.
func New(managedFields bool, annotations []string) Parts {
	p := Parts{ManagedFields: managedFields}
	for _, key := range annotations {
		if p.Annotations == nil {
			p.Annotations = map[string]bool{}
		}
		p.Annotations[key] = true
	}
	return p
}

// None reports whether nothing is left out.
func (p *Parts) None() bool { return !p.ManagedFields && p.Annotations == nil }

// String returns a text that is equal for equal Parts only.
func (p *Parts) String() string {
	return fmt.Sprintf("managedFields: %v, annotations: %q", p.ManagedFields, slices.Sorted(maps.Keys(p.Annotations)))
}

// From removes the parts from a decoded object, for decoders that can't skip them. An object whose
// accessors panic has no metadata.
func (p *Parts) From(obj object.Object) {
	defer func() { _ = recover() }()
	if p.ManagedFields {
		obj.SetManagedFields(nil)
	}
	if p.Annotations == nil {
		return
	}
	kept := obj.GetAnnotations()
	before := len(kept)
	for key := range p.Annotations {
		delete(kept, key)
	}
	if len(kept) == 0 && before > 0 {
		kept = nil
	}
	if len(kept) != before {
		obj.SetAnnotations(kept)
	}
}
