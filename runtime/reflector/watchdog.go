// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"sync"
	"sync/atomic"
	"time"
)

// watchdog calls bark once, on the timer's goroutine, if nothing arrives for limit. An arrival costs two atomic writes;
// the timer is reset only when it fires.
type watchdog struct {
	// Set once at construction.
	limit time.Duration
	bark  func()

	// Atomics: written by the goroutine that reads the stream, read by the timer's.
	last atomic.Int64 // unix nanoseconds
	busy atomic.Bool  // the reader is away with what it has read; its time does not count

	// mu guards the timer against firing while it is being stopped.
	mu      sync.Mutex
	timer   *time.Timer
	stopped bool
}

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
	if w.stopped {
		return
	}
	left := w.limit - time.Since(time.Unix(0, w.last.Load()))
	switch {
	case w.busy.Load():
		w.timer.Reset(w.limit)
	case left > 0:
		w.timer.Reset(left)
	default:
		w.stopped = true
		w.bark()
	}
}

// away says that the reader has got something and is busy with it.
func (w *watchdog) away() { w.busy.Store(true) }

// back says that the reader has been waiting again since now.
func (w *watchdog) back(now time.Time) {
	w.last.Store(now.UnixNano())
	w.busy.Store(false)
}

// backFromNoise says the same about something that does not count: only the time away is added.
func (w *watchdog) backFromNoise(away time.Duration) {
	w.last.Add(int64(away))
	w.busy.Store(false)
}

// stop ends it; bark is not called afterwards.
func (w *watchdog) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	w.timer.Stop()
}
