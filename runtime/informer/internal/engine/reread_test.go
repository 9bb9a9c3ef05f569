// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/intake"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// TestRereadStateIsComparedByContent sends copies of objects with the same uid and resourceVersion,
// in a full state and as events. A copy that differs replaces the cached object and is an update.
// In place of an equal copy, the cached object stays.
func TestRereadStateIsComparedByContent(t *testing.T) {
	for _, asEvents := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			defer r.start()()
			r.feed("[ =a@1 =b@2 =c@3 ]@3")
			h := newRecorder(t)
			r.add(h, handlerConfig)
			synctest.Wait()
			h.wantEvents("=a@1 =b@2 =c@3")
			before := r.table.Version()

			other := newObject("b@2")
			other.SetLabels(map[string]string{"restored": "true"})
			all := []object.Object{newObject("a@1"), other, newObject("c@3")}
			r.reader.steps <- func(s *intake.Sink) (err error) {
				if asEvents {
					for _, obj := range all {
						err = errors.Join(err, s.Update(obj))
					}
					return err
				}
				err = s.BeginReplace()
				for _, obj := range all {
					err = errors.Join(err, s.Replace(obj))
				}
				return errors.Join(err, s.EndReplace("3"))
			}
			synctest.Wait()
			h.wantEvents("~b@2")
			for _, obj := range all {
				key := object.KeyOf(obj)
				old, _ := before.Get(key)
				stored, _ := r.table.Version().Get(key)
				if changed := obj == other; (stored != old) != changed || changed && stored != obj {
					t.Errorf("as events: %v: %s is replaced: %v, want %v", asEvents, key, stored != old, changed)
				}
			}
		})
	}
}
