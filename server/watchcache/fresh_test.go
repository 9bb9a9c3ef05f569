// SPDX-License-Identifier: Apache-2.0

package watchcache_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"

	"github.com/informer-gen/informer-gen/server/memory"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

// progressing is a storage that fails at the first request for progress, overlooks the second one,
// and sends a bookmark at the third.
type progressing struct {
	*memory.Storage
	requests int // read when the bubble is idle
}

func (s *progressing) RequestProgress(context.Context) error {
	switch s.requests++; s.requests {
	case 1:
		return errors.New("not now")
	case 3:
		s.Bookmark()
	}
	return nil
}

// TestProgressIsRequestedWhileSomeoneWaits shows that a request for a version which no object has
// is answered, and that nothing is asked for otherwise.
func TestProgressIsRequestedWhileSomeoneWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := &progressing{Storage: memory.New()}
		var stop context.CancelFunc
		cache := run(t, watchcache.Config{Storage: storage, Wait: 3050 * time.Millisecond}, logr.Discard(), &stop)
		if err := cache.WaitReady(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantRequests := func(want int) {
			t.Helper()
			synctest.Wait()
			if storage.requests != want {
				t.Errorf("progress was requested %d times, want %d", storage.requests, want)
			}
		}
		time.Sleep(time.Minute)
		if err := cache.WaitUntilFresh(t.Context(), 1); err != nil {
			t.Error(err)
		}
		wantRequests(0)
		began := time.Now()
		if err := cache.WaitUntilFresh(t.Context(), 2); err != nil || time.Since(began) != 200*time.Millisecond {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		time.Sleep(time.Minute)
		wantRequests(3)
		if err := cache.WaitUntilFresh(t.Context(), 9); !errors.As(err, new(*watchcache.TooLargeError)) {
			t.Errorf("got %v", err)
		}
		time.Sleep(time.Minute)
		wantRequests(3 + 31)
	})
}
