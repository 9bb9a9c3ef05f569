// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"

	"github.com/informer-gen/informer-gen/runtime/internal/cborwire"
)

// cborFormat reads CBOR (RFC 8949). Lists and events have the same shape as in JSON; a watch is a
// sequence of data items (RFC 8742).
type cborFormat struct {
	s     *Stream
	f     *feed
	frame cborwire.Frame // state of the item that data begins with
}

func newCBORFormat(s *Stream) formatReader { return &cborFormat{s: s, f: s.feed} }

func (c *cborFormat) list(l *listReader) error {
	first, err := c.value()
	if err != nil {
		return cutOff(err)
	}
	seen := map[string]bool{}
	err = c.members(first, "the response", func(name string) (err error) {
		switch name {
		case "kind", "apiVersion", "metadata", "items":
			if seen[name] {
				return errTwoMembers(name)
			}
			seen[name] = true
		}
		switch name {
		case "kind":
			l.kind, err = c.text("the list's kind")
		case "apiVersion":
			l.apiVersion, err = c.text("the list's apiVersion")
		case "metadata":
			l.meta, err = c.listMeta()
		case "items":
			err = c.items(l)
		default:
			_, err = c.next()
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := c.f.need(1); err == nil {
		return fmt.Errorf("%w: a byte %#x after the end of the list", ErrMalformed, c.f.data()[0])
	} else if err != io.EOF {
		return err
	}
	return nil
}

func (c *cborFormat) listMeta() (listMeta, error) {
	raw, err := c.next()
	if err != nil {
		return listMeta{}, err
	}
	var fields map[string]any
	if err := direct.Unmarshal(raw, &fields); err != nil {
		return listMeta{}, fmt.Errorf("the list's metadata: %w", err)
	}
	var meta listMeta
	meta.ResourceVersion, _ = fields["resourceVersion"].(string)
	meta.Continue, _ = fields["continue"].(string)
	return meta, nil
}

func (c *cborFormat) items(l *listReader) error {
	h, err := c.value()
	if err != nil {
		return cutOff(err)
	}
	if h.IsNull() {
		l.items = true
		return nil
	}
	if h.Major != cborwire.Array {
		return fmt.Errorf("%w: the list's items are a CBOR %v, want an array", ErrMalformed, h)
	}
	if err := l.begin(); err != nil {
		return err
	}
	c.frame.Reset()
	return l.stream.run(&cborItems{format: c, head: h}, decoder.item, l.take)
}

// cborItems scans the items of a list.
type cborItems struct {
	format *cborFormat
	head   cborwire.Head // of the array
	n      uint64        // items so far
}

func (c *cborItems) scan() step {
	data := c.format.f.data()
	switch {
	case !c.head.Indefinite && c.n == c.head.Arg:
		return step{result: stepEnd}
	case c.head.Indefinite && len(data) > 0 && data[0] == cborwire.Break:
		c.format.f.pos++
		return step{result: stepEnd}
	}
	st := c.format.whole()
	if st.result == stepItem {
		c.n++
	}
	return st
}

func (c *cborItems) broken(err error) step { return c.format.failed(cutOff(err)) }

func (c *cborFormat) events() scanner { return cborEvents{c} }

// cborEvents scans the events of a watch.
type cborEvents struct{ format *cborFormat }

func (c cborEvents) scan() step {
	if data := c.format.f.data(); len(data) > 0 && data[0] == cborwire.Break {
		return c.format.taken(1) // this is no event; the decoder returns the error
	}
	return c.format.whole()
}

func (c cborEvents) broken(err error) step {
	if len(c.format.f.data()) == 0 && err == io.EOF {
		return step{result: stepEnd}
	}
	return c.format.failed(cutOff(err))
}

// whole finds the end of the next item.
func (c *cborFormat) whole() step {
	n, ok, err := c.frame.End(c.f.data(), maxItem)
	switch {
	case err != nil:
		return c.failed(refused(err))
	case !ok:
		return step{}
	}
	c.frame.Reset()
	return c.taken(n)
}

// taken advances past an item of n bytes.
func (c *cborFormat) taken(n int) step {
	st := step{result: stepItem, start: c.f.pos, end: c.f.pos + n}
	c.f.pos += n
	c.f.used(n)
	return st
}

// failed returns the step of a failure within an item.
func (c *cborFormat) failed(err error) step {
	return step{result: stepFailed, inItem: true, err: err, offset: c.f.base + int64(c.f.end)}
}
