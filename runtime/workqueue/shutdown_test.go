// SPDX-License-Identifier: Apache-2.0

package workqueue_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/runtime/workqueue"
)

// TestShutDownErrorNamesRunningKeys: it names ten at most.
func TestShutDownErrorNamesRunningKeys(t *testing.T) {
	opts := exactDelays
	opts.Name = "widgets"
	inBubble(t, opts, func(k kit) {
		k.Add("slow")
		slow := k.get("slow", 0)
		k.Add("waits")
		time.Sleep(time.Second)
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		err := k.ShutDown(ctx, workqueue.Finish)
		want := `work queue "widgets": shut down: 1 keys are being worked on and 1 are ready; running: slow for 3s: context deadline exceeded`
		if !errors.Is(err, context.DeadlineExceeded) || err.Error() != want {
			t.Errorf("ShutDown() = %v\nwant         %s", err, want)
		}
		slow.Done(failed) // is not retried
		k.shutDown(workqueue.Drop)
		if s := k.Status(); s.Dropped != 2 {
			t.Errorf("Status() = %+v, want 2 dropped keys", s)
		}
	})
	inBubble(t, exactDelays, func(k kit) {
		for n := range 12 {
			k.Add(fmt.Sprint("key-", n))
			k.get(fmt.Sprint("key-", n), 0)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := k.ShutDown(ctx, workqueue.Drop); strings.Count(err.Error(), "key-") != 10 || !strings.Contains(err.Error(), ", and 2 more: ") {
			t.Errorf("ShutDown() = %v, want 10 keys and 2 more", err)
		}
	})
}

func TestShutDownEndsEveryGet(t *testing.T) {
	for mode := workqueue.Drop; mode <= workqueue.Drain; mode++ {
		inBubble(t, exactDelays, func(k kit) {
			var wg sync.WaitGroup
			for range 5 {
				wg.Go(func() {
					if _, err := k.Get(context.Background()); !errors.Is(err, workqueue.ErrShutDown) {
						t.Errorf("Get() = %v, want ErrShutDown", err)
					}
				})
			}
			synctest.Wait()
			k.AddWith("delayed", after(time.Hour)) // sets a timer
			k.shutDown(mode)
			wg.Wait()
			k.shutDown(mode)
		})
	}
}
