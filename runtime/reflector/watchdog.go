// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"sync"
	"sync/atomic"
	"time"
)

// watchdog calls bark once if nothing arrives for limit: on the timer's goroutine, or on that of
// the reader if it was away with something that does not count. An arrival costs two atomic writes
// and a read; the timer is reset only when it fires.
type watchdog struct {
	// Set once at construction.
	limit time.Duration
	bark  func()

	// Atomics: written by the goroutine that reads the stream, read by the timer's; late the other
	// way round.
	last   atomic.Int64 // unix nanoseconds
	reader atomic.Int32 // what it does
	late   atomic.Bool  // the timer has fired while the reader was away, who has to look after it

	// mu guards what follows, and the timer against firing while it is being stopped.
	mu      sync.Mutex
	timer   *time.Timer
	stopped bool
	graced  int64 // the last that was too old only because a series has been going on since
}

// What the reader of a stream does.
const (
	waiting   = iota // for the server, since last
	away             // with what it has read; its time does not count
	expecting        // more of a series that has begun after last, and should be at hand
)

func newWatchdog(limit time.Duration, bark func()) *watchdog {
	w := &watchdog{limit: limit, bark: bark}
	w.last.Store(time.Now().UnixNano())
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(limit, w.fire)
	return w
}

func (w *watchdog) fire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	doing := w.reader.Load()
	if doing == away {
		w.late.Store(true)
		if doing = w.reader.Load(); doing == away {
			return // who comes back sees late
		}
	}
	if doing == expecting && w.graced != w.last.Load() {
		w.graceLocked()
	} else {
		w.lookLocked()
	}
}

// lookLocked barks if it is time, and sets the timer if not.
func (w *watchdog) lookLocked() {
	if w.stopped {
		return
	}
	w.late.Store(false)
	if left := w.limit - time.Since(time.Unix(0, w.last.Load())); left > 0 {
		w.timer.Reset(left)
		return
	}
	w.stopped = true
	w.bark()
}

// graceLocked gives a series the whole limit from now on.
func (w *watchdog) graceLocked() {
	if w.stopped {
		return
	}
	w.late.Store(false)
	w.graced = w.last.Load()
	w.timer.Reset(w.limit)
}

// away says that the reader has got something and is busy with it.
func (w *watchdog) away() { w.reader.Store(away) }

// expects says that the reader is back and goes on with a series, without a look at the clock. A
// series ends with back.
func (w *watchdog) expects() {
	w.reader.Store(expecting)
	if w.late.Load() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.graceLocked()
	}
}

// back says that the reader has been waiting again since now.
func (w *watchdog) back(now time.Time) {
	w.last.Store(now.UnixNano())
	w.waits()
}

// backFromNoise says the same about something that does not count: only the time away is added.
func (w *watchdog) backFromNoise(away time.Duration) {
	w.last.Add(int64(away))
	w.waits()
}

func (w *watchdog) waits() {
	w.reader.Store(waiting)
	if w.late.Load() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.lookLocked()
	}
}

// stop ends it; bark is not called afterwards.
func (w *watchdog) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	w.timer.Stop()
}
