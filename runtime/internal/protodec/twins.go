// SPDX-License-Identifier: Apache-2.0

package protodec

import (
	"bytes"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
)

// twins are the slices that were decoded last for an object. Some repeat within it and nowhere else: each container of a Pod mounts a
// volume whose name is only the Pod's.
type twins struct {
	list [4]twin
	n    int
}

type twin struct {
	f     *field
	raw   []byte
	field layout.Pointer
}

// find sets the slice at p if the object has one from the bytes at the beginning of the input, and returns how many these are.
func (t *twins) find(f *field, p layout.Pointer, in []byte) int {
	for i := range t.list {
		if w := &t.list[i]; w.f == f && bytes.HasPrefix(in, w.raw) && !hasTag(in[len(w.raw):], f.tag) {
			*layout.As[layout.Slice](p) = *layout.As[layout.Slice](w.field)
			return len(w.raw)
		}
	}
	return 0
}

func (t *twins) add(f *field, p layout.Pointer, raw []byte) {
	t.list[t.n%len(t.list)] = twin{f, raw, p}
	t.n++
}

// numbers are what pointers to numbers point to, if equal parts are shared. The last number of each place in the table is kept.
type numbers struct {
	bools [2]*bool
	short [16]*int32
	long  [16]*int64
}

// share sets the pointer at p to a number or a bool.
func (n *numbers) share(f *field, p layout.Pointer, in []byte) bool {
	v, size := uvarint(in)
	switch f.kind {
	case kindBool:
		*layout.As[*bool](p) = shared(&n.bools[min(v, 1)], v != 0)
	case kindInt32:
		*layout.As[*int32](p) = shared(&n.short[v%16], int32(v))
	case kindInt64:
		*layout.As[*int64](p) = shared(&n.long[v%16], int64(v))
	}
	return size > 0
}

func shared[T comparable](known **T, v T) *T {
	if *known == nil || **known != v {
		*known = &v
	}
	return *known
}
