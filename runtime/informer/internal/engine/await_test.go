// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// arrivals runs functions that wait, and records those that have returned.
type arrivals struct {
	t    *testing.T
	mu   sync.Mutex
	done []string
}

func (a *arrivals) await(name string, wait func() error) {
	a.t.Helper()
	go func() {
		if err := wait(); err != nil {
			a.t.Error(err)
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		a.done = append(a.done, name)
	}()
	synctest.Wait()
}

// expect fails the test unless these functions have returned since the last call of expect.
func (a *arrivals) expect(want string) {
	a.t.Helper()
	synctest.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	slices.Sort(a.done)
	if got := strings.Join(a.done, " "); got != want {
		a.t.Errorf("returned: %q, want %q", got, want)
	}
	a.done = nil
}

func keyOf(namespace, name string) object.Key { return object.Key{Namespace: namespace, Name: name} }

// TestPromise08AwaitObject waits for states of objects, deletions included, in two streams.
func TestPromise08AwaitObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRigOf(t, Config{}, "one", "two")
		defer r.start()()
		a := &arrivals{t: t}
		object := func(namespace, name, version string) {
			a.await(name+version, func() error { return r.AwaitObject(t.Context(), keyOf(namespace, name), version) })
		}
		all := func(version string) {
			a.await("all"+version, func() error { return r.AwaitResourceVersion(t.Context(), version) })
		}
		object("one", "a", "5")
		object("two", "x", "5")
		all("5")
		r.feedTo(0, "[ =a@5")
		a.expect("")
		r.feedTo(0, "]@5")
		a.expect("a5")
		r.feedTo(1, "[ ]@4")
		a.expect("")
		object("one", "a", "12")
		object("one", "gone", "10")
		object("one", "later", "11")
		r.feedTo(0, "-a@10")
		a.expect("gone10")
		r.feedTo(1, "|@100")
		a.expect("all5 x5")
		r.feedTo(0, "+a@11 ~a@13")
		a.expect("a12 later11")
		object("two", "x", "99")
		a.expect("x99")
	})
}

func TestPromise08AwaitDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		stop := r.start()
		a := &arrivals{t: t}
		deleted := func(name, uid, version string) {
			a.await(name+uid, func() error { return r.AwaitDeleted(t.Context(), keyOf("ns", name), newObject("x/"+uid).UID, version) })
		}
		deleted("a", "1", "7")
		deleted("b", "2", "7")
		deleted("c", "3", "7") // not there yet at version 5
		r.feed("[ =a/1@1 =b/1@1 ]@5")
		a.expect("")
		r.feed("|@7")
		a.expect("b2 c3")
		r.feed("~a/1@8")
		deleted("a", "1", "1")
		a.expect("")
		r.feed("-a/1@9")
		a.expect("a1 a1")
		deleted("b", "1", "1")
		r.feed("~b/2@10") // a new object of this name
		a.expect("b1")
		deleted("b", "2", "1")
		stop()
		defer r.start()()
		r.feed("[ ]@11") // its deletion was missed
		a.expect("b2")
		if len(r.waiters.deletions)+len(r.waiters.versions) != 0 {
			t.Errorf("%d and %d waiters left, want none", len(r.waiters.deletions), len(r.waiters.versions))
		}
	})
}

// TestPromise08AfterObjectAndAfterDeleted shows that the function is called once, when the await
// would return, and never after stop.
func TestPromise08AfterObjectAndAfterDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer r.start()()
		a := &arrivals{t: t}
		stops := map[string]func() bool{}
		after := func(name string, begin func(f func()) (func() bool, error)) {
			t.Helper()
			stop, err := begin(func() {
				a.mu.Lock()
				defer a.mu.Unlock()
				a.done = append(a.done, name)
			})
			if err != nil {
				t.Fatal(err)
			}
			stops[name] = stop
		}
		object := func(name, version string) {
			after(name+version, func(f func()) (func() bool, error) { return r.AfterObject(keyOf("ns", name), version, f) })
		}
		deleted := func(name, uid, version string) {
			after(name+uid, func(f func()) (func() bool, error) {
				return r.AfterDeleted(keyOf("ns", name), newObject("x/"+uid).UID, version, f)
			})
		}
		object("a", "5")
		object("a", "9")
		deleted("b", "1", "5")
		deleted("b", "2", "5")
		deleted("c", "1", "20")
		r.feed("[ =a@1 =b/1@1 =c/1@1 ]@4")
		a.expect("")
		r.feed("|@6")
		a.expect("a5 b2")
		object("a", "2")
		a.expect("a2")
		r.feed("~b/2@7") // a new object of this name
		a.expect("b1")
		for name, want := range map[string]bool{"a5": false, "a9": true, "c1": true} {
			if got := stops[name](); got != want {
				t.Errorf("stop of %s returned %v, want %v", name, got, want)
			}
			if stops[name]() {
				t.Errorf("a second stop of %s returned true", name)
			}
		}
		deleted("a", "", "8")
		r.feed("~a@10 -c/1@21")
		a.expect("")
		if !stops["a"]() || len(r.waiters.deletions)+len(r.waiters.versions) != 0 {
			t.Errorf("%d and %d waiters left, want none", len(r.waiters.deletions), len(r.waiters.versions))
		}
		if _, err := r.AfterObject(keyOf("ns", "a"), "x", func() {}); err == nil || !strings.Contains(err.Error(), "awaiting ns/a at resourceVersion") {
			t.Error(err)
		}
	})
}

func TestAwaitErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRigOf(t, Config{}, "one", "two")
		defer r.start()()
		r.feedTo(0, "[ =a/1@5 ]@5")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errStop)
		defer cancel()
		for want, err := range map[string]error{
			`informer things: awaiting three/a at resourceVersion "5": the informer does not read namespace "three"`:                                                  r.AwaitObject(ctx, keyOf("three", "a"), "5"),
			`informer things: awaiting the deletion of three/a (uid 1) after resourceVersion "5": the informer does not read namespace "three"`:                       r.AwaitDeleted(ctx, keyOf("three", "a"), "1", "5"),
			`informer things: awaiting one/a at resourceVersion "6": the store is at resourceVersion "5": the test stops the informer`:                                r.AwaitObject(ctx, keyOf("one", "a"), "6"),
			`informer things: awaiting two/a at resourceVersion "6": the store is at resourceVersion "": the test stops the informer`:                                 r.AwaitObject(ctx, keyOf("two", "a"), "6"),
			`informer things: awaiting the deletion of one/a (uid 1) after resourceVersion "5": the store has it at resourceVersion "5": the test stops the informer`: r.AwaitDeleted(ctx, keyOf("one", "a"), "1", "5"),
			`informer things: awaiting one/a at resourceVersion "5": the context is nil`:                                                                              r.AwaitObject(noContext, keyOf("one", "a"), "5"),
		} {
			if err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
			if strings.HasSuffix(want, errStop.Error()) && !errors.Is(err, errStop) {
				t.Errorf("error %q does not wrap the cause", err)
			}
		}
		if len(r.waiters.deletions)+len(r.waiters.versions) != 0 {
			t.Error("waiters are left")
		}
		if err := r.AwaitObject(ctx, keyOf("one", "a"), "5"); err != nil {
			t.Errorf("AwaitObject of a stored state, with a done context: %v", err)
		}
	})
}

// TestFaultW15AwaitIsWokenByArrival has many calls wait, each for another version. A publication
// wakes only the call for its version, and the store is then at that version.
func TestFaultW15AwaitIsWokenByArrival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer r.start()()
		r.feed("[ =a@1 ]@1")
		const n = 1000
		woken := make(chan string, n)
		for version := n + 1; version > 1; version-- {
			go func() {
				want := fmt.Sprint(version)
				if err := r.AwaitObject(t.Context(), keyOf("ns", "a"), want); err != nil {
					t.Error(err)
				}
				if at := r.Table().Version().ResourceVersion(); !reached(at, want) {
					t.Errorf("AwaitObject for version %s has returned at %s", want, at)
				}
				woken <- want
			}()
		}
		synctest.Wait()
		for version := 2; version <= n+1; version++ {
			r.feed(fmt.Sprintf("~a@%d", version))
			if len(woken) != 1 || <-woken != fmt.Sprint(version) {
				t.Fatalf("version %d has not woken its call, or has woken others", version)
			}
		}
	})
}
