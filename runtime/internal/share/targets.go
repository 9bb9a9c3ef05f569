// SPDX-License-Identifier: Apache-2.0

package share

import (
	"sync"
	"sync/atomic"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
)

// targets are numbers, booleans and strings behind pointers of many objects. They are never
// forgotten, so that each can be compared as long as an object may point to it. Beyond a number of
// them, further ones are not shared.
type targets struct {
	mu      sync.Mutex // guards the fields below
	scalars map[scalar]layout.Pointer
	texts   map[string]*string
}

// scalar is a value of up to eight bytes without pointers.
type scalar struct {
	word uint64 // as in memory, from the lowest address on
	size uintptr
}

const maxTargets = 2048 // of each kind

func (s *scalar) is(p layout.Pointer) bool {
	switch w := layout.Of(&s.word); s.size {
	case 1:
		return *layout.As[uint8](p) == *layout.As[uint8](w)
	case 2:
		return *layout.As[uint16](p) == *layout.As[uint16](w)
	case 4:
		return *layout.As[uint32](p) == *layout.As[uint32](w)
	}
	return *layout.As[uint64](p) == s.word
}

func (s *scalar) new() layout.Pointer {
	switch w := layout.Of(&s.word); s.size {
	case 1:
		return layout.Of(new(*layout.As[uint8](w)))
	case 2:
		return layout.Of(new(*layout.As[uint16](w)))
	case 4:
		return layout.Of(new(*layout.As[uint32](w)))
	}
	return layout.Of(new(s.word))
}

func (t *targets) compare(changeCount *atomic.Uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for s, p := range t.scalars {
		if !s.is(p) {
			delete(t.scalars, s)
			changeCount.Add(1)
		}
	}
	for text, p := range t.texts {
		if *p != text {
			delete(t.texts, text)
			changeCount.Add(1)
		}
	}
}

// scalar returns the address of the shared value, or nil if there is no room for it, or if it is
// new and was not seen before.
func (t *targets) scalar(s scalar, seen func() bool, changeCount *atomic.Uint64) layout.Pointer {
	t.mu.Lock()
	defer t.mu.Unlock()
	p, ok := t.scalars[s]
	switch {
	case ok && s.is(p):
		return p
	case ok:
		changeCount.Add(1)
	case len(t.scalars) >= maxTargets, !seen():
		return nil
	case t.scalars == nil:
		t.scalars = map[scalar]layout.Pointer{}
	}
	p = s.new()
	t.scalars[s] = p
	return p
}

func (t *targets) text(s string, changeCount *atomic.Uint64) *string {
	t.mu.Lock()
	defer t.mu.Unlock()
	p, ok := t.texts[s]
	switch {
	case ok && *p == s:
		return p
	case ok:
		changeCount.Add(1)
	case len(t.texts) >= maxTargets:
		return nil
	case t.texts == nil:
		t.texts = map[string]*string{}
	}
	p = new(s)
	t.texts[s] = p
	return p
}

// Scalar returns the address of a shared value of 1, 2, 4 or 8 bytes, or nil if the caller must
// allocate the value itself. word has its bytes from the lowest address on, and zeros after them.
func (f *Finder) Scalar(size uintptr, word uint64) layout.Pointer {
	if f == nil || !f.sharesParts || len(f.enterMarks) > 0 {
		return nil // a future part must not refer to a shared target
	}
	seen := func() bool { return f.table.seenBefore((word ^ word>>32 ^ uint64(size)<<56) * hashFactor) }
	return f.table.targets.scalar(scalar{word, size}, seen, &f.table.changeCount)
}

// Text returns the address of a shared string, or nil if the caller must allocate the string
// itself.
func (f *Finder) Text(s string) *string {
	if f == nil || !f.sharesParts || len(f.enterMarks) > 0 {
		return nil
	}
	return f.table.targets.text(s, &f.table.changeCount)
}
