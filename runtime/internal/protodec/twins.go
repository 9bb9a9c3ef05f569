// SPDX-License-Identifier: Apache-2.0

package protodec

import (
	"bytes"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
)

// twins holds the last slices of an object. Some slices repeat within an object and nowhere else:
// each container of a Pod mounts a volume whose name is only the Pod's.
type twins struct {
	list [4]twin
	n    int
}

type twin struct {
	f     *field
	raw   []byte
	field layout.Pointer
}

// find sets the slice at p to an earlier one decoded from the bytes at the start of in, and returns
// their number, or 0.
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
