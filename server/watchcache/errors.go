// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"fmt"
	"time"
)

// ExpiredError refuses a version that is too old: a list, a page, or a watch whose changes are no
// longer in the log. It also ends watches that are too slow. Clients get it as 410.
type ExpiredError struct {
	// Version is the requested version, or the one reached by a slow watch.
	Version uint64
	// Oldest is the oldest version a request may name.
	Oldest uint64
}

func (e *ExpiredError) Error() string {
	return fmt.Sprintf("too old resource version: %d (%d)", e.Version, e.Oldest)
}

// TooLargeError refuses a version the cache has not reached in time. Clients get it as 504.
type TooLargeError struct {
	Version uint64 // requested
	Current uint64 // the cache's
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("Too large resource version: %d, current: %d", e.Version, e.Current)
}

// NotReadyError refuses every request until the cache is filled, and after Run has returned.
// Clients get it as 429.
type NotReadyError struct {
	// Since is how long the cache has been without objects.
	Since time.Duration
	// Err is the storage's last error, or the cause of Run's end; it may be nil.
	Err error
}

func (e *NotReadyError) Error() string {
	if e.Err != nil {
		return "watch cache is not filled yet: " + e.Err.Error()
	}
	return "watch cache is not filled yet"
}

// Unwrap returns Err.
func (e *NotReadyError) Unwrap() error { return e.Err }
