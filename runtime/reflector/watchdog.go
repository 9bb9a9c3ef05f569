// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"sync"
	"sync/atomic"
	"time"
)

// watchdog calls bark once if nothing arrives for limit: on the timer's goroutine, or on that of the reader if it was away
// with something that does not count. An arrival costs two atomic writes and a read; the timer is reset only when it fires.
type watchdog struct {
	// Set once at construction.
	limit time.Duration
	bark  func()

	// Atomics: written by the goroutine that reads the stream, read by the timer's; late the other way round.
	last atomic.Int64 // unix nanoseconds
	busy atomic.Bool  // the reader is away with what it has read; its time does not count
	late atomic.Bool  // the timer has fired while the reader was away, who has to look after it

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
	if w.busy.Load() {
		w.late.Store(true)
		if w.busy.Load() {
			return // who comes back sees late
		}
	}
	w.lookLocked()
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

// away says that the reader has got something and is busy with it.
func (w *watchdog) away() { w.busy.Store(true) }

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
	w.busy.Store(false)
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
