// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/intake"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// TestAStateReadAnewIsComparedByContent has a source hand over copies of objects with the same uid
// and resourceVersion, in a full state and as events: copies that differ replace the cached objects
// and are reported; for the others, the cached objects stay.
func TestAStateReadAnewIsComparedByContent(t *testing.T) {
	for _, event := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			defer r.start()()
			r.feed("[ =a@1 =b@2 =c@3 ]@3")
			h := record(t)
			r.add(h, lately)
			synctest.Wait()
			h.sees("=a@1 =b@2 =c@3")
			before := r.table.Version()

			other := thing("b@2")
			other.SetLabels(map[string]string{"restored": "true"})
			all := []object.Object{thing("a@1"), other, thing("c@3")}
			r.reader.steps <- func(s *intake.Sink) (err error) {
				if event {
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
			h.sees("~b@2")
			for _, obj := range all {
				key := object.KeyOf(obj)
				was, _ := before.Get(key)
				is, _ := r.table.Version().Get(key)
				if changed := obj == other; (is != was) != changed || changed && is != obj {
					t.Errorf("event %v: %s is replaced: %v", event, key, is != was)
				}
			}
		})
	}
}
