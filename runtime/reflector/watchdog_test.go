// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestWatchdogBarksAfterItsLimit has a limit of ten seconds; each case says when it barks, 0 for
// never.
func TestWatchdogBarksAfterItsLimit(t *testing.T) {
	at := func(start time.Time, seconds float64) {
		time.Sleep(time.Until(start.Add(time.Duration(seconds * float64(time.Second)))))
	}
	for name, tc := range map[string]struct {
		reader func(*watchdog, time.Time)
		barks  time.Duration
	}{
		"nothing": {func(*watchdog, time.Time) {}, 10 * time.Second},
		"arrivals": {func(w *watchdog, start time.Time) {
			for _, s := range []float64{4, 13, 14} {
				at(start, s)
				w.back(time.Now())
			}
		}, 24 * time.Second},
		"long away": {func(w *watchdog, start time.Time) {
			at(start, 1)
			w.away()
			at(start, 35)
			w.back(time.Now())
		}, 45 * time.Second},
		"noise": {func(w *watchdog, start time.Time) {
			for s := 1.0; s < 9; s++ {
				at(start, s)
				w.away()
				w.backFromNoise(0)
			}
		}, 10 * time.Second},
		"away with noise while the timer fires": {func(w *watchdog, start time.Time) {
			at(start, 9)
			w.away()
			at(start, 12)
			w.backFromNoise(3 * time.Second)
		}, 13 * time.Second},
		"away with noise for no time while the timer fires": {func(w *watchdog, start time.Time) {
			at(start, 9.5)
			w.away()
			at(start, 11)
			w.backFromNoise(0)
		}, 11 * time.Second},
		"a series": {func(w *watchdog, start time.Time) {
			at(start, 4)
			for range 100 {
				w.away()
				w.back(time.Now())
			}
			w.back(time.Now())
		}, 14 * time.Second},
		"a series that does not end": {func(w *watchdog, start time.Time) {
			at(start, 9)
			w.away()
			w.back(time.Now())
		}, 19 * time.Second},
		"long away in a series": {func(w *watchdog, start time.Time) {
			at(start, 9)
			w.away()
			w.back(time.Now())
			w.away()
			at(start, 55)
			w.back(time.Now())
			at(start, 56)
			w.away()
			w.back(time.Now())
		}, 66 * time.Second},
		"stopped in a series": {func(w *watchdog, start time.Time) {
			at(start, 9)
			w.away()
			w.back(time.Now())
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
				var barked []time.Duration
				w := newWatchdog(10*time.Second, func() { barked = append(barked, time.Since(start)) })
				tc.reader(w, start)
				time.Sleep(time.Minute)
				w.stop()
				synctest.Wait()
				if tc.barks == 0 && len(barked) != 0 || tc.barks != 0 && (len(barked) != 1 || barked[0] != tc.barks) {
					t.Errorf("barked after %v, want %v", barked, tc.barks)
				}
			})
		})
	}
}
