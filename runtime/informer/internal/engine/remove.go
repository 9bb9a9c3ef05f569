// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/changelog"
)

// Remove ends the subscription and waits for its running callback, unless that callback calls it.
func (s *Subscription) Remove() {
	if returned := s.remove(); returned != nil {
		<-returned
		s.informer.forget(s)
	}
}

// RemoveContext does what Remove does, but stops waiting when ctx is done. Then the error names the
// callback.
func (s *Subscription) RemoveContext(ctx context.Context) error {
	fail := func(err error) error {
		return fmt.Errorf("informer %s: RemoveContext: %w", s.informer.config.Name, err)
	}
	if ctx == nil {
		return fail(errors.New("the context is nil"))
	}
	returned := s.remove()
	if returned == nil {
		return nil
	}
	select {
	case <-returned:
	default:
		select {
		case <-returned:
		case <-ctx.Done():
			if running := s.Status().running(s.informer); running != "" {
				return fail(fmt.Errorf("%w: %s", context.Cause(ctx), running))
			}
		}
	}
	s.informer.forget(s)
	return nil
}

// remove ends the subscription, and returns a channel that is closed when the running callback has
// returned. If there is nothing to wait for, it returns nil, and the informer has forgotten the
// subscription. Otherwise the last turn makes the informer forget it, so that Status shows the
// running callback until then.
func (s *Subscription) remove() <-chan struct{} {
	s.mu.Lock()
	returned := s.removeLocked()
	s.mu.Unlock()
	if returned == nil {
		s.informer.forget(s)
	}
	return returned
}

// forgetRemoved makes the informer forget the subscription, if it was removed.
func (s *Subscription) forgetRemoved() {
	s.mu.Lock()
	removed := s.removed
	s.mu.Unlock()
	if removed {
		s.informer.forget(s)
	}
}

// removeLocked ensures that no callback begins from then on. The worker that has the turn reads
// removed in the section of mu in which it begins a callback. The pool reads slot.removed in the
// section of pool.mu in which it begins to deliver a pending event.
func (s *Subscription) removeLocked() (returned <-chan struct{}) {
	s.removed = true
	s.replays, s.replayed, s.log, s.backlog = nil, 0, changelog.Stretch{}, changelog.Backlog{}
	running, goroutine := s.informer.pool.remove(s)
	s.goOnLocked()
	if s.running.Type == 0 && !running || goroutine == goroutineID() {
		return nil
	}
	if s.idle == nil {
		s.idle = make(chan struct{})
	}
	return s.idle
}

// goroutineID returns the number of the calling goroutine. By it, Remove detects that it is called
// from the callback that it would wait for. Go has the number only in the first line of a stack
// trace.
func goroutineID() uint64 {
	var buf [64]byte
	line := buf[:runtime.Stack(buf[:], false)]
	line, _, _ = bytes.Cut(bytes.TrimPrefix(line, []byte("goroutine ")), []byte(" "))
	id, _ := strconv.ParseUint(string(line), 10, 64)
	return id
}
