// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"errors"
	"testing"
	"time"

	"github.com/informer-gen/informer-gen/runtime/metrics"
)

func TestStateOf(t *testing.T) {
	now := time.Now()
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	failed := errors.New("secret reason")
	for _, test := range []struct {
		state metrics.CacheState
		ok    bool
		text  string
	}{
		{metrics.CacheState{}, false, "not synced"},
		{metrics.CacheState{Err: failed}, false, "not synced: the API server refuses; the log has its reason"},
		{metrics.CacheState{Ready: true, LastEvent: ago(2 * time.Second), Objects: 3, Version: 7}, true, "synced: 3 objects at version 7; last event 2s ago"},
		{metrics.CacheState{Ready: true, LastEvent: ago(time.Minute), Err: failed}, true, "synced: 0 objects at version 0; last event 1m0s ago"},
		{metrics.CacheState{Ready: true, LastEvent: ago(61 * time.Second), Version: 7}, false, "stale: no event or bookmark for 1m1s; reads go on at version 7"},
	} {
		if ok, text := stateOf(test.state, now, time.Minute); ok != test.ok || text != test.text {
			t.Errorf("%+v: got %v, %q", test.state, ok, text)
		}
	}
}
