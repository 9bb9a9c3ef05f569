// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"iter"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/checkpoint"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/intake"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// memoryFile is a intake.StateFile in memory. It has what was written, in the form of rig.stored.
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
			FileOf: func(string, source.Source[object.Object], uintptr) (intake.StateFile, error) { return file, nil },
		}, "")
		defer r.start()()
		r.feed("[ =a@1 =b@1 ]@2")
		save := func(want string, writes, advances int) {
			t.Helper()
			r.intake.SaveAll(klog.Background(), false)
			if got := file.stored(); got != want || file.writes != writes || file.advances != advances {
				t.Errorf("the file has %q after %d writes and %d of a version; want %q, %d and %d",
					got, file.writes, file.advances, want, writes, advances)
			}
		}

		r.mu.Lock() // which a publication takes
		r.tell(0, "~a@3")
		for range 1000 { // until the loop waits for the lock
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

// slowFile is a memoryFile whose Write takes as long as the test holds mu.
type slowFile struct {
	memoryFile
	mu chan struct{} // of capacity 1; holds a token while it is locked
}

func newSlowFile() *slowFile { return &slowFile{mu: make(chan struct{}, 1)} }

func (f *slowFile) Write(state checkpoint.State, all iter.Seq[object.Object]) (checkpoint.State, error) {
	f.mu <- struct{}{}
	defer func() { <-f.mu }()
	return f.memoryFile.Write(state, all)
}

func (f *slowFile) Advance(state checkpoint.State) (bool, error) {
	f.mu <- struct{}{}
	defer func() { <-f.mu }()
	return f.memoryFile.Advance(state)
}

func (f *slowFile) stored() string {
	f.mu <- struct{}{}
	defer func() { <-f.mu }()
	return f.memoryFile.stored()
}

// TestANamespaceComesAgainWhileStatesAreSaved removes a namespace whose state is about to be saved,
// and adds it again. What is saved of it must not be the old objects at the new version.
func TestANamespaceComesAgainWhileStatesAreSaved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		files := map[string]*slowFile{"one": newSlowFile(), "two": newSlowFile()}
		r := newRigOf(t, Config{
			FileOf: func(namespace string, _ source.Source[object.Object], _ uintptr) (intake.StateFile, error) {
				return files[namespace], nil
			},
		}, "one", "two")
		defer r.start()()
		r.feedTo(0, "[ =a@1 ]@2")
		r.feedTo(1, "[ =x@1 ]@2")
		time.Sleep(2 * firstSave)
		files["one"].mu <- struct{}{}
		r.feedTo(0, "~a@5")
		time.Sleep(saveEvery) // it writes the first one of two
		synctest.Wait()
		r.removeNamespace("two")
		r.addNamespace("two")
		r.feedTo(1, "[ =x@8 =y@9 ]@9")
		<-files["one"].mu
		synctest.Wait()
		if got := files["two"].stored(); got != "x@1 at 2" {
			t.Errorf("the file has %q", got)
		}
		time.Sleep(saveShare * saveEvery) // writing has taken some time
		if got := files["two"].stored(); got != "x@8 y@9 at 9" {
			t.Errorf("the file has %q", got)
		}
	})
}

// TestTheVersionOfTheFileIsReachedByOtherChanges has versions that go back, and come to that of the
// file again.
func TestTheVersionOfTheFileIsReachedByOtherChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := &memoryFile{}
		r := newRigOf(t, Config{
			FileOf: func(string, source.Source[object.Object], uintptr) (intake.StateFile, error) { return file, nil },
		}, "")
		stop := r.start()
		r.feed("[ =a@9 ]@10")
		r.intake.SaveAll(klog.Background(), false)
		r.feed("[ =b@2 ]@7 +c@10")
		stop()
		if got := file.stored(); got != "b@2 c@10 at 10" || file.writes != 2 {
			t.Errorf("the file has %q after %d writes", got, file.writes)
		}
	})
}
