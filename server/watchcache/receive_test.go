// SPDX-License-Identifier: Apache-2.0

package watchcache_test

import (
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/server/watchcache"
)

// receiver records the calls of its Receive function.
type receiver struct {
	mu      sync.Mutex // mu guards what follows
	got     []string
	errs    []error
	blocked bool // makes receive return false
}

func (v *receiver) receive(events []watchcache.Event, err error) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.got = append(v.got, eventStrings(events)...)
	if err != nil {
		v.errs = append(v.errs, err)
	}
	return !v.blocked
}

func (v *receiver) setBlocked(full bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.blocked = full
}

// take returns the events and errors since the last call.
func (v *receiver) take() (got []string, errs []error) {
	synctest.Wait()
	v.mu.Lock()
	defer v.mu.Unlock()
	got, errs = v.got, v.errs
	v.got, v.errs = nil, nil
	return got, errs
}

// want expects these events and this error since the last call.
func (v *receiver) want(t *testing.T, err error, want ...string) {
	t.Helper()
	var wantErrs []error
	if err != nil {
		wantErrs = append(wantErrs, err)
	}
	if got, errs := v.take(); !slices.Equal(got, want) || !slices.Equal(errs, wantErrs) {
		t.Errorf("got  %q, %v\nwant %q, %v", got, errs, want, wantErrs)
	}
}

// TestReceiveBlocked shows that a blocked receiver gets all events once it is ready again, and that
// other receivers don't wait for it.
func TestReceiveBlocked(t *testing.T) {
	inBubble(t, watchcache.Config{Workers: 1}, func(t *testing.T, r *rig) {
		blocked, other := receiver{blocked: true}, receiver{}
		w := r.watch(watchcache.WatchOptions{Receive: blocked.receive, Bookmarks: true})
		r.watch(watchcache.WatchOptions{Receive: other.receive})
		r.create("a/one")
		blocked.want(t, nil, "ADDED a/one@2") // receive returns false here
		r.create("a/two")
		r.remove("a/one")
		other.want(t, nil, "ADDED a/one@2", "ADDED a/two@3", "DELETED a/one@4")
		time.Sleep(time.Minute)
		blocked.want(t, nil)
		w.Ready()
		blocked.want(t, nil, "ADDED a/two@3", "DELETED a/one@4")
		blocked.setBlocked(false)
		w.Ready()
		blocked.want(t, nil, "BOOKMARK 4")
		w.Ready() // has no effect
		r.create("a/three")
		blocked.want(t, nil, "ADDED a/three@5")
	})
}

// TestReceiveEnds shows that a receiver gets the reason for its watch's end, even if it is blocked.
func TestReceiveEnds(t *testing.T) {
	for _, full := range []bool{false, true} {
		inBubble(t, watchcache.Config{}, func(t *testing.T, r *rig) {
			short, long := receiver{blocked: full}, receiver{blocked: full}
			r.watch(watchcache.WatchOptions{Receive: short.receive, Timeout: time.Minute})
			r.watch(watchcache.WatchOptions{Receive: long.receive})
			r.create("a/one")
			long.want(t, nil, "ADDED a/one@2")
			time.Sleep(time.Minute)
			short.want(t, io.EOF, "ADDED a/one@2")
			r.stop()
			if _, errs := long.take(); len(errs) != 1 || !errors.As(errs[0], new(*watchcache.NotReadyError)) {
				t.Errorf("after Run, the receiver got the errors %v, want a NotReadyError", errs)
			}
		})
	}
}

// TestReceiveLearnsOfEndDuringCall shows that a receiver that returns false is told about the end
// of its watch during that call.
func TestReceiveLearnsOfEndDuringCall(t *testing.T) {
	inBubble(t, watchcache.Config{}, func(t *testing.T, r *rig) {
		ended := make(chan error, 1)
		r.watch(watchcache.WatchOptions{Timeout: time.Second, Receive: func(_ []watchcache.Event, err error) bool {
			if err != nil {
				ended <- err
			}
			time.Sleep(time.Minute) // until the timeout has passed
			return false
		}})
		r.create("a/one")
		if err := <-ended; err != io.EOF {
			t.Errorf("the watch ended with %v, want %v", err, io.EOF)
		}
	})
}

// TestReceiveStress blocks receivers and makes them ready at random, from other goroutines. Each
// must get all events in order, by one call at a time.
func TestReceiveStress(t *testing.T) {
	const receivers, changes = 50, 400
	inBubble(t, watchcache.Config{Workers: 4}, func(t *testing.T, r *rig) {
		versions := make([][]uint64, receivers)
		for i := range receivers {
			var calls atomic.Int32
			var w atomic.Pointer[watchcache.Watcher]
			ready := make(chan struct{}, 1)
			n := 0
			receive := func(events []watchcache.Event, err error) bool {
				if err != nil {
					return true
				}
				if calls.Add(1) != 1 {
					t.Error("two calls of Receive overlap")
				}
				defer calls.Add(-1)
				for _, e := range events {
					versions[i] = append(versions[i], e.Version)
				}
				if n++; n%3 == i%3 {
					return true
				}
				select {
				case ready <- struct{}{}:
				default:
				}
				return false
			}
			w.Store(r.watch(watchcache.WatchOptions{Receive: receive}))
			go func() {
				for {
					select {
					case <-ready:
						w.Load().Ready()
					case <-t.Context().Done():
						return
					}
				}
			}()
		}
		for i := range changes {
			if _, err := r.storage.Create(r.Context(), widget("a/"+string(rune('a'+i/26))+string(rune('a'+i%26)))); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		for i, got := range versions {
			if len(got) != changes || !slices.IsSorted(got) || got[0] != 2 || got[changes-1] != changes+1 {
				t.Errorf("receiver %d got the versions %d, want 2 to %d in order", i, got, changes+1)
			}
		}
	})
}
