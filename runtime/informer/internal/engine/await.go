// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/changelog"
	"github.com/informer-gen/informer-gen/runtime/internal/resourceversion"
	"github.com/informer-gen/informer-gen/runtime/internal/table"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// waiter waits for what a write has made: for a resourceVersion of a stream and, if gone is set,
// then for the end of an object.
type waiter struct {
	resourceVersion string
	gone            bool
	key             object.Key
	uid             types.UID
	// arrived is called once, with Informer.mu held. If the stream is removed, err is set before.
	arrived func()
	err     error
}

var errRemoved = errors.New("the namespace was removed from the informer")

// AwaitResourceVersion waits until every stream is at resourceVersion or later in the table.
func (i *Informer) AwaitResourceVersion(ctx context.Context, resourceVersion string) error {
	return i.awaiting(ctx, fmt.Sprintf("resourceVersion %q", resourceVersion), resourceVersion, func() error {
		for _, s := range i.streams() {
			if err := s.await(ctx, waiter{resourceVersion: resourceVersion}); err != nil && err != errRemoved {
				return err
			}
		}
		return nil
	})
}

// AwaitObject waits until the stream that reads key's namespace is at resourceVersion or later in
// the table, so that this state of the object, a later one, or its deletion is in the table.
func (i *Informer) AwaitObject(ctx context.Context, key object.Key, resourceVersion string) error {
	return i.awaitWrite(ctx, waiter{resourceVersion: resourceVersion, key: key})
}

// AwaitDeleted does what AwaitObject does, and then waits until the table has no object of that key
// and uid.
func (i *Informer) AwaitDeleted(ctx context.Context, key object.Key, uid types.UID, resourceVersion string) error {
	return i.awaitWrite(ctx, waiter{resourceVersion: resourceVersion, key: key, uid: uid, gone: true})
}

func (i *Informer) awaitWrite(ctx context.Context, w waiter) error {
	return i.awaiting(ctx, w.String(), w.resourceVersion, func() error {
		s, err := i.streamFor(w.key)
		if err != nil {
			return err
		}
		return s.await(ctx, w)
	})
}

// AfterObject calls f in its own goroutine once AwaitObject would return nil. stop ends that, and
// reports whether f will not be called.
func (i *Informer) AfterObject(key object.Key, resourceVersion string, f func()) (stop func() bool, err error) {
	return i.after(waiter{resourceVersion: resourceVersion, key: key}, f)
}

// AfterDeleted is for AwaitDeleted what AfterObject is for AwaitObject.
func (i *Informer) AfterDeleted(key object.Key, uid types.UID, resourceVersion string, f func()) (stop func() bool, err error) {
	return i.after(waiter{resourceVersion: resourceVersion, key: key, uid: uid, gone: true}, f)
}

func (i *Informer) after(w waiter, f func()) (stop func() bool, err error) {
	err = i.awaiting(context.Background(), w.String(), w.resourceVersion, func() error {
		s, err := i.streamFor(w.key)
		if err == nil {
			w.arrived = func() { go f() }
			s.begin(&w)
			stop = func() bool { return s.end(&w) }
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

// awaiting checks the arguments, calls wait, and says in errors what was awaited.
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

func (i *Informer) streamFor(key object.Key) (*stream, error) {
	if s := i.streamOf(key.Namespace); s != nil {
		return s, nil
	}
	return nil, fmt.Errorf("the informer does not read namespace %q", key.Namespace)
}

// await waits until what w waits for has arrived.
func (s *stream) await(ctx context.Context, w waiter) error {
	arrived := make(chan struct{})
	w.arrived = func() { close(arrived) }
	s.begin(&w)
	select {
	case <-arrived:
		return w.err
	case <-ctx.Done():
	}
	if !s.end(&w) {
		return w.err
	}
	switch version := s.informer.table.Version(); {
	case !reached(s.standsAt(version), w.resourceVersion):
		return fmt.Errorf("the store stands at %q: %w", s.standsAt(version), context.Cause(ctx))
	case w.gone && !w.isGone(version):
		obj, _ := version.Get(w.key)
		return fmt.Errorf("the store has it at resourceVersion %q: %w", obj.GetResourceVersion(), context.Cause(ctx))
	}
	return nil // it has arrived since a moment ago
}

// begin has w wait, unless what it waits for is there.
func (s *stream) begin(w *waiter) {
	i := s.informer
	i.mu.Lock()
	defer i.mu.Unlock()
	version := i.table.Version()
	switch {
	case s.removed:
		w.err = errRemoved
		w.arrived()
		return
	case reached(s.standsAt(version), w.resourceVersion):
		i.reachedLocked(w, version)
		return
	}
	at, _ := slices.BinarySearchFunc(s.waiters, w, func(a, b *waiter) int { return compare(a.resourceVersion, b.resourceVersion) })
	s.waiters = slices.Insert(s.waiters, at, w)
}

// end ends the wait of w, and reports whether it had not arrived.
func (s *stream) end(w *waiter) bool {
	i := s.informer
	i.mu.Lock()
	defer i.mu.Unlock()
	if at := slices.Index(s.waiters, w); at >= 0 {
		s.waiters = slices.Delete(s.waiters, at, at+1)
		return true
	}
	all := i.deletions[w.key]
	at := slices.Index(all, w)
	if at < 0 {
		return false
	}
	if i.deletions[w.key] = slices.Delete(all, at, at+1); len(all) == 1 {
		delete(i.deletions, w.key)
	}
	return true
}

// reachedLocked is called when the stream of w has reached its resourceVersion.
func (i *Informer) reachedLocked(w *waiter, version *table.Version) {
	if !w.gone || w.isGone(version) {
		w.arrived()
		return
	}
	if i.deletions == nil {
		i.deletions = map[object.Key][]*waiter{}
	}
	i.deletions[w.key] = append(i.deletions[w.key], w)
}

// isGone reports whether a version has no object of w's key and uid.
func (w *waiter) isGone(version *table.Version) bool {
	obj, ok := version.Get(w.key)
	return !ok || obj.GetUID() != w.uid
}

// standsAt returns the resourceVersion of the stream in a version.
func (s *stream) standsAt(version *table.Version) string {
	return version.NamespaceResourceVersion(s.namespace)
}

// dropWaitersLocked ends the waits for a stream that was removed, also those for the end of objects
// that are no longer in the table only because of that.
func (s *stream) dropWaitersLocked() {
	dropped := s.waiters
	s.waiters = nil
	for key, waiters := range s.informer.deletions {
		if key.Namespace == s.namespace {
			dropped = append(dropped, waiters...)
			delete(s.informer.deletions, key)
		}
	}
	for _, w := range dropped {
		w.err = errRemoved
		w.arrived()
	}
}

// wakeWaitersLocked ends the waits for what a publication of the stream has brought.
func (s *stream) wakeWaitersLocked(version *table.Version, changes []changelog.Change) {
	s.informer.wakeDeletionsLocked(s.staging, version, changes)
	if len(s.waiters) == 0 {
		return
	}
	at, n := s.standsAt(version), 0
	for n < len(s.waiters) && reached(at, s.waiters[n].resourceVersion) {
		s.informer.reachedLocked(s.waiters[n], version)
		n++
	}
	s.waiters = slices.Delete(s.waiters, 0, n)
}

func (i *Informer) wakeDeletionsLocked(full bool, version *table.Version, changes []changelog.Change) {
	if full { // there may be many differences: each waiter looks for its own
		for key := range i.deletions {
			i.wakeDeletionLocked(key, version)
		}
		return
	}
	for n := 0; n < len(changes) && len(i.deletions) > 0; n++ {
		if changes[n].Type == changelog.Deleted {
			i.wakeDeletionLocked(changes[n].Key(), version)
		}
	}
}

// wakeDeletionLocked ends the waits for the end of objects of a key, of those that are gone.
func (i *Informer) wakeDeletionLocked(key object.Key, version *table.Version) {
	left := slices.DeleteFunc(i.deletions[key], func(w *waiter) bool {
		gone := w.isGone(version)
		if gone {
			w.arrived()
		}
		return gone
	})
	if i.deletions[key] = left; len(left) == 0 {
		delete(i.deletions, key)
	}
}

// compare compares two resourceVersions that are valid.
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
