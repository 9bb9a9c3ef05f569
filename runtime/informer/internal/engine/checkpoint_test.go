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

// memoryFile is an intake.StateFile in memory. It holds the last written state, in the format of
// rig.stored.
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

// TestSaveBetweenAChangeAndItsPublication saves a state while a change is in the next version,
// which no reader sees yet. The file lacks the change, so it must be written anew once the change
// is published: advancing its version would be wrong.
func TestSaveBetweenAChangeAndItsPublication(t *testing.T) {
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
				t.Errorf("the file has %q after %d writes and %d advances; want %q, %d and %d",
					got, file.writes, file.advances, want, writes, advances)
			}
		}

		r.mu.Lock() // a publication takes it too
		r.sendTo(0, "~a@3")
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

// slowFile is a memoryFile whose Write waits while the test holds mu.
type slowFile struct {
	memoryFile
	mu chan struct{} // of capacity 1; full while it is locked
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

// TestNamespaceReaddedWhileStatesAreSaved removes a namespace whose state is about to be saved, and
// adds it again. The file must not get the old objects at the new version.
func TestNamespaceReaddedWhileStatesAreSaved(t *testing.T) {
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
		time.Sleep(2 * firstSaveDelay)
		files["one"].mu <- struct{}{}
		r.feedTo(0, "~a@5")
		time.Sleep(saveInterval) // it is writing the first of two
		synctest.Wait()
		r.removeNamespace("two")
		r.addNamespace("two")
		r.feedTo(1, "[ =x@8 =y@9 ]@9")
		<-files["one"].mu
		synctest.Wait()
		if got := files["two"].stored(); got != "x@1 at 2" {
			t.Errorf("the file of namespace two has %q", got)
		}
		time.Sleep(saveShare * saveInterval) // the pause after a slow write
		if got := files["two"].stored(); got != "x@8 y@9 at 9" {
			t.Errorf("the file of namespace two has %q", got)
		}
	})
}

// TestSaveAfterVersionsWentBack has versions that go back, and then reach the file's version by
// other changes.
func TestSaveAfterVersionsWentBack(t *testing.T) {
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
			t.Errorf("the file has %q after %d writes, want b@2 c@10 at 10 after 2", got, file.writes)
		}
	})
}
