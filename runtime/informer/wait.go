// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"errors"
	"slices"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/settings"
	"github.com/informer-gen/informer-gen/runtime/reason"
)

// WaitOption configures one call of WaitForCacheSync.
type WaitOption interface {
	String() string
	// ApplyWait is called by this module only.
	ApplyWait(*settings.Wait) error
}

// FailOn makes WaitForCacheSync return an error as soon as an unsynced informer fails for one of
// these reasons; the informers go on nevertheless. Without reasons it means the failures that last
// until a person acts ([reason.Reason.Lasting]): missing rights, a missing resource, and unreadable
// objects. [reason.WatchForbidden] is not lasting, and does not count as [reason.Forbidden], since
// an account that may list but not watch can sync. Of the failures with a Retry-After, only a 5xx
// changes its reason, to [reason.Throttled]. [reason.None], which is no failure, is an error.
func FailOn(reasons ...reason.Reason) WaitOption {
	return waitOption{"FailOn", func(s *settings.Wait) error {
		if slices.Contains(reasons, reason.None) {
			return errors.New("reason.None is not a failure")
		}
		s.GiveUp = reason.Reason.Lasting
		if len(reasons) > 0 {
			s.GiveUp = func(r reason.Reason) bool { return slices.Contains(reasons, r) }
		}
		return nil
	}}
}
