// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"runtime"
	"testing"
	"testing/synctest"
)

// TestOnlyAFullBatchStartsAnApplier has a stream meet another goroutine that is writing, with one
// change and with a full batch of them.
func TestOnlyAFullBatchStartsAnApplier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer r.start()()
		r.feed("[ =a@1 ]@1")
		r.reader.steps <- func(s *sink) error {
			r.writing.Lock()
			go func() {
				for range 100 { // until long after the reader has seen that it has to wait
					runtime.Gosched()
				}
				r.writing.Unlock()
			}()
			if err := say(s, "~a@2"); err != nil {
				return err
			}
			err := s.Flush()
			if s.fifo != nil {
				t.Error("an applier was started for one change")
			}
			return err
		}
		synctest.Wait()
		r.reader.steps <- func(s *sink) error {
			r.writing.Lock()
			defer r.writing.Unlock()
			for range atOnce {
				if err := say(s, "~a@3"); err != nil {
					return err
				}
			}
			if s.queued != atOnce {
				t.Error("a full batch was not queued")
			}
			return nil
		}
		synctest.Wait()
		r.want("a@3 at 3")
	})
}
