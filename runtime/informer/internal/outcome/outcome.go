// SPDX-License-Identifier: Apache-2.0

// Package outcome says how a user's function, which may panic or call runtime.Goexit, or a wait for
// a channel has ended.
package outcome

import (
	"errors"
	"fmt"
)

// ErrGoexit is the error of a user's function that called runtime.Goexit.
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
