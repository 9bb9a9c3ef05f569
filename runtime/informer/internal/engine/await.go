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

// waiter waits for a write: for a resourceVersion of a stream and, if gone is set, then for the end
// of an object.
type waiter struct {
	resourceVersion string
	gone            bool
	key             object.Key
	uid             types.UID
	// arrived is called once, with Informer.mu held. If the stream was removed, err is set before.
	arrived func()
	err     error
}

// awaits holds the waiters. Informer.mu guards it.
type awaits struct {
	versions  map[*intake.Stream][]*waiter // for a resourceVersion, ascending
	deletions map[object.Key][]*waiter     // for the end of an object
}

var errRemoved = errors.New("the namespace was removed from the informer")

// AwaitResourceVersion waits until every stream is at resourceVersion or later in the table.
func (i *Informer) AwaitResourceVersion(ctx context.Context, resourceVersion string) error {
	return i.awaiting(ctx, fmt.Sprintf("resourceVersion %q", resourceVersion), resourceVersion, func() error {
		for _, s := range i.streams() {
			if err := i.await(ctx, s, waiter{resourceVersion: resourceVersion}); err != nil && err != errRemoved {
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
	return i.awaitWrite(ctx, waiter{resourceVersion: resourceVersion, key: key, uid: uid, gone: true})
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
	return i.after(waiter{resourceVersion: resourceVersion, key: key, uid: uid, gone: true}, f)
}

func (i *Informer) after(w waiter, f func()) (stop func() bool, err error) {
	err = i.awaiting(context.Background(), w.String(), w.resourceVersion, func() error {
		s, err := i.streamFor(w.key)
		if err == nil {
			w.arrived = func() { go f() }
			i.begin(s, &w)
			stop = func() bool { return i.end(s, &w) }
		}
		return err
	})
	return stop, err
}

func (w *waiter) String() string {
	if w.gone {
		return fmt.Sprintf("the deletion of %s (uid %s) after resourceVersion %q", w.key, w.uid, w.resourceVersion)
	}
	return fmt.Sprintf("%s at resourceVersion %q", w.key, w.resourceVersion)
}

// awaiting checks the arguments and calls wait. what names the awaited state in errors.
func (i *Informer) awaiting(ctx context.Context, what, resourceVersion string, wait func() error) error {
	if i.broken != nil {
		return i.broken
	}
	fail := func(err error) error { return fmt.Errorf("informer %s: awaiting %s: %w", i.config.Name, what, err) }
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
	if s := i.intake.StreamOf(key.Namespace); s != nil {
		return s, nil
	}
	return nil, fmt.Errorf("the informer does not read namespace %q", key.Namespace)
}

func (i *Informer) await(ctx context.Context, s *intake.Stream, w waiter) error {
	arrived := make(chan struct{})
	w.arrived = func() { close(arrived) }
	i.begin(s, &w)
	select {
	case <-arrived:
		return w.err
	case <-ctx.Done():
	}
	if !i.end(s, &w) {
		return w.err
	}
	switch version := i.table.Version(); {
	case !reached(s.StandsAt(version), w.resourceVersion):
		return fmt.Errorf("the store stands at %q: %w", s.StandsAt(version), context.Cause(ctx))
	case w.gone && !w.isGone(version):
		obj, _ := version.Get(w.key)
		return fmt.Errorf("the store has it at resourceVersion %q: %w", obj.GetResourceVersion(), context.Cause(ctx))
	}
	return nil // it has arrived a moment ago
}

// begin registers w, or calls arrived if the table has the write already.
func (i *Informer) begin(s *intake.Stream, w *waiter) {
	i.mu.Lock()
	defer i.mu.Unlock()
	version := i.table.Version()
	switch {
	case s.Removed():
		w.err = errRemoved
		w.arrived()
	case reached(s.StandsAt(version), w.resourceVersion):
		i.awaits.reached(w, version)
	default:
		if i.awaits.versions == nil {
			i.awaits.versions = map[*intake.Stream][]*waiter{}
		}
		all := i.awaits.versions[s]
		at, _ := slices.BinarySearchFunc(all, w, func(a, b *waiter) int { return compare(a.resourceVersion, b.resourceVersion) })
		i.awaits.versions[s] = slices.Insert(all, at, w)
	}
}

// end removes w, and reports whether it was still waiting.
func (i *Informer) end(s *intake.Stream, w *waiter) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return cut(i.awaits.versions, s, w) || cut(i.awaits.deletions, w.key, w)
}

func cut[K comparable](all map[K][]*waiter, key K, w *waiter) bool {
	at := slices.Index(all[key], w)
	if at >= 0 {
		keep(all, key, slices.Delete(all[key], at, at+1))
	}
	return at >= 0
}

func keep[K comparable](all map[K][]*waiter, key K, left []*waiter) {
	if all[key] = left; len(left) == 0 {
		delete(all, key)
	}
}

// reached is called when the stream of w has reached its resourceVersion.
func (a *awaits) reached(w *waiter, version *table.Version) {
	if !w.gone || w.isGone(version) {
		w.arrived()
		return
	}
	if a.deletions == nil {
		a.deletions = map[object.Key][]*waiter{}
	}
	a.deletions[w.key] = append(a.deletions[w.key], w)
}

func (w *waiter) isGone(version *table.Version) bool {
	obj, ok := version.Get(w.key)
	return !ok || obj.GetUID() != w.uid
}

// drop ends the waits for a removed stream, also those for the end of its objects.
func (a *awaits) drop(s *intake.Stream) {
	dropped := a.versions[s]
	delete(a.versions, s)
	for key, waiters := range a.deletions {
		if key.Namespace == s.Namespace() {
			dropped = append(dropped, waiters...)
			delete(a.deletions, key)
		}
	}
	for _, w := range dropped {
		w.err = errRemoved
		w.arrived()
	}
}

// wake ends the waits satisfied by a publication.
func (a *awaits) wake(p intake.Publication, version *table.Version) {
	if p.Full { // there may be many differences: each waiter looks up its own
		for key := range a.deletions {
			a.wakeDeletion(key, version)
		}
	} else {
		for n := 0; n < len(p.Changes) && len(a.deletions) > 0; n++ {
			if p.Changes[n].Type == deltafifo.Deleted {
				a.wakeDeletion(p.Changes[n].Key(), version)
			}
		}
	}
	waiters := a.versions[p.Stream]
	if len(waiters) == 0 {
		return
	}
	at, n := p.Stream.StandsAt(version), 0
	for n < len(waiters) && reached(at, waiters[n].resourceVersion) {
		a.reached(waiters[n], version)
		n++
	}
	keep(a.versions, p.Stream, slices.Delete(waiters, 0, n))
}

// wakeDeletion ends the waits for the end of a key's objects, if they are gone.
func (a *awaits) wakeDeletion(key object.Key, version *table.Version) {
	keep(a.deletions, key, slices.DeleteFunc(a.deletions[key], func(w *waiter) bool {
		gone := w.isGone(version)
		if gone {
			w.arrived()
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
