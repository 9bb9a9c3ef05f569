// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/reflector"
)

// Wait is an informer whose sync is waited for.
type Wait struct {
	Informer *Informer
	Ended    <-chan struct{} // closed when there is nothing to wait for any more; nil: never
}

// logPeriod is how often WaitForCacheSync says what it waits for.
const logPeriod = 10 * time.Second

// WaitForCacheSync waits until each has synced or ended, or ctx is done. It returns nil if all have synced.
func WaitForCacheSync(ctx context.Context, waits ...Wait) error {
	if ctx == nil {
		return errors.New("the context is nil")
	}
	for _, w := range waits {
		if w.Informer.broken != nil {
			return w.Informer.broken
		}
	}
	start := time.Now()
	ticker := time.NewTicker(logPeriod)
	defer ticker.Stop()
	for _, w := range waits {
		for waiting := true; waiting && !w.Informer.HasSynced(); {
			select {
			case <-w.Informer.synced:
			case <-w.Ended:
				waiting = false
			case <-ticker.C:
				missing, _ := unsynced(waits)
				klog.FromContext(ctx).Info("Waiting for informers to sync", "since", time.Since(start), "missing", missing)
			case <-ctx.Done():
				return syncError(waits, start, context.Cause(ctx))
			}
		}
	}
	return syncError(waits, start, nil)
}

// syncError returns nil if all have synced.
func syncError(waits []Wait, start time.Time, cause error) error {
	missing, errs := unsynced(waits)
	if len(missing) == 0 {
		return nil
	}
	msg := fmt.Sprintf("%d of %d informers not synced after %v", len(missing), len(waits), time.Since(start).Round(time.Millisecond))
	if cause != nil {
		msg += " (" + cause.Error() + ")"
		errs = append([]error{cause}, errs...)
	}
	return &joinedError{msg + ": " + strings.Join(missing, "; "), errs}
}

// unsynced returns a line for each that has not synced, with the reason, and the last errors.
func unsynced(waits []Wait) (missing []string, errs []error) {
	for _, w := range waits {
		if w.Informer.HasSynced() {
			continue
		}
		s := w.Informer.Reflector()
		why := "not running"
		if w.Informer.Claimed() {
			why = fmt.Sprintf("%v for %v", s.State, time.Since(s.Since).Round(time.Millisecond))
			if s.State == reflector.StateStopped {
				why = "starting"
			}
		}
		if s.LastError != nil {
			why += ": " + s.LastError.Error()
			errs = append(errs, s.LastError)
		}
		missing = append(missing, w.Informer.config.Name+" is "+why)
	}
	return missing, errs
}

// joinedError is a message and the errors that it wraps.
type joinedError struct {
	text string
	errs []error
}

func (e *joinedError) Error() string   { return e.text }
func (e *joinedError) Unwrap() []error { return e.errs }

// waiter waits for the table to reach a resourceVersion.
type waiter struct {
	resourceVersion string
	arrived         chan struct{} // closed when it has
}

// AwaitResourceVersion waits until the table stands at resourceVersion or later.
func (i *Informer) AwaitResourceVersion(ctx context.Context, resourceVersion string) error {
	fail := func(err error) error {
		return fmt.Errorf("informer %s: awaiting resourceVersion %q: %w", i.config.Name, resourceVersion, err)
	}
	if i.broken != nil {
		return i.broken
	}
	if ctx == nil {
		return fail(errors.New("the context is nil"))
	}
	if _, err := resourceversion.CompareResourceVersion(resourceVersion, resourceVersion); err != nil {
		return fail(err)
	}
	i.mu.Lock()
	if reached(i.table.Version().ResourceVersion(), resourceVersion) {
		i.mu.Unlock()
		return nil
	}
	w := waiter{resourceVersion, make(chan struct{})}
	i.waiters = append(i.waiters, w)
	i.mu.Unlock()
	select {
	case <-w.arrived:
		return nil
	case <-ctx.Done():
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.waiters = slices.DeleteFunc(i.waiters, func(other waiter) bool { return other == w })
	if closed(w.arrived) {
		return nil
	}
	return fail(fmt.Errorf("the store stands at %q: %w", i.table.Version().ResourceVersion(), context.Cause(ctx)))
}

// wakeWaitersLocked wakes those whose resourceVersion the published version has reached.
func (i *Informer) wakeWaitersLocked() {
	if len(i.waiters) == 0 {
		return
	}
	at := i.table.Version().ResourceVersion()
	i.waiters = slices.DeleteFunc(i.waiters, func(w waiter) bool {
		if !reached(at, w.resourceVersion) {
			return false
		}
		close(w.arrived)
		return true
	})
}

func reached(at, want string) bool {
	order, err := resourceversion.CompareResourceVersion(at, want)
	return err == nil && order >= 0
}
