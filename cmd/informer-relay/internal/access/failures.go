// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
)

// failureInterval is the time between two log lines about the same reason.
const failureInterval = time.Minute

// failures counts and logs failed reviews. For each reason it logs the first one at once, and then
// one per interval, so that an absent API server doesn't fill the log.
type failures struct {
	counters counters // set once at construction

	mu     sync.Mutex
	logged map[string]*loggedFailure // by reason; mu guards it, and its content
}

type loggedFailure struct {
	time     time.Time
	unlogged int
}

func newFailures(counters counters) *failures {
	return &failures{counters: counters, logged: map[string]*loggedFailure{}}
}

func (f *failures) record(ctx context.Context, err error) {
	reason := reasonOf(err)
	f.counters.failures.WithLabelValues(reason).Inc()
	f.mu.Lock()
	defer f.mu.Unlock()
	last, known := f.logged[reason]
	if known && time.Since(last.time) < failureInterval {
		last.unlogged++
		return
	}
	unlogged := 0
	if known {
		unlogged = last.unlogged
	}
	f.logged[reason] = &loggedFailure{time: time.Now()}
	klog.FromContext(ctx).Error(err, "A caller could not be reviewed", "reason", reason, "unlogged", unlogged)
}

// reasonOf returns a metric label for a failed review: the API server's status code, or one of a
// few words.
func reasonOf(err error) string {
	var status apierrors.APIStatus
	switch {
	case errors.As(err, &status):
		return strconv.Itoa(int(status.Status().Code))
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.As(err, new(*url.Error)):
		return "connection"
	case errors.Is(err, errUndecided):
		return "undecided"
	case errors.Is(err, errTooMany):
		return "limited"
	}
	return "malformed"
}
