// SPDX-License-Identifier: Apache-2.0

package share

import (
	"sync/atomic"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
)

// Part is a value that objects share. It must not change, and is not used any more if it does.
type Part struct {
	// Set once at construction.
	site *site
	raw  string

	checked atomic.Uint64        // the last round in which it was what it should be, or changed
	next    atomic.Pointer[Part] // what followed it last
	epoch   atomic.Uint32        // in which it was used last

	// Set once at construction.
	value    layout.Slice // only Data unless it is a slice
	hash     uint64
	regions  regions
	checksum checksum // of the memory
}

// Len is the length of the bytes that the part was decoded from.
func (p *Part) Len() int { return len(p.raw) }

// Put sets the field of the part's site in an object.
func (p *Part) Put(field layout.Pointer) {
	if p.site.kind == Slice {
		*layout.As[layout.Slice](field) = p.value
	} else {
		*layout.As[layout.Pointer](field) = p.value.Data
	}
}

// begins reports whether the part is the beginning of input, for a site at which bytes say
// themselves where they end.
func (p *Part) begins(input []byte) bool {
	return len(p.raw) <= len(input) && p.raw == string(input[:len(p.raw)])
}

// size is what the part takes, its bytes and its strings included.
func (p *Part) size() int { return partSize + 2*len(p.raw) + p.regions.size }

const partSize = 256
