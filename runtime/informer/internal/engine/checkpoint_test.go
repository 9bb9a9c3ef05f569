// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"iter"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/checkpoint"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// memoryFile is a StateFile in memory. It has what was written, in the form of rig.stored.
type memoryFile struct {
	objects  []string
	version  string
	writes   int
	advances int
}

func (*memoryFile) Path() string { return "memory" }

func (*memoryFile) Read(func(object.Object) error) (checkpoint.State, error) {
	return checkpoint.State{}, nil
}

func (f *memoryFile) Write(state checkpoint.State, all iter.Seq[object.Object]) (checkpoint.State, error) {
	f.objects, f.version = nil, state.ResourceVersion
	for obj := range all {
		f.objects = append(f.objects, show(obj))
	}
	f.writes++
	return state, nil
}

func (f *memoryFile) Advance(state checkpoint.State) (bool, error) {
	f.version = state.ResourceVersion
	f.advances++
	return true, nil
}

func (f *memoryFile) stored() string {
	slices.Sort(f.objects)
	return strings.Join(f.objects, " ") + " at " + f.version
}

// TestAStateIsSavedBetweenAChangeAndItsPublication saves a state while a change is in the next
// version, which no reader sees yet. The file lacks the change then. So it must be written anew
// when the change is published: a later version is not true of its objects.
func TestAStateIsSavedBetweenAChangeAndItsPublication(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := &memoryFile{}
		r := newRigOf(t, Config{
			FileOf: func(string, source.Source[object.Object], uintptr) (StateFile, error) { return file, nil },
		}, "")
		defer r.start()()
		r.feed("[ =a@1 =b@1 ]@2")
		s, logger := r.streams()[0], klog.Background()
		save := func(want string, writes, advances int) {
			t.Helper()
			s.save(logger)
			if got := file.stored(); got != want || file.writes != writes || file.advances != advances {
				t.Errorf("the file has %q after %d writes and %d of a version; want %q, %d and %d",
					got, file.writes, file.advances, want, writes, advances)
			}
		}

		r.mu.Lock() // which a publication takes
		r.tell(0, "~a@3")
		for s.changed.Load() < 3 {
			runtime.Gosched()
		}
		save("a@1 b@1 at 2", 1, 0)
		r.mu.Unlock()

		synctest.Wait()
		save("a@3 b@1 at 3", 2, 0)
		r.feed("|@4")
		save("a@3 b@1 at 4", 2, 1)
		r.feed("~b@5 |@6")
		save("a@3 b@5 at 6", 3, 1)
	})
}
