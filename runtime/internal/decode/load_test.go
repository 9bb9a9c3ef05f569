// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/runtime/internal/podtest"
)

// twoProcessors decodes some objects ahead, with a load of at most two goroutines.
func twoProcessors(c *decodeLoad) tuning {
	return tuning{procs: 2, ahead: 60_000, batch: 5000, sizes: sizes{idle: 4000, small: 8000, chunk: 20_000, least: 1000}, load: c}
}

// helped reports whether the callback that calls it gets what others may have decoded.
func helped() bool { return strings.Contains(string(debug.Stack()), "(*ahead).handOver") }

// TestStreamsShareTheProcessors: a stream gets helpers when it was alone for a while, and loses
// them when another stream comes. No event is lost.
func TestStreamsShareTheProcessors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c decodeLoad
		c.addStream(2)
		c.addStream(2) // two other streams
		n, before, between, after := 0, 0, 0, 0
		count := func(of *int) {
			if helped() {
				*of++
			}
		}
		err := said(t, newTalk(manyEvents(600)), twoProcessors(&c)).Watch(t.Context(), Promises{ReadOnly: true}, func(e Event[*corev1.Pod]) error {
			if n++; e.Object.Name != fmt.Sprint("web-", n) {
				return fmt.Errorf("event %d is of %s", n, e.Object.Name)
			}
			if n > 400 {
				synctest.Wait() // for the helper's end; the reader then gets no further ahead
			}
			switch {
			case n < 200:
				count(&before)
			case n == 200:
				c.removeStream()
				c.removeStream()
				time.Sleep(quietPeriod)
			case n == 400:
				c.addStream(2)
				c.addStream(2)
			case n < 400:
				count(&between)
			case n >= 500: // what was decoded ahead is handed over
				count(&after)
			}
			return nil
		})
		if err != nil || n != 600 {
			t.Errorf("%d events of 600, %v", n, err)
		}
		if before > 0 || between < 150 || after > 0 {
			t.Errorf("helped with %d events while two others came, with %d of 199 while there was no other, and with %d when two others had come again", before, between, after)
		}
		c.removeStream()
		c.removeStream()
		if c.streams.Load() != 0 || c.helpers.Load() != 0 {
			t.Errorf("%d streams and %d helpers are counted when none is left", c.streams.Load(), c.helpers.Load())
		}
	})
}

// TestOneStreamHasHelpersFromPageToPage: the helpers of the previous page don't count as another
// stream that has needed the processors.
func TestOneStreamHasHelpersFromPageToPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c decodeLoad
		for page := range 3 {
			n := 0
			s := said(t, newTalk(podtest.LargeList(200)), twoProcessors(&c))
			_, err := s.List(t.Context(), Promises{}, func(*corev1.Pod) error {
				if helped() {
					n++
				}
				return nil
			})
			if err != nil || n < 150 {
				t.Errorf("page %d: helped with %d of 200 objects, %v", page, n, err)
			}
		}
	})
}

// TestNoStreamIsCountedAfterItsEnd, whatever its end is.
func TestNoStreamIsCountedAfterItsEnd(t *testing.T) {
	enough := errors.New("enough")
	for name, stop := range map[string]func(context.CancelCauseFunc) error{
		"error":  func(context.CancelCauseFunc) error { return enough },
		"cancel": func(cancel context.CancelCauseFunc) error { cancel(enough); return nil },
		"panic":  func(context.CancelCauseFunc) error { panic(enough) },
		"end":    func(context.CancelCauseFunc) error { return nil },
	} {
		for _, room := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				var c decodeLoad
				if !room {
					c.addStream(1)
				}
				func() {
					defer func() { _ = recover() }()
					ctx, cancel := context.WithCancelCause(t.Context())
					defer cancel(nil)
					n := 0
					_ = said(t, newTalk(manyEvents(300)), twoProcessors(&c)).Watch(ctx, Promises{}, func(Event[*corev1.Pod]) error {
						if n++; n == 150 {
							return stop(cancel)
						}
						return nil
					})
				}()
				if !room {
					c.removeStream()
				}
				if c.streams.Load() != 0 || c.helpers.Load() != 0 {
					t.Errorf("%s: %d streams and %d helpers are counted after the end", name, c.streams.Load(), c.helpers.Load())
				}
			})
		}
	}
}
