// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"runtime"
	"slices"
	"sync"
)

// ahead decodes a stream with several goroutines:
//
//	reader   reads and scans ─▶ jobs, in the stream's order, each some items in one buffer
//	workers  take the first job that nobody has begun, and end when there is none, or when the crew is too large
//	caller   hands over what is decoded, in order; decodes the first job itself if nobody has begun it
//
// A job grows until somebody begins it. So what has come is decoded at once if there is somebody to
// do it, and else waits in jobs that are worth the hand-over. The buffers that are in use are
// bounded, jobs that are decoded and not handed over included; at the bound the reader waits. When
// the server makes a pause and everything is handed over, or when other streams need the
// processors, the caller goes on alone.
type ahead struct {
	// Set once at construction.
	stream  *stream
	scanner scanner
	decode  func(decoder, []byte, *reading)

	// The reader's, until it has ended.
	unsent []span // not in a job yet
	chunk  *chunk // what they are in
	alone  bool   // nobody may help any more

	group sync.WaitGroup // of the reader and the workers

	mu sync.Mutex // guards what follows
	// of the caller: the first job is decoded, or there is a new one, or the reader has ended
	ready   sync.Cond
	space   sync.Cond // of the reader: a buffer is free, or it is to stop
	jobs    []*job    // in order: those not handed over
	begun   int       // of them
	working int       // workers
	bytes   int       // of all buffers that are in use
	spare   []*job    // to be used again
	stopped bool      // nothing more is wanted
	ended   bool      // the reader has
	last    step      // what the reader has ended with
}

// span is the place of an item in a buffer.
type span struct{ start, end int }

// chunk is a buffer that jobs have parts of.
type chunk struct {
	buf []byte
	// ahead.mu guards what follows.
	jobs   int  // that need it
	reader bool // needs it
}

// job is some items, one after the other in one buffer.
type job struct {
	chunk *chunk
	base  int64 // offset of the buffer in the response
	// ahead.mu guards what follows until somebody begins the job. It is theirs then, and the
	// caller's when it is done.
	spans    []span
	bytes    int
	readings []reading
	failure  *failure // nil if the decoding goroutine has returned
	// ahead.mu guards what follows.
	done bool
}

// failure is what a goroutine that decodes has ended with, other than by returning.
type failure struct {
	reason any // of its panic; nil: runtime.Goexit
}

// errStopped tells the reader that nothing more is wanted.
var errStopped = errors.New("stopped")

// runAhead goes on with a stream whose next step is known, until it has ended or become quiet, and
// returns the step to go on with. All goroutines that it has started have ended when it returns.
func (s *stream) runAhead(c *cursor, take func(*reading) error) (step, error) {
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
		a.stream.body.r.Close() // the reader may be waiting for it
	}
	a.group.Wait()
	a.stream.feed.turn = nil
	a.stream.feed.burst = 0
}

// handOver is what the caller does until the reader has ended and everything is handed over.
func (a *ahead) handOver(c *cursor, take func(*reading) error) error {
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
			case j.failure != nil && i == len(j.readings)-1:
				j.failure.again()
			}
			r := &j.readings[i]
			r.more = i+1 < len(j.spans) || a.another()
			if err := take(r); err != nil {
				return err
			}
		}
		a.handedOver(j)
	}
}

// first waits for the first job to be decoded, or begins with it itself; mine is true then. It
// returns nil at the end.
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

// handedOver takes the first job away.
func (a *ahead) handedOver(j *job) {
	clear(j.readings)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.jobs = slices.Delete(a.jobs, 0, 1)
	a.begun--
	j.chunk.jobs--
	a.freeLocked(j.chunk)
	*j = job{spans: j.spans[:0], readings: j.readings[:0]}
	a.spare = append(a.spare, j)
	a.space.Signal()
}

func (a *ahead) freeLocked(c *chunk) {
	if c.jobs == 0 && !c.reader {
		a.bytes -= len(c.buf)
		putBuffer(c.buf)
	}
}

// beginLocked begins with the first job that nobody has begun, nil if there is none.
func (a *ahead) beginLocked() *job {
	if a.begun == len(a.jobs) {
		return nil
	}
	j := a.jobs[a.begun]
	a.begun++
	return j
}

// work is a worker.
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
			return // and nobody uses the decoder again
		}
	}
}

// decodeAll decodes a job, which is the caller's then. It returns false if a type's own method has
// panicked or ended its goroutine, which will happen to the caller.
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
	j.readings = append(j.readings, reading{})
	decodeAt(d, a.decode, j.chunk.buf[at.start:at.end], j.base+int64(at.start), &j.readings[i])
}

// again ends the goroutine as another one was ended.
func (f *failure) again() {
	if f.reason == nil {
		runtime.Goexit()
	}
	panic(f.reason)
}

// read is the reader. It begins with a step that is known.
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

// idle reports whether everything that was found is handed over.
func (a *ahead) idle() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.jobs) == 0
}

// publish makes jobs of what was found, and has somebody do them.
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
	// The first job is the caller's if it has nothing else to do.
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

// turn is called before each read. It gives away what was found, makes room, and says that the
// stream may have to wait.
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
