// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"time"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// Reconcile brings the object of a key to its desired state. Calls for one key never overlap; calls
// for different keys do if Options.Concurrency allows it.
//
// ctx is done when the run ends, Options.Timeout has passed, or Options.Ring gave the key to
// another process. klog.FromContext and logr.FromContext return its logger: that of Run's context,
// with the controller's name and the key.
//
// An error is logged and counted, and the key is retried unless the error is [Terminal]. A panic or
// runtime.Goexit counts as an error.
type Reconcile func(ctx context.Context, key object.Key) (Result, error)

// Result says when the key is reconciled again. The zero value means after its next event.
type Result struct {
	// RequeueAfter, if positive, is the delay before the next reconcile of the key, from the return
	// of this one. An earlier event cancels the delay, so a reconcile that still wants one must
	// return it again. With an error, the shorter of RequeueAfter and the error's delay counts.
	RequeueAfter time.Duration
}

// Terminal wraps an error that retries can't heal, such as an invalid spec. The key is reconciled
// again after its next event, or Result.RequeueAfter, and its failures are forgotten. Terminal(nil)
// is nil.
func Terminal(err error) error {
	if err == nil {
		return nil
	}
	return &terminalError{err}
}

type terminalError struct{ err error }

func (e *terminalError) Error() string { return "terminal: " + e.err.Error() }
func (e *terminalError) Unwrap() error { return e.err }

// isTerminal is separate because errors.As allocates its target.
func isTerminal(err error) bool {
	var terminal *terminalError
	return errors.As(err, &terminal)
}
