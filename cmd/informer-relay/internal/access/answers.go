// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"sync"
	"time"
)

// mostAnswers is how many answers are kept, about: those of the last mostAnswers/2 questions at
// least.
const mostAnswers = 16384

// answers keeps answers for a while, so that equal questions are asked once. Of those that ask the
// same at a time, one asks, and the others wait for it.
type answers[T any] struct {
	// set once at construction
	keep   func(T) time.Duration        // how long an answer is kept
	failed func(context.Context, error) // called when a question could not be answered

	// mu guards what follows
	mu     sync.Mutex
	recent map[string]answer[T] // those that were used last
	older  map[string]answer[T] // those that go when recent is full
	asking map[string]*question[T]
}

type answer[T any] struct {
	value T
	until time.Time
}

// question is one that is being asked. The fields are read after done is closed.
type question[T any] struct {
	done  chan struct{}
	value T
	err   error
}

func newAnswers[T any](keep func(T) time.Duration, failed func(context.Context, error)) *answers[T] {
	return &answers[T]{keep: keep, failed: failed, recent: map[string]answer[T]{}, asking: map[string]*question[T]{}}
}

// get returns the answer to the question that key stands for, which ask asks. An error of ask is
// returned to all that wait, and not kept. ask is called with a context that doesn't end with ctx,
// since others may wait too.
func (a *answers[T]) get(ctx context.Context, key string, ask func(context.Context) (T, error)) (T, error) {
	a.mu.Lock()
	if known, ok := a.findLocked(key); ok {
		a.mu.Unlock()
		return known, nil
	}
	if q := a.asking[key]; q != nil {
		a.mu.Unlock()
		select {
		case <-q.done:
			return q.value, q.err
		case <-ctx.Done():
			var none T
			return none, context.Cause(ctx)
		}
	}
	q := &question[T]{done: make(chan struct{})}
	a.asking[key] = q
	a.mu.Unlock()

	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reviewTimeout)
	defer cancel()
	if q.value, q.err = ask(ctx); q.err != nil {
		a.failed(ctx, q.err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.asking, key)
	close(q.done)
	if keep := a.keep(q.value); q.err == nil && keep > 0 {
		a.addLocked(key, answer[T]{q.value, time.Now().Add(keep)})
	}
	return q.value, q.err
}

func (a *answers[T]) findLocked(key string) (value T, ok bool) {
	known, ok := a.recent[key]
	if !ok {
		if known, ok = a.older[key]; ok {
			a.addLocked(key, known)
		}
	}
	return known.value, ok && time.Now().Before(known.until)
}

func (a *answers[T]) addLocked(key string, known answer[T]) {
	if len(a.recent) >= mostAnswers/2 {
		a.older, a.recent = a.recent, map[string]answer[T]{}
	}
	a.recent[key] = known
}
