// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// formatReader reads the lists, events and values of one format.
type formatReader interface {
	// list reads a whole list. It sets the fields of l as they come, and reads the items by
	// l.stream.run.
	list(l *listReader) error
	events() scanner
	// decoder returns a decoder for the stream, which gives it back by release.
	decoder() decoder
	release(decoder)
}

type scanner interface {
	scan() step
	// broken returns the step for a response that ends with err where scan needs more. A watch may
	// end between events with io.EOF.
	broken(err error) step
}

type step struct {
	result     stepResult
	start, end int        // of an item in the buffer of the feed
	inItem     bool       // err is about an item
	err        error      // of a failure
	key        object.Key // of the failed item, as far as it could be read
	offset     int64      // of the failure in the response
}

type stepResult uint8

const (
	stepIncomplete stepResult = iota // the end of the next item has not arrived
	stepItem                         // a whole item has arrived
	stepEnd                          // there are no more items
	stepFailed                       // the next bytes can't be an item
)

// decoder decodes whole items and events. One goroutine at a time uses it. Its offsets count from
// the beginning of raw.
type decoder interface {
	item(raw []byte, r *Item)
	event(raw []byte, r *Item)
}

// run reads and decodes all items found by sc and calls take with each. It returns an error of take
// unchanged.
func (s *Stream) run(sc scanner, decode func(decoder, []byte, *Item), take func(*Item) error) error {
	var d decoder // nil while the stream waits for the server, so that others can use it
	release := func() {
		if d != nil {
			s.format.release(d)
			d = nil
		}
	}
	defer release()
	var item Item
	for next := sc.scan(); ; {
		switch next.result {
		case stepEnd:
			return nil
		case stepFailed:
			return &scanError{next}
		case stepIncomplete:
			release()
			if err := s.feed.more(); err != nil {
				next = sc.broken(err)
			} else {
				next = sc.scan()
			}
			continue
		}
		if d == nil {
			d = s.format.decoder()
		}
		item = Item{}
		f := s.feed
		decodeAt(d, decode, f.buf[next.start:next.end], f.base+int64(next.start), &item)
		if item.err == nil {
			next = sc.scan()
			item.More = next.result == stepItem
		}
		if err := take(&item); err != nil {
			return err
		}
		if item.Type == deltafifo.Bookmark {
			s.feed.bytesSincePause = 0 // servers send bookmarks when there is nothing else to send
		}
	}
}

// scanError is a failed step as an error. It never leaves the package.
type scanError struct{ step }

func (e *scanError) Error() string { return e.err.Error() }
func (e *scanError) Unwrap() error { return e.err }

func decodeAt(d decoder, decode func(decoder, []byte, *Item), raw []byte, offset int64, r *Item) {
	r.offset = int64(len(raw))
	decode(d, raw, r)
	r.offset += offset
	if r.err != nil {
		relocate(r.err, offset)
	}
}
