// SPDX-License-Identifier: Apache-2.0

package reflector

import "time"

// watchdog calls bark, on a goroutine of its own, if nothing arrives for limit. Its methods are
// called by the goroutine that reads the stream.
type watchdog struct {
	limit time.Duration
	due   time.Time // when it barks; with a monotonic clock, so the wall clock may be set
	timer *time.Timer
}

func newWatchdog(limit time.Duration, bark func()) *watchdog {
	return &watchdog{limit: limit, due: time.Now().Add(limit), timer: time.AfterFunc(limit, bark)}
}

// away notes that the reader is busy with something it has read; that time does not count.
func (w *watchdog) away() { w.timer.Stop() }

// back notes that the reader has been waiting again since now.
func (w *watchdog) back(now time.Time) {
	w.due = now.Add(w.limit)
	w.timer.Reset(w.limit)
}

// backFromNoise is like back after something that does not count: it only adds the time away.
func (w *watchdog) backFromNoise(away time.Duration) {
	w.due = w.due.Add(away)
	w.timer.Reset(time.Until(w.due))
}

func (w *watchdog) stop() { w.timer.Stop() }
