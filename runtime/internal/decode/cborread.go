// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"fmt"

	"github.com/informer-gen/informer-gen/runtime/internal/cborwire"
)

// head reads the head of an item. It returns io.EOF only at the end of the stream.
func (c *cborFormat) head() (cborwire.Head, error) {
	for size := 1; ; size++ {
		if err := c.f.need(size); err != nil {
			return cborwire.Head{}, err
		}
		h, ok, err := cborwire.HeadOf(c.f.data())
		if ok {
			c.f.pos += h.Size
		}
		if ok || err != nil {
			return h, refused(err)
		}
	}
}

// value reads the head of the next item, and the tags before it. It returns io.EOF only at the end
// of the stream.
func (c *cborFormat) value() (cborwire.Head, error) {
	for n := 0; ; n++ {
		h, err := c.head()
		if n > 0 {
			err = cutOff(err)
		}
		switch {
		case err != nil || h.Major != cborwire.Tag:
			return h, err
		case n == cborwire.MaxDepth:
			return h, refused(cborwire.ErrDepth)
		}
	}
}

// members reads a map whose head is h. It calls member after each name; member must read the value.
func (c *cborFormat) members(h cborwire.Head, what string, member func(name string) error) error {
	if h.Major != cborwire.Map {
		return fmt.Errorf("%w: %s is a CBOR %v, want a map", ErrMalformed, what, h)
	}
	for n := uint64(0); h.Indefinite || n < h.Arg; n++ {
		if h.Indefinite {
			if done, err := c.skipBreak(); done || err != nil {
				return err
			}
		}
		name, err := c.text("a name")
		if err != nil {
			return err
		}
		if err := member(name); err != nil {
			return err
		}
	}
	return nil
}

// skipBreak reports whether the next byte is a break, which ends an item of indefinite length, and
// skips it if so.
func (c *cborFormat) skipBreak() (bool, error) {
	if err := c.f.need(1); err != nil {
		return false, cutOff(err)
	}
	if c.f.data()[0] != cborwire.Break {
		return false, nil
	}
	c.f.pos++
	return true, nil
}

// text reads a text or byte string, or null as "".
func (c *cborFormat) text(what string) (string, error) {
	h, err := c.value()
	if err != nil {
		return "", cutOff(err)
	}
	if h.IsNull() {
		return "", nil
	}
	if h.Major != cborwire.Bytes && h.Major != cborwire.Text {
		return "", fmt.Errorf("%w: %s is a CBOR %v, want a text", ErrMalformed, what, h)
	}
	if !h.Indefinite {
		return c.piece(h)
	}
	var text []byte
	for {
		chunk, err := c.head()
		if err != nil {
			return "", cutOff(err)
		}
		if chunk.IsBreak() {
			return string(text), nil
		}
		if chunk.Major != h.Major || chunk.Indefinite {
			return "", fmt.Errorf("%w: a CBOR %v in the middle of a %v", ErrMalformed, chunk, h)
		}
		piece, err := c.piece(chunk)
		if err != nil {
			return "", err
		}
		text = append(text, piece...)
	}
}

// piece reads the bytes after the head of a string of definite length.
func (c *cborFormat) piece(h cborwire.Head) (string, error) {
	if err := checkSize(h.Arg); err != nil {
		return "", err
	}
	if err := c.f.need(int(h.Arg)); err != nil {
		return "", cutOff(err)
	}
	text := string(c.f.data()[:h.Arg])
	c.f.pos += int(h.Arg)
	return text, nil
}

// next reads a whole item.
func (c *cborFormat) next() ([]byte, error) {
	c.frame.Reset()
	for {
		data := c.f.data()
		n, ok, err := c.frame.End(data, maxItem)
		switch {
		case err != nil:
			return nil, refused(err)
		case ok:
			c.f.pos += n
			return data[:n], nil
		}
		if err := c.f.more(); err != nil {
			return nil, cutOff(err)
		}
	}
}
