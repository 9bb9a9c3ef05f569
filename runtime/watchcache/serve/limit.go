// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// limiter counts requests that are under way.
type limiter struct {
	most int64 // set once at construction
	now  atomic.Int64
}

// enter counts a request, for which leave must be called, or returns its refusal.
func (l *limiter) enter(what string) error {
	if l.now.Add(1) > l.most {
		l.now.Add(-1)
		return tooMany(what)
	}
	return nil
}

func tooMany(what string) error {
	return apierrors.NewTooManyRequests("too many "+what+"; try again later", 1)
}

func (l *limiter) leave() { l.now.Add(-1) }
