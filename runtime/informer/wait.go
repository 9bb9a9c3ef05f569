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
	// String returns the name of the function that made the option.
	String() string
	// ApplyWait is called by this module only.
	ApplyWait(*settings.Wait) error
}

// FailOn makes WaitForCacheSync return an error as soon as an informer that has not synced fails
// for one of these reasons, instead of waiting until the informer recovers. Without reasons it
// means all those that last until a person does something about them ([reason.Reason.Lasting]):
// missing rights, a missing resource, and objects that can't be read. An account that may list but
// not watch can sync. The failure of its watches is [reason.WatchForbidden], which is not among the
// lasting reasons and does not count as [reason.Forbidden]. A Retry-After changes the reason of a
// 5xx only: to [reason.Throttled]. The informers go on nevertheless. [reason.None], which is no
// failure, is an error.
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
