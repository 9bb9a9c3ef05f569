// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/intake"
	"github.com/informer-gen/informer-gen/runtime/internal/resourceversion"
	"github.com/informer-gen/informer-gen/runtime/internal/table"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// waiter waits for a write: for a resourceVersion of a stream and, if untilGone is set, then for
// the end of an object.
type waiter struct {
	resourceVersion string
	untilGone       bool
	key             object.Key
	uid             types.UID
	// notify is called once, with Informer.mu held. If the stream was removed, err is set before.
	notify func()
	err    error
}

// waiters holds the waiting calls. Informer.mu guards it.
type waiters struct {
	versions  map[*intake.Stream][]*waiter // for a resourceVersion, ascending
	deletions map[object.Key][]*waiter     // for the end of an object
}

var errRemoved = errors.New("the namespace was removed from the informer")

// AwaitResourceVersion waits until every stream is at resourceVersion or later in the table.
func (i *Informer) AwaitResourceVersion(ctx context.Context, resourceVersion string) error {
	return i.awaiting(ctx, fmt.Sprintf("resourceVersion %q", resourceVersion), resourceVersion, func() error {
		if err := i.awaitFirstSync(ctx); err != nil {
			return err
		}
		for _, s := range i.streams() {
			if err := i.await(ctx, s, waiter{resourceVersion: resourceVersion}); err != nil && err != errRemoved && err != errLost {
				return err
			}
		}
		return nil
	})
}

// AwaitObject waits until the stream of key's namespace is at resourceVersion or later in the
// table, so that the table has this state of the object, a later one, or its deletion.
func (i *Informer) AwaitObject(ctx context.Context, key object.Key, resourceVersion string) error {
	return i.awaitWrite(ctx, waiter{resourceVersion: resourceVersion, key: key})
}

// AwaitDeleted is AwaitObject, and then waits until the table has no object of that key and uid.
func (i *Informer) AwaitDeleted(ctx context.Context, key object.Key, uid types.UID, resourceVersion string) error {
	return i.awaitWrite(ctx, waiter{resourceVersion: resourceVersion, key: key, uid: uid, untilGone: true})
}

func (i *Informer) awaitWrite(ctx context.Context, w waiter) error {
	return i.awaiting(ctx, w.String(), w.resourceVersion, func() error {
		s, err := i.streamFor(w.key)
		if err != nil {
			return err
		}
		return i.await(ctx, s, w)
	})
}

// AfterObject calls f in its own goroutine once AwaitObject would return nil. stop cancels the
// call, and reports whether f will not be called.
func (i *Informer) AfterObject(key object.Key, resourceVersion string, f func()) (stop func() bool, err error) {
	return i.after(waiter{resourceVersion: resourceVersion, key: key}, f)
}

// AfterDeleted is AfterObject for AwaitDeleted.
func (i *Informer) AfterDeleted(key object.Key, uid types.UID, resourceVersion string, f func()) (stop func() bool, err error) {
	return i.after(waiter{resourceVersion: resourceVersion, key: key, uid: uid, untilGone: true}, f)
}

func (i *Informer) after(w waiter, f func()) (stop func() bool, err error) {
	err = i.awaiting(context.Background(), w.String(), w.resourceVersion, func() error {
		s, err := i.streamFor(w.key)
		if err == nil {
			w.notify = func() { go f() }
			i.addWaiter(s, &w)
			stop = func() bool { return i.removeWaiter(s, &w) }
		}
		return err
	})
	return stop, err
}

func (w *waiter) String() string {
	if w.untilGone {
		return fmt.Sprintf("the deletion of %s (uid %s) after resourceVersion %q", w.key, w.uid, w.resourceVersion)
	}
	return fmt.Sprintf("%s at resourceVersion %q", w.key, w.resourceVersion)
}

// awaiting checks the arguments and calls wait. state names the awaited state in errors.
func (i *Informer) awaiting(ctx context.Context, state, resourceVersion string, wait func() error) error {
	if i.initErr != nil {
		return i.initErr
	}
	fail := func(err error) error { return fmt.Errorf("informer %s: awaiting %s: %w", i.config.Name, state, err) }
	if ctx == nil {
		return fail(errors.New("the context is nil"))
	}
	if _, err := resourceversion.Compare(resourceVersion, resourceVersion); err != nil {
		return fail(err)
	}
	if err := wait(); err != nil {
		return fail(err)
	}
	return nil
}

func (i *Informer) streamFor(key object.Key) (*intake.Stream, error) {
	i.mu.Lock()
	err := i.checkHeldLocked(key)
	i.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if s := i.intake.StreamOf(key.Namespace); s != nil {
		return s, nil
	}
	return nil, fmt.Errorf("the informer does not read namespace %q", key.Namespace)
}

func (i *Informer) await(ctx context.Context, s *intake.Stream, w waiter) error {
	arrived := make(chan struct{})
	w.notify = func() { close(arrived) }
	i.addWaiter(s, &w)
	select {
	case <-arrived:
		return w.err
	case <-ctx.Done():
	}
	if !i.removeWaiter(s, &w) {
		return w.err
	}
	switch version := i.table.Version(); {
	case !reached(s.ResourceVersion(version), w.resourceVersion):
		return fmt.Errorf("the store is at resourceVersion %q: %w", s.ResourceVersion(version), context.Cause(ctx))
	case w.untilGone && !w.isGone(version):
		obj, _ := version.Get(w.key)
		return fmt.Errorf("the store has it at resourceVersion %q: %w", obj.GetResourceVersion(), context.Cause(ctx))
	}
	return nil // it has arrived a moment ago
}

// addWaiter registers w, or calls its notify if the table has the write already.
func (i *Informer) addWaiter(s *intake.Stream, w *waiter) {
	i.mu.Lock()
	defer i.mu.Unlock()
	version := i.table.Version()
	switch {
	case s.Removed():
		if w.err = errRemoved; i.config.Ring != nil {
			w.err = errLost
		}
		w.notify()
	case w.key != object.Key{} && i.checkHeldLocked(w.key) != nil:
		w.err = errLost
		w.notify()
	case reached(s.ResourceVersion(version), w.resourceVersion):
		i.waiters.versionReached(w, version)
	default:
		if i.waiters.versions == nil {
			i.waiters.versions = map[*intake.Stream][]*waiter{}
		}
		all := i.waiters.versions[s]
		at, _ := slices.BinarySearchFunc(all, w, func(a, b *waiter) int { return compare(a.resourceVersion, b.resourceVersion) })
		i.waiters.versions[s] = slices.Insert(all, at, w)
	}
}

// removeWaiter removes w, and reports whether it was still waiting.
func (i *Informer) removeWaiter(s *intake.Stream, w *waiter) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return removeFrom(i.waiters.versions, s, w) || removeFrom(i.waiters.deletions, w.key, w)
}

func removeFrom[K comparable](all map[K][]*waiter, key K, w *waiter) bool {
	at := slices.Index(all[key], w)
	if at >= 0 {
		setWaiters(all, key, slices.Delete(all[key], at, at+1))
	}
	return at >= 0
}

func setWaiters[K comparable](all map[K][]*waiter, key K, remaining []*waiter) {
	if all[key] = remaining; len(remaining) == 0 {
		delete(all, key)
	}
}

// versionReached is called when the stream of w has reached its resourceVersion.
func (ws *waiters) versionReached(w *waiter, version *table.Version) {
	if !w.untilGone || w.isGone(version) {
		w.notify()
		return
	}
	if ws.deletions == nil {
		ws.deletions = map[object.Key][]*waiter{}
	}
	ws.deletions[w.key] = append(ws.deletions[w.key], w)
}

func (w *waiter) isGone(version *table.Version) bool {
	obj, ok := version.Get(w.key)
	return !ok || obj.GetUID() != w.uid
}

// drop ends the waits for a removed stream, also those for the end of its objects.
func (ws *waiters) drop(s *intake.Stream, err error) {
	dropped := ws.versions[s]
	delete(ws.versions, s)
	for key, waiters := range ws.deletions {
		if s.Namespace() == "" || key.Namespace == s.Namespace() {
			dropped = append(dropped, waiters...)
			delete(ws.deletions, key)
		}
	}
	for _, w := range dropped {
		w.err = err
		w.notify()
	}
}

// wake ends the waits satisfied by a publication.
func (ws *waiters) wake(p intake.Publication, version *table.Version) {
	if p.Full { // there may be many differences: each waiter looks up its own
		for key := range ws.deletions {
			ws.wakeDeletion(key, version)
		}
	} else {
		for n := 0; n < len(p.Changes) && len(ws.deletions) > 0; n++ {
			if p.Changes[n].Type == deltafifo.Deleted {
				ws.wakeDeletion(p.Changes[n].Key(), version)
			}
		}
	}
	waiters := ws.versions[p.Stream]
	if len(waiters) == 0 {
		return
	}
	at, n := p.Stream.ResourceVersion(version), 0
	for n < len(waiters) && reached(at, waiters[n].resourceVersion) {
		ws.versionReached(waiters[n], version)
		n++
	}
	setWaiters(ws.versions, p.Stream, slices.Delete(waiters, 0, n))
}

// wakeDeletion ends the waits for the end of a key's objects, if they are gone.
func (ws *waiters) wakeDeletion(key object.Key, version *table.Version) {
	setWaiters(ws.deletions, key, slices.DeleteFunc(ws.deletions[key], func(w *waiter) bool {
		gone := w.isGone(version)
		if gone {
			w.notify()
		}
		return gone
	}))
}

// compare orders valid resourceVersions.
func compare(a, b string) int {
	order, err := resourceversion.Compare(a, b)
	if err != nil {
		return cmp.Compare(a, b)
	}
	return order
}

func reached(at, want string) bool {
	order, err := resourceversion.Compare(at, want)
	return err == nil && order >= 0
}
