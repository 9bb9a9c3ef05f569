// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"time"

	"golang.org/x/sync/singleflight"
	"k8s.io/utils/lru"
)

const (
	maxAnswers    = 4096
	reviewTimeout = 10 * time.Second
)

// answers keeps answers for a while. A question is asked by one caller at a time.
type answers[T any] struct {
	// set once at construction
	keep  func(T) time.Duration
	known *lru.Cache // of answer[T], by digest; locks itself

	asking singleflight.Group
}

type answer[T any] struct {
	value T
	until time.Time
}

func newAnswers[T any](keep func(T) time.Duration) *answers[T] {
	return &answers[T]{keep: keep, known: lru.New(maxAnswers)}
}

// get returns the answer to a question. The context of ask doesn't end with ctx, since others may
// wait for the answer, too.
func (a *answers[T]) get(ctx context.Context, question string, ask func(context.Context) (T, error)) (T, error) {
	key := digest(question)
	if found, ok := a.known.Get(key); ok && time.Now().Before(found.(answer[T]).until) {
		return found.(answer[T]).value, nil
	}
	value, err, _ := a.asking.Do(string(key[:]), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reviewTimeout)
		defer cancel()
		value, err := ask(ctx)
		if err == nil {
			a.known.Add(key, answer[T]{value, time.Now().Add(a.keep(value))})
		}
		return value, err
	})
	return value.(T), err
}
