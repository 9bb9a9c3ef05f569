// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"sync"
	"sync/atomic"
	"time"
)

// watchdog calls bark once if nothing arrives for limit. It calls it on the timer's goroutine, or
// on the reader's goroutine if that was busy with something that does not count. An arrival costs
// two atomic writes and a read; the timer is reset only when it fires.
type watchdog struct {
	// Set once at construction.
	limit time.Duration
	bark  func()
	made  time.Time // points in time are durations since then, so that the wall clock may be set

	// Atomics: the reader's goroutine writes them, and the timer's reads them; late is the other
	// way round.
	last   atomic.Int64 // nanoseconds since made
	reader atomic.Int32 // what the reader does
	late   atomic.Bool  // the timer has fired while the reader was away, so the reader has to look

	// mu guards what follows. It also keeps the timer from firing while it is being stopped.
	mu      sync.Mutex
	timer   *time.Timer
	stopped bool
	graced  int64 // the last arrival that was too old only because a series has been going on since
}

// What the reader of a stream does:
const (
	waiting   = iota // waiting for the server, since last
	away             // busy with what it has read; the time does not count
	expecting        // expecting more of a series that has begun after last, and should be at hand
)

func newWatchdog(limit time.Duration, bark func()) *watchdog {
	w := &watchdog{limit: limit, bark: bark, made: time.Now(), graced: -1}
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
			return // the reader sees late when it is back
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
	if left := w.limit - time.Since(w.made) + time.Duration(w.last.Load()); left > 0 {
		w.timer.Reset(left)
		return
	}
	w.stopped = true
	w.bark()
}

// graceLocked gives a series the full limit from now on.
func (w *watchdog) graceLocked() {
	if w.stopped {
		return
	}
	w.late.Store(false)
	w.graced = w.last.Load()
	w.timer.Reset(w.limit)
}

// away notes that the reader has read something and is busy with it.
func (w *watchdog) away() { w.reader.Store(away) }

// expects notes that the reader is back and goes on with a series. It does not read the clock. A
// series ends with back.
func (w *watchdog) expects() {
	w.reader.Store(expecting)
	if w.late.Load() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.graceLocked()
	}
}

// back notes that the reader is waiting again, since now, which has a monotonic clock.
func (w *watchdog) back(now time.Time) {
	w.last.Store(int64(now.Sub(w.made)))
	w.waits()
}

// backFromNoise does the same after something that does not count: it only adds the time away.
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

// stop ends the watchdog; bark is not called afterwards.
func (w *watchdog) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	w.timer.Stop()
}
