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

// TestShutDownNamesWhatIsWorkedOn, ten keys at most.
func TestShutDownNamesWhatIsWorkedOn(t *testing.T) {
	opts := plain
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
			t.Errorf("got  %v\nwant %s", err, want)
		}
		slow.Done(failed) // is not retried
		k.shutDown(workqueue.Drop)
		if s := k.Status(); s.Dropped != 2 {
			t.Errorf("got %+v", s)
		}
	})
	inBubble(t, plain, func(k kit) {
		for n := range 12 {
			k.Add(fmt.Sprint("key-", n))
			k.get(fmt.Sprint("key-", n), 0)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := k.ShutDown(ctx, workqueue.Drop); strings.Count(err.Error(), "key-") != 10 || !strings.Contains(err.Error(), ", and 2 more: ") {
			t.Errorf("got %v", err)
		}
	})
}

func TestShutDownEndsEveryGet(t *testing.T) {
	for mode := workqueue.Drop; mode <= workqueue.Drain; mode++ {
		inBubble(t, plain, func(k kit) {
			var wg sync.WaitGroup
			for range 5 {
				wg.Go(func() {
					if _, err := k.Get(context.Background()); !errors.Is(err, workqueue.ErrShutDown) {
						t.Errorf("got %v", err)
					}
				})
			}
			synctest.Wait()
			k.AddWith("delayed", after(time.Hour)) // for which a timer is set
			k.shutDown(mode)
			wg.Wait()
			k.shutDown(mode)
		})
	}
}
