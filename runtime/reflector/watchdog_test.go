// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestWatchdogLimit has a limit of ten seconds. fires is the time of the call; 0 means never.
func TestWatchdogLimit(t *testing.T) {
	at := func(start time.Time, seconds float64) {
		time.Sleep(time.Until(start.Add(time.Duration(seconds * float64(time.Second)))))
	}
	for name, tc := range map[string]struct {
		reader func(*watchdog, time.Time)
		fires  time.Duration
	}{
		"nothing": {func(*watchdog, time.Time) {}, 10 * time.Second},
		"arrivals": {func(w *watchdog, start time.Time) {
			for _, s := range []float64{4, 13, 14} {
				at(start, s)
				w.restart(time.Now())
			}
		}, 24 * time.Second},
		"long pause": {func(w *watchdog, start time.Time) {
			at(start, 1)
			w.pause()
			at(start, 35)
			w.restart(time.Now())
		}, 45 * time.Second},
		"events without progress": {func(w *watchdog, start time.Time) {
			for s := 1.0; s < 9; s++ {
				at(start, s)
				w.pause()
				w.resume(0)
			}
		}, 10 * time.Second},
		"pause without progress while the timer fires": {func(w *watchdog, start time.Time) {
			at(start, 9)
			w.pause()
			at(start, 12)
			w.resume(3 * time.Second)
		}, 13 * time.Second},
		"empty pause without progress while the timer fires": {func(w *watchdog, start time.Time) {
			at(start, 9.5)
			w.pause()
			at(start, 11)
			w.resume(0)
		}, 11 * time.Second},
		"a series": {func(w *watchdog, start time.Time) {
			at(start, 4)
			for range 100 {
				w.pause()
				w.restart(time.Now())
			}
			w.restart(time.Now())
		}, 14 * time.Second},
		"a series that does not end": {func(w *watchdog, start time.Time) {
			at(start, 9)
			w.pause()
			w.restart(time.Now())
		}, 19 * time.Second},
		"long pause in a series": {func(w *watchdog, start time.Time) {
			at(start, 9)
			w.pause()
			w.restart(time.Now())
			w.pause()
			at(start, 55)
			w.restart(time.Now())
			at(start, 56)
			w.pause()
			w.restart(time.Now())
		}, 66 * time.Second},
		"stopped in a series": {func(w *watchdog, start time.Time) {
			at(start, 9)
			w.pause()
			w.restart(time.Now())
			w.stop()
		}, 0},
		"stopped": {func(w *watchdog, start time.Time) {
			at(start, 9)
			w.stop()
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				var fired []time.Duration
				w := newWatchdog(10*time.Second, func() { fired = append(fired, time.Since(start)) })
				tc.reader(w, start)
				time.Sleep(time.Minute)
				w.stop()
				synctest.Wait()
				if tc.fires == 0 && len(fired) != 0 || tc.fires != 0 && (len(fired) != 1 || fired[0] != tc.fires) {
					t.Errorf("fired after %v, want %v", fired, tc.fires)
				}
			})
		})
	}
}
