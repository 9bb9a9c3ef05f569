// SPDX-License-Identifier: Apache-2.0

package fanout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/changelog"
)

// Remove implements informer.Registration.Remove.
func (s *Subscription) Remove() {
	if returned := s.remove(); returned != nil {
		<-returned
		s.fanout.forget(s)
	}
}

// RemoveContext implements informer.Registration.RemoveContext.
func (s *Subscription) RemoveContext(ctx context.Context) error {
	fail := func(err error) error {
		return fmt.Errorf("informer %s: RemoveContext: %w", s.fanout.config.Name, err)
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
			if running := s.Status().Obstacle(s.fanout.config.Name); running != "" {
				return fail(fmt.Errorf("%w: %s", context.Cause(ctx), running))
			}
		}
	}
	s.fanout.forget(s)
	return nil
}

// remove ends the subscription, and returns a channel that is closed when the running callback has
// returned. Until then Status shows the callback; the handler's goroutine makes the Fanout forget
// the subscription. If no callback is running, remove does that and returns nil.
func (s *Subscription) remove() <-chan struct{} {
	s.mu.Lock()
	returned := s.removeLocked()
	s.mu.Unlock()
	if returned == nil {
		s.fanout.forget(s)
	}
	return returned
}

// removeLocked ensures that no callback begins any more: the handler's goroutine reads removed in
// the section of mu in which it begins a callback.
func (s *Subscription) removeLocked() (returned <-chan struct{}) {
	if !s.removed {
		s.removed = true
		s.replays, s.replayed, s.backlog, s.cursor = nil, 0, changelog.Backlog{}, changelog.Cursor{}
	}
	s.releasePublisherLocked()
	s.wakeUp()
	if s.running.Type == 0 || s.goroutine == goroutineID() {
		return nil
	}
	if s.returned == nil {
		s.returned = make(chan struct{})
	}
	return s.returned
}

// goroutineID returns the number of the calling goroutine, by which Remove detects a call from the
// callback it would wait for. Only a stack trace's first line has the number.
func goroutineID() uint64 {
	var buf [64]byte
	line := buf[:runtime.Stack(buf[:], false)]
	line, _, _ = bytes.Cut(bytes.TrimPrefix(line, []byte("goroutine ")), []byte(" "))
	id, _ := strconv.ParseUint(string(line), 10, 64)
	return id
}
