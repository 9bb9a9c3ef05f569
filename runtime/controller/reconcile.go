// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"time"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// Reconcile brings what a key stands for to the state that it should have. One call is a reconcile
// of the key. There is one at a time for each key, and several for different keys if
// Options.Concurrency allows it. Each is called with a key after an event of it, and finds in the
// informers that feed the controller a state at least as new as that event.
//
// ctx is done when the run ends, or Options.Timeout has passed. It has the logger of the context of
// Run, with the name of the controller and the key: klog.FromContext and logr.FromContext return
// it.
//
// An error is logged and counted, and the key comes back after a delay that grows with the failures
// in a row; see [Terminal] for one that doesn't. A panic, and runtime.Goexit, count as errors.
type Reconcile func(ctx context.Context, key object.Key) (Result, error)

// Result says when the key is reconciled again. The zero value: after its next event. It
// counts together with an error, too.
type Result struct {
	// RequeueAfter, if it is positive, is the delay before the key is reconciled again. It begins
	// when the reconcile returns. An event may come before; then the delay is forgotten, so a
	// reconcile that still wants one returns it again. Together with an error, the earlier of this
	// time and the delay for the error counts.
	RequeueAfter time.Duration
}

// Terminal returns an error that trying again can't heal, such as an invalid spec. It is logged
// and counted; the key is reconciled again after its next event, or Result.RequeueAfter, and its
// failures are forgotten. The result wraps err; for a nil err it is nil.
func Terminal(err error) error {
	if err == nil {
		return nil
	}
	return &terminalError{err}
}

type terminalError struct{ err error }

func (e *terminalError) Error() string { return "terminal: " + e.err.Error() }
func (e *terminalError) Unwrap() error { return e.err }

// isTerminal is a function of its own because errors.As allocates its target.
func isTerminal(err error) bool {
	var terminal *terminalError
	return errors.As(err, &terminal)
}
