// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"io"
	"math/bits"
	"time"

	"github.com/informer-gen/informer-gen/runtime/internal/share"
)

// bodyReader reads a response and ends one in which an item has no end. An error of the connection
// is a *brokenError, which tells a broken connection from a broken response.
type bodyReader struct {
	r         io.ReadCloser
	limit     int64 // what may be read for one item
	remaining int64 // of the limit, for the item at hand
}

func (b *bodyReader) Read(p []byte) (int, error) {
	if b.remaining <= 0 {
		return 0, fmt.Errorf("%w: %d bytes without an end", ErrMalformed, b.limit)
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.remaining)])
	b.remaining -= int64(n)
	if err != nil && err != io.EOF {
		err = &brokenError{err}
	}
	return n, err
}

// brokenError is an error of the connection.
type brokenError struct{ err error }

func (e *brokenError) Error() string { return e.err.Error() }
func (e *brokenError) Unwrap() error { return e.err }

// pause is how long a read takes that had to wait for the server to have something to say.
const pause = 5 * time.Millisecond

// sizes are those of a stream's buffers. Larger ones are for values that don't fit.
type sizes struct {
	idle  int // of one that waits for something to come
	small int // of one with little to read
	chunk int // of one with much, and of each of those that are decoded ahead
	least int // room that is worth a read
}

// feed is what has been read of a response and is not used up. One goroutine at a time has it.
type feed struct {
	body  *bodyReader
	sizes sizes
	table *share.Table // is told when bytes arrive
	buf   []byte
	pos   int   // buf[pos:end] is at hand
	end   int   // of what has been read
	base  int64 // offset in the response of buf[0]
	err   error // of the body, for good

	large  int          // size of the last value that was larger than a chunk
	burst  int          // bytes that came since the last pause
	paused bool         // the last read took a pause
	turn   func() error // makes room in the place of room, if not nil
}

// data is what is at hand. It is valid until the next call of more.
func (f *feed) data() []byte { return f.buf[f.pos:f.end] }

// offset is the number of bytes before data.
func (f *feed) offset() int64 { return f.base + int64(f.pos) }

// used says that an item of n bytes ends where data begins. The next one may be as long as any.
func (f *feed) used(n int) {
	f.body.remaining = f.body.limit
	if n > f.sizes.chunk {
		f.large = n
	}
}

// more reads more, so that data gets longer. It returns io.EOF at the end of the response.
func (f *feed) more() error {
	if f.err != nil {
		return f.err
	}
	turn := f.turn
	if turn == nil {
		turn = f.room
	}
	if err := turn(); err != nil {
		return err
	}
	before, start := f.end, time.Now()
	for tries := 0; f.err == nil && f.end == before; tries++ {
		var n int
		n, f.err = f.body.Read(f.buf[f.end:])
		f.end += n
		if tries == 100 && n == 0 && f.err == nil {
			f.err = &brokenError{io.ErrNoProgress}
		}
	}
	took := time.Since(start)
	if f.paused = took >= pause; f.paused {
		f.burst = 0
	}
	f.table.Arrived(start.Add(took), f.paused)
	f.burst += f.end - before
	if f.end == before {
		return f.err
	}
	return nil
}

// need reads until there are n bytes at hand. Memory is taken as they come. The end of the response
// is io.EOF if it comes at once.
func (f *feed) need(n int) error {
	for len(f.data()) < n {
		if err := f.more(); err != nil {
			if len(f.data()) > 0 {
				err = cutOff(err)
			}
			return err
		}
	}
	return nil
}

// room makes room for a read behind what is at hand.
func (f *feed) room() error {
	rest := f.data()
	size := len(f.buf)
	switch {
	case len(rest) == 0:
		size = f.usual()
	case size-f.end >= f.sizes.least && size-f.end >= size/4:
		return nil
	case len(rest) > size/2:
		size = f.larger(size + 1)
	default:
		size = max(size, f.usual())
	}
	if size == len(f.buf) {
		copy(f.buf, rest)
		f.move(f.buf)
		return nil
	}
	before, next := f.buf, getBuffer(size)
	copy(next, rest)
	f.move(next)
	putBuffer(before)
	return nil
}

// usual is the size of a buffer for what comes at the moment.
func (f *feed) usual() int {
	switch {
	case f.burst < f.sizes.small:
		return f.sizes.idle
	case f.burst <= 4*f.sizes.small:
		return f.sizes.small
	}
	return f.sizes.chunk
}

// larger is the size of a buffer for least bytes. One that is larger than a chunk has room for the
// last value that didn't fit into a chunk, so that values that are alike aren't copied from buffer
// to buffer while they grow.
func (f *feed) larger(least int) int {
	switch {
	case least <= f.sizes.small:
		return f.sizes.small
	case least <= f.sizes.chunk:
		return f.sizes.chunk
	}
	return 1 << bits.Len(uint(max(least, f.large+f.sizes.least)-1))
}

// move goes on in a buffer that begins with what is at hand.
func (f *feed) move(next []byte) {
	f.base += int64(f.pos)
	f.buf, f.pos, f.end = next, 0, f.end-f.pos
}

// close gives the buffer back.
func (f *feed) close() {
	f.body.r.Close()
	putBuffer(f.buf)
	f.buf, f.pos, f.end = nil, 0, 0
	f.err = io.ErrClosedPipe
}
