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

// waiter waits for a stream to reach a resourceVersion.
type waiter struct {
	resourceVersion string
	arrived         chan struct{} // closed when the stream has reached it
}

// AwaitResourceVersion waits until every stream is at resourceVersion or later in the table.
func (i *Informer) AwaitResourceVersion(ctx context.Context, resourceVersion string) error {
	return i.awaiting(ctx, fmt.Sprintf("resourceVersion %q", resourceVersion), resourceVersion, func() error {
		for _, s := range i.streams {
			if err := s.await(ctx, resourceVersion); err != nil {
				return err
			}
		}
		return nil
	})
}

// AwaitObject waits until the stream that reads key's namespace is at resourceVersion or later in
// the table, so that this state of the object, a later one, or its deletion is in the table.
func (i *Informer) AwaitObject(ctx context.Context, key object.Key, resourceVersion string) error {
	return i.awaiting(ctx, fmt.Sprintf("%s at resourceVersion %q", key, resourceVersion), resourceVersion, func() error {
		s, err := i.streamFor(key)
		if err != nil {
			return err
		}
		return s.await(ctx, resourceVersion)
	})
}

// AwaitDeleted does what AwaitObject does, and then waits until the table has no object of that key
// and uid.
func (i *Informer) AwaitDeleted(ctx context.Context, key object.Key, uid types.UID, resourceVersion string) error {
	return i.awaiting(ctx, fmt.Sprintf("the deletion of %s (uid %s) after resourceVersion %q", key, uid, resourceVersion), resourceVersion, func() error {
		s, err := i.streamFor(key)
		if err != nil {
			return err
		}
		if err := s.await(ctx, resourceVersion); err != nil {
			return err
		}
		return i.awaitGone(ctx, key, uid)
	})
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

// await waits until the stream is at resourceVersion or later.
func (s *stream) await(ctx context.Context, resourceVersion string) error {
	i := s.informer
	i.mu.Lock()
	if reached(s.standsAt(i.table.Version()), resourceVersion) {
		i.mu.Unlock()
		return nil
	}
	w := &waiter{resourceVersion, make(chan struct{})}
	at, _ := slices.BinarySearchFunc(s.waiters, w, func(a, b *waiter) int { return compare(a.resourceVersion, b.resourceVersion) })
	s.waiters = slices.Insert(s.waiters, at, w)
	i.mu.Unlock()
	select {
	case <-w.arrived:
		return nil
	case <-ctx.Done():
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if closed(w.arrived) {
		return nil
	}
	s.waiters = slices.DeleteFunc(s.waiters, func(other *waiter) bool { return other == w })
	return fmt.Errorf("the store stands at %q: %w", s.standsAt(i.table.Version()), context.Cause(ctx))
}

// standsAt returns the resourceVersion of the stream in a version.
func (s *stream) standsAt(version *table.Version) string {
	return version.NamespaceResourceVersion(s.namespace)
}

// awaitGone waits until the table has no object of that key and uid.
func (i *Informer) awaitGone(ctx context.Context, key object.Key, uid types.UID) error {
	for {
		i.mu.Lock()
		obj, ok := i.table.Version().Get(key)
		if !ok || obj.GetUID() != uid {
			i.mu.Unlock()
			return nil
		}
		gone := make(chan struct{})
		if i.deletions == nil {
			i.deletions = map[object.Key][]chan struct{}{}
		}
		i.deletions[key] = append(i.deletions[key], gone)
		i.mu.Unlock()
		select {
		case <-gone:
			continue // look again
		case <-ctx.Done():
		}
		i.mu.Lock()
		defer i.mu.Unlock()
		if closed(gone) {
			return nil
		}
		others := slices.DeleteFunc(i.deletions[key], func(other chan struct{}) bool { return other == gone })
		if i.deletions[key] = others; len(others) == 0 {
			delete(i.deletions, key)
		}
		return fmt.Errorf("the store has it at resourceVersion %q: %w", obj.GetResourceVersion(), context.Cause(ctx))
	}
}

// wakeWaitersLocked wakes the calls that wait for a resourceVersion or a deletion that a
// publication of the stream has brought.
func (s *stream) wakeWaitersLocked(version *table.Version, changes []changelog.Change) {
	if len(s.waiters) > 0 {
		at, n := s.standsAt(version), 0
		for n < len(s.waiters) && reached(at, s.waiters[n].resourceVersion) {
			close(s.waiters[n].arrived)
			n++
		}
		s.waiters = slices.Delete(s.waiters, 0, n)
	}
	deletions := s.informer.deletions
	if s.staging { // there may be many differences: each waiting call looks for its own
		for key := range deletions {
			wakeAll(deletions, key)
		}
		return
	}
	for n := 0; n < len(changes) && len(deletions) > 0; n++ {
		if changes[n].Type == changelog.Deleted {
			wakeAll(deletions, changes[n].Key())
		}
	}
}

func wakeAll(deletions map[object.Key][]chan struct{}, key object.Key) {
	for _, gone := range deletions[key] {
		close(gone)
	}
	delete(deletions, key)
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
