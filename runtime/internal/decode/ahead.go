// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"errors"
	"runtime"
	"slices"
	"sync"
)

// ahead decodes a stream with several goroutines:
//
//	reader   reads and scans ─▶ jobs, in the stream's order, each some items in one buffer
//	workers  decode the first job that is not begun, and end when there is none,
//	         or when the load is too large
//	caller   hands over decoded items, in order; decodes the first job itself if no worker has
//	         begun it
//
// A job grows until a goroutine begins it. So bytes that have come are decoded at once if a
// goroutine is free, and otherwise wait in jobs that are large enough to be worth a hand-over. The
// buffers in use are bounded, including those of jobs that are decoded but not handed over; at the
// bound the reader waits. When the server makes a pause and everything is handed over, or when
// other streams need the processors, the caller goes on alone.
type ahead struct {
	// Set once at construction.
	stream  *Stream
	scanner scanner
	decode  func(decoder, []byte, *Item)

	// Used by the reader only, until it has ended.
	unsent []span // items that are not in a job yet
	chunk  *chunk // the chunk that these items are in
	alone  bool   // no more helpers: the caller goes on alone

	group sync.WaitGroup // of the reader and the workers

	mu sync.Mutex // guards what follows
	// wakes the caller: the first job is decoded, there is a new job, or the reader has ended
	ready   sync.Cond
	space   sync.Cond // wakes the reader: a buffer is free, or it must stop
	jobs    []*job    // those not handed over, in order
	begun   int       // how many of jobs have been begun
	working int       // workers
	bytes   int       // of all buffers that are in use
	spare   []*job    // finished jobs, for reuse
	stopped bool      // the caller wants nothing more
	ended   bool      // the reader has ended
	last    step      // the step at which the reader has ended
}

// span is where an item is in a buffer.
type span struct{ start, end int }

// chunk is a buffer whose items are in one or more jobs.
type chunk struct {
	buf []byte
	// ahead.mu guards what follows.
	jobs   int  // number of jobs that need it
	reader bool // the reader needs it
}

// job is some items, one after the other in one buffer.
type job struct {
	chunk *chunk
	base  int64 // offset of the buffer in the response
	// ahead.mu guards what follows until a goroutine begins the job. Then it belongs to that
	// goroutine, and when the job is done to the caller.
	spans   []span
	bytes   int
	items   []Item
	failure *failure // nil if decoding has returned normally
	// ahead.mu guards what follows.
	done bool
}

// failure is how a decoding goroutine has ended if it has not returned.
type failure struct {
	reason any // value of its panic; nil for runtime.Goexit
}

// errStopped ends the reader.
var errStopped = errors.New("stopped")

// runAhead continues a stream whose next step is known, until the stream ends or pauses, and
// returns the next step. All goroutines that it has started have ended when it returns.
func (s *Stream) runAhead(c *cursor, take func(*Item) error) (step, error) {
	a := &ahead{stream: s, scanner: c.scanner, decode: c.decode, chunk: &chunk{buf: s.feed.buf, reader: true}, bytes: len(s.feed.buf)}
	a.ready.L, a.space.L = &a.mu, &a.mu
	s.feed.turn = a.turn
	defer a.stop()
	a.group.Go(func() { a.read(c.next) })
	if err := a.handOver(c, take); err != nil {
		return step{}, err
	}
	return a.last, nil
}

// stop ends all goroutines and waits for them.
func (a *ahead) stop() {
	a.mu.Lock()
	wanted := !a.ended
	a.stopped = true
	a.space.Signal()
	a.mu.Unlock()
	if wanted {
		a.stream.body.r.Close() // the reader may be waiting in Read
	}
	a.group.Wait()
	a.stream.feed.turn = nil
	a.stream.feed.burst = 0
}

// handOver runs on the caller's goroutine until the reader has ended and everything is handed over.
func (a *ahead) handOver(c *cursor, take func(*Item) error) error {
	for {
		c.release()
		j, mine := a.first()
		if j == nil {
			return nil
		}
		for i := range j.spans {
			switch {
			case mine:
				a.decodeOne(c.hold(), j, i)
			case j.failure != nil && i == len(j.items)-1:
				j.failure.again()
			}
			r := &j.items[i]
			r.More = i+1 < len(j.spans) || a.another()
			if err := take(r); err != nil {
				return err
			}
		}
		a.handedOver(j)
	}
}

// first waits until the first job is decoded, or begins it; then mine is true. It returns nil at
// the end.
func (a *ahead) first() (j *job, mine bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for {
		switch {
		case len(a.jobs) > 0 && a.jobs[0].done:
			return a.jobs[0], false
		case len(a.jobs) > 0 && a.begun == 0:
			return a.beginLocked(), true
		case len(a.jobs) == 0 && a.ended:
			return nil, false
		}
		a.ready.Wait()
	}
}

// another reports whether there is a job after the first.
func (a *ahead) another() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.jobs) > 1
}

// handedOver removes the first job.
func (a *ahead) handedOver(j *job) {
	clear(j.items)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.jobs = slices.Delete(a.jobs, 0, 1)
	a.begun--
	j.chunk.jobs--
	a.freeLocked(j.chunk)
	*j = job{spans: j.spans[:0], items: j.items[:0]}
	a.spare = append(a.spare, j)
	a.space.Signal()
}

func (a *ahead) freeLocked(c *chunk) {
	if c.jobs == 0 && !c.reader {
		a.bytes -= len(c.buf)
		putBuffer(c.buf)
	}
}

// beginLocked begins the first job that is not begun yet and returns it, or nil if there is none.
func (a *ahead) beginLocked() *job {
	if a.begun == len(a.jobs) {
		return nil
	}
	j := a.jobs[a.begun]
	a.begun++
	return j
}

// work is the goroutine of a worker.
func (a *ahead) work() {
	defer a.stream.codec.tuning.load.removeHelper()
	d := a.stream.format.decoder()
	for {
		a.mu.Lock()
		var j *job
		if !a.stream.codec.tuning.load.overloaded(a.stream.maxLoad) {
			j = a.beginLocked()
		}
		if j == nil || a.stopped {
			a.working--
			a.mu.Unlock()
			a.stream.format.release(d)
			return
		}
		a.mu.Unlock()
		if !a.decodeAll(d, j) {
			return // the decoder is not used again
		}
	}
}

// decodeAll decodes a job; then the job belongs to the caller's goroutine. It returns false if a
// method of the Go type has panicked or ended the goroutine; the caller's goroutine repeats that.
func (a *ahead) decodeAll(d decoder, j *job) (returned bool) {
	defer func() {
		if !returned {
			j.failure = &failure{recover()}
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		j.done = true
		a.ready.Signal()
	}()
	for i := range j.spans {
		a.decodeOne(d, j, i)
	}
	return true
}

func (a *ahead) decodeOne(d decoder, j *job, i int) {
	at := j.spans[i]
	j.items = append(j.items, Item{})
	decodeAt(d, a.decode, j.chunk.buf[at.start:at.end], j.base+int64(at.start), &j.items[i])
}

// again panics, or ends the goroutine, as it happened on the worker's goroutine.
func (f *failure) again() {
	if f.reason == nil {
		runtime.Goexit()
	}
	panic(f.reason)
}

// read is the goroutine of the reader. next is its first step.
func (a *ahead) read(next step) {
	f := a.stream.feed
	quiet := false
	for bytes := 0; ; next = a.scanner.scan() {
		for next.result == stepShort && !quiet && !a.alone {
			bytes = 0
			err := f.more()
			a.stream.addLoad()
			switch {
			case err == errStopped:
				next = step{result: stepEnd}
			case err != nil:
				next = a.scanner.broken(err)
			default:
				quiet = f.paused && a.idle()
				next = a.scanner.scan()
			}
		}
		if next.result != stepItem || quiet || a.alone {
			break
		}
		a.unsent = append(a.unsent, span{next.start, next.end})
		if bytes += next.end - next.start; bytes >= a.stream.codec.tuning.batch {
			a.publish()
			bytes = 0
		}
	}
	a.publish()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended, a.last = true, next
	a.ready.Signal()
}

// idle reports whether every item is handed over.
func (a *ahead) idle() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.jobs) == 0
}

// publish puts the scanned items into a job, and starts a worker if needed and possible.
func (a *ahead) publish() {
	if len(a.unsent) == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	j := a.openLocked()
	j.spans = append(j.spans, a.unsent...)
	for _, s := range a.unsent {
		j.bytes += s.end - s.start
	}
	a.unsent = a.unsent[:0]
	// The caller takes the first job if it is free.
	if len(a.jobs) > 1 && a.working < a.stream.procs-1 {
		if a.stream.codec.tuning.load.addHelper(a.stream.maxLoad) {
			a.working++
			a.group.Go(a.work)
		} else if a.working == 0 {
			a.alone = true
		}
	}
	a.ready.Signal()
}

// openLocked returns the last job if it may grow, else a new one.
func (a *ahead) openLocked() *job {
	if n := len(a.jobs); n > a.begun {
		if j := a.jobs[n-1]; j.chunk == a.chunk && j.bytes < a.stream.codec.tuning.batch {
			return j
		}
	}
	j := &job{}
	if n := len(a.spare); n > 0 {
		j, a.spare = a.spare[n-1], a.spare[:n-1]
	}
	j.chunk, j.base = a.chunk, a.stream.feed.base
	a.chunk.jobs++
	a.jobs = append(a.jobs, j)
	return j
}

// turn is called before each read. It publishes the scanned items, makes room, and removes the
// stream from the load, since the read may wait.
func (a *ahead) turn() error {
	a.publish()
	err := a.room()
	a.stream.dropLoad()
	return err
}

// room makes room for a read.
func (a *ahead) room() error {
	f := a.stream.feed
	rest := f.data()
	if free := len(f.buf) - f.end; free >= f.sizes.least && free >= len(f.buf)/8 {
		return nil
	}
	size := f.sizes.chunk
	if need := 2*len(rest) + f.sizes.least; need > size {
		size = f.larger(need)
	}
	a.mu.Lock()
	for len(a.jobs) > 0 && a.bytes+size > a.stream.codec.tuning.ahead && !a.stopped {
		a.space.Wait()
	}
	if a.stopped {
		a.mu.Unlock()
		return errStopped
	}
	a.bytes += size
	a.mu.Unlock()
	next := &chunk{buf: getBuffer(size), reader: true}
	copy(next.buf, rest)
	f.move(next.buf)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.chunk.reader = false
	a.freeLocked(a.chunk)
	a.chunk = next
	return nil
}
