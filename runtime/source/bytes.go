// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bufio"
	"fmt"
	"io"
	"slices"
)

const (
	// maxItem is the size of one object or event that nobody means. What a server stores is a hundred times smaller.
	maxItem = 256 << 20
	// maxFrame is the size of such an event in a format that says it beforehand. Four bytes of text in the place of a size are more.
	maxFrame = 16 << 20
	// keepBuffer is the size up to which a buffer is used again for the next object.
	keepBuffer = 1 << 20
	// firstRead is what is read at once on a length's word.
	firstRead = 32 << 10
)

// byteReader reads a binary format and counts.
type byteReader struct {
	r *bufio.Reader
	n int64 // bytes read
}

func newByteReader(r io.Reader) byteReader { return byteReader{r: bufio.NewReaderSize(r, 16<<10)} }

// ReadByte returns io.EOF at the end.
func (b *byteReader) ReadByte() (byte, error) {
	c, err := b.r.ReadByte()
	if err == nil {
		b.n++
	}
	return c, err
}

// append reads n bytes to the end of dst. Memory is taken as bytes arrive, not as they are promised.
func (b *byteReader) append(dst []byte, n uint64) ([]byte, error) {
	if n > maxItem {
		return dst, fmt.Errorf("%w: %d bytes in one piece, more than %d", ErrMalformed, n, maxItem)
	}
	for n > 0 {
		at := len(dst)
		step := int(min(n, uint64(max(at, firstRead))))
		dst = slices.Grow(dst, step)[:at+step]
		m, err := io.ReadFull(b.r, dst[at:])
		b.n += int64(m)
		if err != nil {
			return dst[:at+m], cutOff(err)
		}
		n -= uint64(step)
	}
	return dst, nil
}

// skip passes over n bytes.
func (b *byteReader) skip(n uint64) error {
	for n > 0 {
		m, err := b.r.Discard(int(min(n, 1<<30)))
		b.n += int64(m)
		if err != nil {
			return cutOff(err)
		}
		n -= uint64(m)
	}
	return nil
}

// cutOff is the error of a stream that ends within a value.
func cutOff(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// reuse returns the buffer, empty, for the next value.
func reuse(buf []byte) []byte {
	if cap(buf) > keepBuffer {
		return nil
	}
	return buf[:0]
}
