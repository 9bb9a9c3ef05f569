// SPDX-License-Identifier: Apache-2.0

package share

import (
	"sync/atomic"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
)

// Part is a value shared by objects, unused once it has changed.
type Part struct {
	// Set once at construction.
	site *site
	raw  string

	// the last round in which it was found unchanged, or changedMark
	checkedRound atomic.Uint64
	generation   atomic.Uint32 // the generation of its last use

	// Set once at construction.
	value    layout.Slice // only Data unless it is a slice
	hash     uint64
	regions  regions
	checksum checksum // of regions
}

// Put sets a field at the part's site to the shared value.
func (p *Part) Put(field layout.Pointer) {
	if p.site.form == Slice {
		*layout.As[layout.Slice](field) = p.value
	} else {
		*layout.As[layout.Pointer](field) = p.value.Data
	}
}

func (p *Part) size() int { return partSize + 2*len(p.raw) + p.regions.size }

const partSize = 256
