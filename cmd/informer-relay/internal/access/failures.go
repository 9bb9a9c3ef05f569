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

// failureInterval is the time between two log lines about reviews that fail for the same reason.
const failureInterval = time.Minute

// failures counts and logs reviews that fail. Of each reason it logs the first one at once, and
// then one at each interval: an API server that is gone does not fill the log.
type failures struct {
	counters counters // set once at construction

	mu     sync.Mutex
	logged map[string]*loggedFailure // by reason; mu guards it, and its content
}

// loggedFailure is when a reason was logged last, and how many reviews have failed for it since.
type loggedFailure struct {
	at    time.Time
	since int
}

func newFailures(counted counters) *failures {
	return &failures{counters: counted, logged: map[string]*loggedFailure{}}
}

// record counts a review that has failed with err, and logs it if that is due.
func (f *failures) record(ctx context.Context, err error) {
	reason := reasonOf(err)
	f.counters.failures.WithLabelValues(reason).Inc()
	f.mu.Lock()
	defer f.mu.Unlock()
	last, known := f.logged[reason]
	if known && time.Since(last.at) < failureInterval {
		last.since++
		return
	}
	unlogged := 0
	if known {
		unlogged = last.since
	}
	f.logged[reason] = &loggedFailure{at: time.Now()}
	klog.FromContext(ctx).Error(err, "A caller could not be reviewed", "reason", reason, "unlogged", unlogged)
}

// reasonOf returns why a review has failed, in a word of a few: the API server's status code, or
// what has happened to the request.
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
