// SPDX-License-Identifier: Apache-2.0

package reflector

import "time"

// watchdog calls onSilence, on a goroutine of its own, if nothing arrives for limit. Its methods
// are called by the goroutine that reads the stream.
type watchdog struct {
	limit    time.Duration
	deadline time.Time // with a monotonic clock, so the wall clock may be set
	timer    *time.Timer
}

func newWatchdog(limit time.Duration, onSilence func()) *watchdog {
	return &watchdog{limit: limit, deadline: time.Now().Add(limit), timer: time.AfterFunc(limit, onSilence)}
}

// pause is called while the reader handles an event; that time does not count.
func (w *watchdog) pause() { w.timer.Stop() }

// restart is called when the reader waits again, with a new limit that starts now.
func (w *watchdog) restart(now time.Time) {
	w.deadline = now.Add(w.limit)
	w.timer.Reset(w.limit)
}

// resume is restart after an event that shows no progress: it only adds the time of the pause.
func (w *watchdog) resume(paused time.Duration) {
	w.deadline = w.deadline.Add(paused)
	w.timer.Reset(time.Until(w.deadline))
}

func (w *watchdog) stop() { w.timer.Stop() }
