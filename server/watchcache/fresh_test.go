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

// progressStorage is a storage that fails on the first progress request, ignores the second, and
// sends a bookmark on the third.
type progressStorage struct {
	*memory.Storage
	requests int // read when the bubble is idle
}

func (s *progressStorage) RequestProgress(context.Context) error {
	switch s.requests++; s.requests {
	case 1:
		return errors.New("not now")
	case 3:
		s.Bookmark()
	}
	return nil
}

// TestProgressIsRequestedWhileRequestsWait shows that a request for a version that no object has is
// answered, and that the storage is asked only while requests wait.
func TestProgressIsRequestedWhileRequestsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := &progressStorage{Storage: memory.New()}
		var stop context.CancelFunc
		cache := run(t, watchcache.Config{Storage: storage, Wait: 3050 * time.Millisecond}, logr.Discard(), &stop)
		if err := cache.WaitReady(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantRequests := func(want int) {
			t.Helper()
			synctest.Wait()
			if storage.requests != want {
				t.Errorf("got %d progress requests, want %d", storage.requests, want)
			}
		}
		time.Sleep(time.Minute)
		if err := cache.WaitUntilFresh(t.Context(), 1); err != nil {
			t.Error(err)
		}
		wantRequests(0)
		began := time.Now()
		if err := cache.WaitUntilFresh(t.Context(), 2); err != nil || time.Since(began) != 200*time.Millisecond {
			t.Errorf("WaitUntilFresh(2) returned %v after %v, want nil after 200ms", err, time.Since(began))
		}
		time.Sleep(time.Minute)
		wantRequests(3)
		if err := cache.WaitUntilFresh(t.Context(), 9); !errors.As(err, new(*watchcache.TooLargeError)) {
			t.Errorf("WaitUntilFresh(9) = %v, want a TooLargeError", err)
		}
		time.Sleep(time.Minute)
		wantRequests(3 + 31)
	})
}
