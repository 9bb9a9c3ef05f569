// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"cmp"

	"github.com/informer-gen/informer-gen/runtime/reflector"
)

// Refine sets the fields of Tuning that are not zero in more. If the result is wrong, it changes
// nothing and returns an error.
func (s *Settings) Refine(more reflector.Tuning) error {
	t := s.Tuning
	refined := reflector.Tuning{
		PageSize:             cmp.Or(more.PageSize, t.PageSize),
		DisableWatchList:     more.DisableWatchList || t.DisableWatchList,
		InitialEventsTimeout: cmp.Or(more.InitialEventsTimeout, t.InitialEventsTimeout),
		WatchTimeout:         cmp.Or(more.WatchTimeout, t.WatchTimeout),
		SilenceTimeout:       cmp.Or(more.SilenceTimeout, t.SilenceTimeout),
		Backoff: reflector.Backoff{
			Initial:    cmp.Or(more.Backoff.Initial, t.Backoff.Initial),
			Max:        cmp.Or(more.Backoff.Max, t.Backoff.Max),
			Jitter:     cmp.Or(more.Backoff.Jitter, t.Backoff.Jitter),
			ResetAfter: cmp.Or(more.Backoff.ResetAfter, t.Backoff.ResetAfter),
		},
	}
	if err := refined.Validate(); err != nil {
		return err
	}
	s.Tuning = refined
	return nil
}
