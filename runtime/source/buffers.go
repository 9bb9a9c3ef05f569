// SPDX-License-Identifier: Apache-2.0

package source

import (
	"math/bits"
	"sync"
)

// The usual sizes of buffers.
const (
	idleSize  = 1 << 10
	smallSize = 16 << 10
	chunkSize = 64 << 10

	largeSizes = 10 // of buffers that are used again, each twice the one before
	largest    = chunkSize << largeSizes
)

// The buffers that no stream uses at the moment. The garbage collector takes them if none does for
// a while.
var (
	idleBuffers  = sync.Pool{New: func() any { return new([idleSize]byte) }}
	smallBuffers = sync.Pool{New: func() any { return new([smallSize]byte) }}
	chunkBuffers = sync.Pool{New: func() any { return new([chunkSize]byte) }}
	largeBuffers [largeSizes]sync.Pool // of *[]byte; the first are two chunks long
)

// getBuffer returns a buffer with whatever content.
func getBuffer(size int) []byte {
	switch size {
	case idleSize:
		return idleBuffers.Get().(*[idleSize]byte)[:]
	case smallSize:
		return smallBuffers.Get().(*[smallSize]byte)[:]
	case chunkSize:
		return chunkBuffers.Get().(*[chunkSize]byte)[:]
	}
	if p := largePool(size); p != nil {
		if buf, ok := p.Get().(*[]byte); ok {
			return *buf
		}
	}
	return make([]byte, size)
}

// putBuffer takes a buffer that isn't used any more.
func putBuffer(buf []byte) {
	switch size := len(buf); size {
	case idleSize:
		idleBuffers.Put((*[idleSize]byte)(buf))
	case smallSize:
		smallBuffers.Put((*[smallSize]byte)(buf))
	case chunkSize:
		chunkBuffers.Put((*[chunkSize]byte)(buf))
	default:
		if p := largePool(size); p != nil {
			p.Put(&buf)
		}
	}
}

// largePool is where the buffers of a size are that is a power of two and larger than a chunk; nil
// for other sizes.
func largePool(size int) *sync.Pool {
	if size <= chunkSize || size > largest || size&(size-1) != 0 {
		return nil
	}
	return &largeBuffers[bits.Len(uint(size/chunkSize))-2]
}
