// SPDX-License-Identifier: Apache-2.0

package deltafifo

import (
	"context"
)

// signal wakes the goroutines that wait for it; mu guards it. wake wakes one of them, and each that
// stops waiting, for any reason, wakes the next. So a wake reaches all of them, or one that finds
// nothing and waits again, as those after it would. Waiting does not allocate, because the consumer
// waits for every event that comes alone.
type signal struct {
	// token has capacity 1 and is set once at construction. The goroutine that takes the token out
	// of it is awake.
	token   chan struct{}
	waiting int
}

func newSignal() signal { return signal{token: make(chan struct{}, 1)} }

// mode is which method takes from a queue.
type mode uint8

const (
	unknown mode = iota
	byBatch
	byKey
)

// roomLocked waits until there is room, and returns for how many deltas.
func (f *DeltaFIFO[T]) roomLocked() (int, error) {
	for !f.closed && f.lenLocked() >= f.options.Capacity {
		f.sleepLocked(context.Background(), &f.drained)
	}
	wake(&f.drained) // the next producer
	if f.closed {
		return 0, ErrClosed
	}
	return f.options.Capacity - f.lenLocked(), nil
}

// waitLocked waits until ready returns true; it calls ready with mu held. It also sets the queue's
// mode.
func (f *DeltaFIFO[T]) waitLocked(ctx context.Context, m mode, ready func() bool) error {
	if f.mode != unknown && f.mode != m {
		return ErrMixed
	}
	f.mode = m
	defer wake(&f.filled) // the next consumer
	for ctx.Err() == nil {
		if ready() {
			return nil
		}
		if f.closed {
			return ErrClosed
		}
		f.sleepLocked(ctx, &f.filled)
	}
	return context.Cause(ctx)
}

// sleepLocked releases mu until the goroutine is woken or ctx is done. It may also return for no
// reason.
func (f *DeltaFIFO[T]) sleepLocked(ctx context.Context, s *signal) {
	s.waiting++
	f.mu.Unlock()
	select {
	case <-s.token:
	case <-ctx.Done():
	}
	f.mu.Lock()
	s.waiting--
}

// wake wakes one of the goroutines that wait.
func wake(s *signal) {
	if s.waiting == 0 {
		return
	}
	select {
	case s.token <- struct{}{}:
	default: // a goroutine is being woken already
	}
}
