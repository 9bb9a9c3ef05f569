// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"context"
	"fmt"
	"io"
	"math/bits"
	"time"

	"github.com/informer-gen/informer-gen/runtime/internal/share"
)

// bodyReader reads a response. It fails if an item is longer than the limit, and once ctx is done:
// the transport may still have much to unpack. An error of the connection or of ctx becomes a
// *BrokenError, unlike errors of the response itself.
type bodyReader struct {
	ctx       context.Context
	r         io.ReadCloser
	limit     int64 // maximum bytes for one item
	remaining int64 // bytes of the limit left for the current item
}

func (b *bodyReader) Read(p []byte) (int, error) {
	if b.remaining <= 0 {
		return 0, fmt.Errorf("%w: a value does not end within %d bytes", ErrMalformed, b.limit)
	}
	if b.ctx.Err() != nil {
		return 0, &BrokenError{context.Cause(b.ctx)}
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.remaining)])
	b.remaining -= int64(n)
	if err != nil && err != io.EOF {
		err = &BrokenError{err}
	}
	return n, err
}

// minPause is the minimum duration of a read that counts as a pause of the server.
const minPause = 5 * time.Millisecond

type bufferSizes struct {
	idle    int // of a waiting stream
	small   int // of a stream with little to read
	chunk   int // of a stream with much to read
	minRead int // the minimum room for a read
}

var defaultSizes = bufferSizes{idle: idleSize, small: smallSize, chunk: chunkSize, minRead: 4 << 10}

type feed struct {
	body    *bodyReader
	sizes   bufferSizes
	table   *share.Table // notified when bytes arrive
	buf     []byte
	pos     int   // buf[pos:end] is not scanned yet
	end     int   // end of the bytes read
	base    int64 // offset in the response of buf[0]
	readErr error // the body's last error; final

	lastLarge       int // size of the last value larger than a chunk
	bytesSincePause int // bytes since the last pause
}

// data returns the unscanned bytes. It is valid until the next call of more.
func (f *feed) data() []byte { return f.buf[f.pos:f.end] }

func (f *feed) offset() int64 { return f.base + int64(f.pos) }

// itemEnded records that an item of n bytes ends where data begins, and resets the limit for the
// next item.
func (f *feed) itemEnded(n int) {
	f.body.remaining = f.body.limit
	if n > f.sizes.chunk {
		f.lastLarge = n
	}
}

// more reads once, adding to data. It returns io.EOF at the end of the response.
func (f *feed) more() error {
	if f.readErr != nil {
		return f.readErr
	}
	f.makeRoom()
	before, start := f.end, time.Now()
	for tries := 0; f.readErr == nil && f.end == before; tries++ {
		var n int
		n, f.readErr = f.body.Read(f.buf[f.end:])
		f.end += n
		if tries == 100 && n == 0 && f.readErr == nil {
			f.readErr = &BrokenError{io.ErrNoProgress}
		}
	}
	took := time.Since(start)
	if took >= minPause {
		f.bytesSincePause = 0
	}
	f.table.BytesArrived(start.Add(took), took >= minPause)
	f.bytesSincePause += f.end - before
	if f.end == before {
		return f.readErr
	}
	return nil
}

// need reads until data has n bytes, allocating memory as they arrive. It returns io.EOF if the
// response ends before the first of them.
func (f *feed) need(n int) error {
	for len(f.data()) < n {
		if err := f.more(); err != nil {
			if len(f.data()) > 0 {
				err = unexpectedEOF(err)
			}
			return err
		}
	}
	return nil
}

func (f *feed) makeRoom() {
	rest := f.data()
	size := len(f.buf)
	switch {
	case len(rest) == 0:
		size = f.usualSize()
	case size-f.end >= f.sizes.minRead && size-f.end >= size/4:
		return
	case len(rest) > size/2:
		size = f.largerSize(size + 1)
	default:
		size = max(size, f.usualSize())
	}
	if size == len(f.buf) {
		copy(f.buf, rest)
		f.move(f.buf)
		return
	}
	before, next := f.buf, getBuffer(size)
	copy(next, rest)
	f.move(next)
	putBuffer(before)
}

func (f *feed) usualSize() int {
	switch {
	case f.bytesSincePause < f.sizes.small:
		return f.sizes.idle
	case f.bytesSincePause <= 4*f.sizes.small:
		return f.sizes.small
	}
	return f.sizes.chunk
}

// largerSize returns the size of a buffer for at least size bytes. Beyond a chunk, it also has room
// for the last value that didn't fit into a chunk, so that similar values aren't copied from buffer
// to buffer while they arrive.
func (f *feed) largerSize(size int) int {
	switch {
	case size <= f.sizes.small:
		return f.sizes.small
	case size <= f.sizes.chunk:
		return f.sizes.chunk
	}
	return 1 << bits.Len(uint(max(size, f.lastLarge+f.sizes.minRead)-1))
}

// move replaces the buffer by next, which begins with a copy of data.
func (f *feed) move(next []byte) {
	f.base += int64(f.pos)
	f.buf, f.pos, f.end = next, 0, f.end-f.pos
}

func (f *feed) close() {
	f.body.r.Close()
	putBuffer(f.buf)
	f.buf, f.pos, f.end = nil, 0, 0
	f.readErr = io.ErrClosedPipe
}
