// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"k8s.io/utils/lru"
)

const (
	// maxAnswers and maxRefusals bound the kept answers: a yes, and a no.
	maxAnswers  = 65_536
	maxRefusals = 4_096
	// maxReviews bounds the concurrent reviews of questions last answered with yes. Others wait,
	// so that many clients at once don't use up the API server's patience.
	maxReviews = 32
)

// answers keeps answers for a while. Equal questions are asked once: the first caller asks, and
// those who come meanwhile wait for its answer.
//
//	question ─▶ its answer is kept ─▶ the answer
//	         ─▶ it was a yes before   ─▶ known     ─▶ ask
//	         ─▶ nothing good is known ─▶ strangers ─▶ ask
//
// Yes and no have separate caches and limits, so strangers with any number of questions neither
// evict others' good answers nor delay their reviews.
type answers[T any] struct {
	// set once at construction
	policy     policy[T]
	onError    func(context.Context, error) // called with the error of an unanswered question
	knownSlots chan struct{}                // a slot for each known caller's question under way
	strangers  *strangers

	// mu guards the fields below
	mu       sync.Mutex
	yes      *lru.Cache // of answer[T] by key, including expired ones
	no       *lru.Cache // of answer[T] by key
	inFlight map[string]*question[T]
}

type policy[T any] struct {
	isYes                func(T) bool
	keepYes, keepRefusal time.Duration
}

type answer[T any] struct {
	value T
	until time.Time
}

// question is a question under way. The other fields are read after done is closed.
type question[T any] struct {
	done  chan struct{}
	value T
	err   error
}

func newAnswers[T any](p policy[T], onError func(context.Context, error)) *answers[T] {
	return &answers[T]{
		policy: p, onError: onError, knownSlots: make(chan struct{}, maxReviews), strangers: newStrangers(),
		yes: lru.New(maxAnswers), no: lru.New(maxRefusals), inFlight: map[string]*question[T]{},
	}
}

// get returns the answer to the question with the given key, calling ask for a caller at an address
// if needed. An error is returned to everyone who waits, and not kept; it wraps errTooMany if the
// question was not asked. The context for ask doesn't end with ctx, since others may wait too.
func (a *answers[T]) get(ctx context.Context, key string, remote netip.Addr, ask func(context.Context) (T, error)) (T, error) {
	a.mu.Lock()
	found, wasYes := a.findLocked(key)
	if found != nil && time.Now().Before(found.until) {
		a.mu.Unlock()
		return found.value, nil
	}
	if q := a.inFlight[key]; q != nil {
		a.mu.Unlock()
		select {
		case <-q.done:
			return q.value, q.err
		case <-ctx.Done():
			var zero T
			return zero, context.Cause(ctx)
		}
	}
	q := &question[T]{done: make(chan struct{})}
	a.inFlight[key] = q
	a.mu.Unlock()

	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reviewTimeout)
	defer cancel()
	if wasYes {
		q.value, q.err = a.askKnown(ctx, ask)
	} else {
		q.value, q.err = a.askForStranger(ctx, remote, ask)
	}
	if q.err != nil {
		a.onError(ctx, q.err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.inFlight, key)
	close(q.done)
	if q.err == nil {
		a.storeLocked(key, q.value)
	}
	return q.value, q.err
}

func (a *answers[T]) askKnown(ctx context.Context, ask func(context.Context) (T, error)) (value T, err error) {
	select {
	case a.knownSlots <- struct{}{}:
		defer func() { <-a.knownSlots }()
		return ask(ctx)
	case <-ctx.Done():
		return value, fmt.Errorf("waiting for %d other reviews: %w", maxReviews, context.Cause(ctx))
	}
}

func (a *answers[T]) askForStranger(ctx context.Context, remote netip.Addr, ask func(context.Context) (T, error)) (value T, err error) {
	yes := false
	leave, err := a.strangers.enter(ctx, remote)
	if err != nil {
		return value, err
	}
	defer func() { leave(yes) }()
	value, err = ask(ctx)
	yes = err == nil && a.policy.isYes(value)
	return value, err
}

// findLocked returns the answer last kept, which may have expired, and whether it is a yes.
func (a *answers[T]) findLocked(key string) (found *answer[T], yes bool) {
	if kept, ok := a.yes.Get(key); ok {
		return kept.(*answer[T]), true
	}
	if kept, ok := a.no.Get(key); ok {
		return kept.(*answer[T]), false
	}
	return nil, false
}

func (a *answers[T]) storeLocked(key string, value T) {
	if a.policy.isYes(value) {
		a.no.Remove(key)
		a.yes.Add(key, &answer[T]{value, time.Now().Add(a.policy.keepYes)})
		return
	}
	a.yes.Remove(key)
	a.no.Add(key, &answer[T]{value, time.Now().Add(a.policy.keepRefusal)})
}
