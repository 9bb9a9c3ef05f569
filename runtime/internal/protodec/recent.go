// SPDX-License-Identifier: Apache-2.0

package protodec

import (
	"bytes"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
)

// recentSlices holds the last slices of an object. Some slices repeat within an object and nowhere
// else: each container of a Pod mounts a volume whose name is only the Pod's.
type recentSlices struct {
	slices [4]recentSlice
	n      int
}

type recentSlice struct {
	f     *field
	raw   []byte
	field layout.Pointer
}

// find sets the slice at p to an earlier one decoded from the bytes at the start of in, and returns
// their number, or 0.
func (t *recentSlices) find(f *field, p layout.Pointer, in []byte) int {
	for i := range t.slices {
		if w := &t.slices[i]; w.f == f && bytes.HasPrefix(in, w.raw) && !hasTag(in[len(w.raw):], f.tag) {
			*layout.As[layout.Slice](p) = *layout.As[layout.Slice](w.field)
			return len(w.raw)
		}
	}
	return 0
}

func (t *recentSlices) add(f *field, p layout.Pointer, raw []byte) {
	t.slices[t.n%len(t.slices)] = recentSlice{f, raw, p}
	t.n++
}
