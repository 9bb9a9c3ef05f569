// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/intake"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/outcome"
	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/reflector"
)

// Wait is an informer to wait for.
type Wait struct {
	Informer *Informer
	Ended    <-chan struct{} // closed when there is nothing left to wait for; nil: never
	// Lease, unless nil, is a lease of Informer: data read before its run does not count.
	Lease *Lease
}

func (w *Wait) synced() <-chan struct{} {
	if w.Lease != nil {
		return w.Lease.run.synced
	}
	return w.Informer.synced
}

// done reports whether there is nothing to wait for: the informer and every added stream have
// synced, except for those whose resource is absent.
func (w *Wait) done() bool {
	if w.awaitsNamespaces() {
		return false
	}
	absent := false
	for _, s := range w.Informer.streams() {
		if !w.hasSynced(s) {
			if !isAbsent(s) {
				return false
			}
			absent = true
		}
	}
	return absent || outcome.Closed(w.synced())
}

// isAbsent reports whether the server does not have a stream's resource, which is optional.
func isAbsent(s *intake.Stream) bool { return s.Status().State == reflector.StateAbsent }

// waitsForResource reports whether the informer has not synced only because its optional resource
// is absent.
func (i *Informer) waitsForResource() bool {
	w := Wait{Informer: i}
	return !i.HasSynced() && w.done()
}

func (w *Wait) hasSynced(s *intake.Stream) bool {
	if w.Lease == nil {
		return s.HasSynced()
	}
	w.Informer.mu.Lock()
	defer w.Informer.mu.Unlock()
	_, waits := w.Lease.run.unsynced[s]
	return !waits
}

const logPeriod = 10 * time.Second

// WaitForCacheSync waits until each informer has synced, ended, or found its optional resource
// absent, ctx is done, or giveUp, unless
// nil, returns true for the reason of a failure from which an unsynced stream is recovering. It
// returns nil if all have synced.
func WaitForCacheSync(ctx context.Context, giveUp func(reason.Reason) bool, waits ...Wait) error {
	if ctx == nil {
		return errors.New("the context is nil")
	}
	tokens := make(chan struct{}, 1)
	for _, w := range waits {
		if w.Informer.initErr != nil {
			return w.Informer.initErr
		}
		defer w.Informer.observe(tokens)()
		if namespaces := w.Informer.config.Namespaces; namespaces != nil {
			defer namespaces.observe(tokens)()
		}
	}
	start := time.Now()
	ticker := time.NewTicker(logPeriod)
	defer ticker.Stop()
	ended := false
	for _, w := range waits {
		for waiting := true; waiting && !w.done(); {
			if shouldGiveUp(waits, giveUp) {
				return syncError(waits, start, nil)
			}
			select {
			case <-tokens:
			case <-w.Ended:
				waiting, ended = false, true
			case <-ticker.C:
				missing, _, _ := describeUnsynced(waits)
				klog.FromContext(ctx).Info("Waiting for informers to sync", "since", time.Since(start), "missing", missing)
			case <-ctx.Done():
				return syncError(waits, start, context.Cause(ctx))
			}
		}
	}
	if !ended {
		return nil
	}
	return syncError(waits, start, nil)
}

// shouldGiveUp reports whether giveUp returns true for the failure of any unsynced stream.
func shouldGiveUp(waits []Wait, giveUp func(reason.Reason) bool) bool {
	if giveUp == nil {
		return false
	}
	for _, w := range waits {
		if !w.Informer.reading() {
			continue // its streams have the status of the previous run
		}
		if namespaces := w.Informer.config.Namespaces; namespaces != nil && w.awaitsNamespaces() && namespaces.reading() && failsFor(namespaces.streams()[0], giveUp) {
			return true
		}
		for _, s := range w.Informer.streams() {
			if !w.hasSynced(s) && failsFor(s, giveUp) {
				return true
			}
		}
	}
	return false
}

// failsFor reports whether the stream is recovering from a failure for which giveUp returns true.
func failsFor(s *intake.Stream, giveUp func(reason.Reason) bool) bool {
	status := s.Status()
	failing := status.State != reflector.StateStopped && status.State != reflector.StateAbsent && status.Reason != reason.None
	return failing && giveUp(status.Reason)
}

// reading reports whether the newest run has started its streams, and is not ending.
func (i *Informer) reading() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.run != nil && i.run.reading
}

// observe sends a token whenever a stream's state changes or the informer syncs, until stop.
func (i *Informer) observe(tokens chan struct{}) (stop func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.observers == nil {
		i.observers = map[chan struct{}]struct{}{}
	}
	i.observers[tokens] = struct{}{}
	return func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		delete(i.observers, tokens)
	}
}

func (i *Informer) notify() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.notifyLocked()
	if i.run != nil {
		i.run.tellFollower()
	}
}

func (i *Informer) notifyLocked() {
	for tokens := range i.observers {
		select {
		case tokens <- struct{}{}:
		default:
		}
	}
}

func syncError(waits []Wait, start time.Time, cause error) error {
	missing, informers, errs := describeUnsynced(waits)
	if len(missing) == 0 {
		return nil
	}
	msg := fmt.Sprintf("%d of %d informers not synced after %v", informers, len(waits), time.Since(start).Round(time.Millisecond))
	if cause != nil {
		msg += " (" + cause.Error() + ")"
		errs = append([]error{cause}, errs...)
	}
	return &joinedError{msg + ": " + strings.Join(missing, "; "), errs}
}

// describeUnsynced returns a line for each unsynced stream, with the reason; the number of their
// informers; and the streams' last errors.
func describeUnsynced(waits []Wait) (missing []string, informers int, errs []error) {
	for _, w := range waits {
		before := len(missing)
		add := func(line string, err error) {
			if err != nil {
				errs = append(errs, err)
			}
			missing = append(missing, line)
		}
		if w.awaitsNamespaces() {
			add(w.Informer.describeNamespaces())
		}
		for _, s := range w.Informer.streams() {
			if !w.hasSynced(s) && !isAbsent(s) {
				add(w.Informer.describeStream(s))
			}
		}
		if len(missing) > before {
			informers++
		}
	}
	return missing, informers, errs
}

// describeStream returns a line about an unsynced stream, with the reason, and its last error, if
// any.
func (i *Informer) describeStream(s *intake.Stream) (line string, last error) {
	why, last := i.whyUnsynced(s)
	return s.Name() + " is " + why, last
}

func (i *Informer) whyUnsynced(s *intake.Stream) (why string, last error) {
	status := s.Status()
	why = "not running"
	if i.Running() {
		why = fmt.Sprintf("%v for %v", status.State, time.Since(status.Since).Round(time.Millisecond))
		if status.State == reflector.StateStopped {
			why = "starting"
			if operation := s.DiskOperation(); operation != "" {
				why += ", " + operation
			}
		}
	}
	if status.LastError != nil {
		why += ": " + status.LastError.Error()
	}
	return why, status.LastError
}

type joinedError struct {
	text string
	errs []error
}

func (e *joinedError) Error() string   { return e.text }
func (e *joinedError) Unwrap() []error { return e.errs }
