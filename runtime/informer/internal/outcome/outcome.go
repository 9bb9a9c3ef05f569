// SPDX-License-Identifier: Apache-2.0

// Package outcome says how something has ended: a function of the user, which may panic or call
// runtime.Goexit instead of returning, or a wait for a channel.
package outcome

import (
	"errors"
	"fmt"
)

// ErrGoexit is the error of a function of the user that has called runtime.Goexit.
var ErrGoexit = errors.New("runtime.Goexit was called")

// Panic returns the value of a panic as an error.
func Panic(recovered any) error {
	if err, ok := recovered.(error); ok {
		return err
	}
	return fmt.Errorf("%v", recovered)
}

// Closed reports whether c is closed. Nothing is ever sent on c; a nil c is not closed.
func Closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
