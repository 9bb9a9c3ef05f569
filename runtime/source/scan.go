// SPDX-License-Identifier: Apache-2.0

package source

import (
	"github.com/informer-gen/informer-gen/runtime/object"
)

// formatReader knows one format: how a list and a sequence of events are written in it, and how values are
// decoded.
type formatReader interface {
	// list reads a whole list. It sets what the list says of itself as it comes, and has
	// l.stream.run read the items.
	list(l *listReader) error
	// events returns a scanner of the events of a watch.
	events() scanner
	// decoder returns a decoder, which the stream gives back by release.
	decoder() decoder
	release(decoder)
}

// scanner finds the ends of items or events.
type scanner interface {
	// scan finds the next one in what the feed has at hand, and takes it from there.
	scan() step
	// broken says what is wrong with a response that ends where scan needs more, with what error. A
	// watch may end between events with io.EOF.
	broken(err error) step
}

// guesser is a scanner of a format in which to find an end costs about as much as to decode.
type guesser interface {
	// guess decodes the next item without having found its end, if it is likely to be at hand. It
	// returns false if it couldn't, and then scan goes on.
	guess(d decoder, r *reading) bool
}

// step is what a scanner has found.
type step struct {
	result     stepResult
	start, end int        // of an item, in the buffer of the feed
	item       bool       // the error is that of an item
	err        error      // of a failure
	key        object.Key // of the item that failed, as far as it could be read
	offset     int64      // of a failure, in the response
}

type stepResult uint8

const (
	stepShort  stepResult = iota // the end of the next item is not at hand
	stepItem                     // there is an item, whole
	stepEnd                      // there are no more items
	stepFailed                   // what follows can't be an item
)

// decoder decodes items and events, each of which is whole. One goroutine has it. It counts offsets
// from the beginning of raw.
type decoder interface {
	// item decodes an item of a list.
	item(raw []byte, r *reading)
	// event decodes an event of a watch.
	event(raw []byte, r *reading)
}

// reading is what an item or an event was read as.
type reading struct {
	typ              EventType     // of an event
	known            bool          // object is the caller's own
	initialEventsEnd bool          // of a bookmark
	more             bool          // the next one is at hand
	obj              object.Object // nil for a bookmark; with an error it may be incomplete
	id               identity      // with an error as far as it could be read
	err              error
	offset           int64 // in the response: where reading has ended
}

// tuning says how a stream is read and when it is decoded by several goroutines. Results don't
// depend on it.
type tuning struct {
	// goroutines that decode, the caller's included, and those of the crew; 0: as many as run at
	// once, of one stream at most maxProcs
	procs int
	after int // bytes that have to come without a pause before others help
	ahead int // bytes that are held in buffers meanwhile
	batch int // bytes that are worth to be decoded by another goroutine, if it is busy
	sizes sizes
	load  *decodeLoad // of those who share the processors
}

const maxProcs = 4

var defaultTuning = tuning{
	after: 256 << 10, ahead: 8 * chunkSize, batch: 32 << 10,
	sizes: sizes{idle: idleSize, small: smallSize, chunk: chunkSize, least: 4 << 10},
	load:  &processLoad,
}

// run reads what sc finds to its end, and hands each to take. It returns the error of take as it
// is.
func (s *stream) run(sc scanner, decode func(decoder, []byte, *reading), take func(*reading) error) error {
	c := cursor{stream: s, scanner: sc, decode: decode}
	defer c.release()
	defer s.dropLoad()
	c.guesser, _ = sc.(guesser)
	var now, next reading
	for have := false; ; now = next {
		for !have {
			if have = c.read(&now); have {
				break
			}
			switch c.next.result {
			case stepEnd:
				return nil
			case stepFailed:
				return &scanError{c.next}
			}
			s.dropLoad()
			c.release()
			if err := s.feed.more(); err != nil {
				c.next = sc.broken(err)
			}
			s.addLoad()
		}
		have = false
		switch {
		case now.err != nil:
		case s.swamped():
			c.next = sc.scan()
			now.more = c.next.result == stepItem
		default:
			have = c.read(&next)
			now.more = have
		}
		if err := take(&now); err != nil {
			return err
		}
		if now.typ == Bookmark {
			s.feed.burst = 0 // servers send them when there is nothing else
		}
		if !have && now.more {
			var err error
			if c.next, err = s.runAhead(&c, take); err != nil {
				return err
			}
		}
	}
}

// swamped reports whether so much has come without a pause that others are to help, and there is a
// processor to spare.
func (s *stream) swamped() bool {
	return s.procs > 1 && s.feed.burst > s.codec.tuning.after && s.codec.tuning.load.hasRoom(s.maxLoad)
}

// addLoad has the crew count the stream from now on, if there is much to decode.
func (s *stream) addLoad() {
	if !s.counted && s.feed.burst > s.codec.tuning.batch {
		s.counted = true
		s.codec.tuning.load.addStream(s.maxLoad)
	}
}

// leave ends that, before the stream waits for more.
func (s *stream) dropLoad() {
	if s.counted {
		s.counted = false
		s.codec.tuning.load.removeStream()
	}
}

// cursor is where a goroutine is that scans and decodes by turns.
type cursor struct {
	stream  *stream
	scanner scanner
	guesser guesser // nil if the scanner is none
	decode  func(decoder, []byte, *reading)
	decoder decoder // nil while nothing is decoded: who waits for the server has none
	next    step    // what comes next; stepShort if the scanner has to be asked
}

// hold takes a decoder for what is at hand.
func (c *cursor) hold() decoder {
	if c.decoder == nil {
		c.decoder = c.stream.format.decoder()
	}
	return c.decoder
}

// release gives the decoder back.
func (c *cursor) release() {
	if c.decoder != nil {
		c.stream.format.release(c.decoder)
		c.decoder = nil
	}
}

// read decodes the next item if it is at hand.
func (c *cursor) read(r *reading) bool {
	*r = reading{}
	if c.next.result == stepShort {
		if c.guesser != nil && c.guesser.guess(c.hold(), r) {
			return true
		}
		c.next = c.scanner.scan()
	}
	if c.next.result != stepItem {
		return false
	}
	f := c.stream.feed
	decodeAt(c.hold(), c.decode, f.buf[c.next.start:c.next.end], f.base+int64(c.next.start), r)
	c.next = step{}
	return true
}

// scanError is a step that failed. It doesn't leave the package.
type scanError struct{ step }

func (e *scanError) Error() string { return e.err.Error() }
func (e *scanError) Unwrap() error { return e.err }

// decodeAt decodes what stands at an offset in the response.
func decodeAt(d decoder, decode func(decoder, []byte, *reading), raw []byte, offset int64, r *reading) {
	r.offset = int64(len(raw))
	decode(d, raw, r)
	r.offset += offset
	if r.err != nil {
		relocate(r.err, offset)
	}
}
