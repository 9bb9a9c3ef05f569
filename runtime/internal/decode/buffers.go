// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"math/bits"
	"sync"
)

// Usual sizes.
const (
	idleSize  = 512
	smallSize = 16 << 10
	chunkSize = 64 << 10

	numLargeSizes = 10 // number of larger pooled sizes, each twice the one before
	maxPooledSize = chunkSize << numLargeSizes
)

// Idle buffers. The garbage collector frees them if they stay unused.
var (
	idleBuffers  = sync.Pool{New: func() any { return new([idleSize]byte) }}
	smallBuffers = sync.Pool{New: func() any { return new([smallSize]byte) }}
	chunkBuffers = sync.Pool{New: func() any { return new([chunkSize]byte) }}
	largeBuffers [numLargeSizes]sync.Pool // of *[]byte; the first are two chunks long
)

// getBuffer returns a buffer of any content.
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

func largePool(size int) *sync.Pool {
	if size <= chunkSize || size > maxPooledSize || size&(size-1) != 0 {
		return nil
	}
	return &largeBuffers[bits.Len(uint(size/chunkSize))-2]
}
