// SPDX-License-Identifier: Apache-2.0

package workqueue_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/runtime/workqueue"
)

// TestWhatEachModeHandsOut: of a queue with keys in every state.
func TestWhatEachModeHandsOut(t *testing.T) {
	for _, tc := range []struct {
		mode         workqueue.Mode
		out, dropped []string
	}{
		{workqueue.Drop, nil, []string{"delayed", "failed", "held and added", "running and added", "ready 1", "ready 2"}},
		{workqueue.Finish, []string{"ready 1", "ready 2"}, []string{"delayed", "failed", "held and added", "running and added"}},
		{workqueue.Drain, []string{"ready 1", "ready 2", "running and added"}, []string{"delayed", "failed", "held and added"}},
	} {
		t.Run(fmt.Sprint(tc.mode), func(t *testing.T) {
			inBubble(t, plain, func(k kit) {
				hold := workqueue.Outcome{Hold: time.Hour}
				for _, key := range []string{"failed", "held", "held and added", "running", "running and added"} {
					k.Add(key)
				}
				k.get("failed", 0).Done(failed)
				k.get("held", 0).Done(hold)
				k.get("held and added", 0).Done(hold)
				k.Add("held and added")
				running, again := k.get("running", 0), k.get("running and added", 0)
				k.Add("running and added")
				k.AddWith("delayed", after(time.Minute))
				k.Add("ready 1")
				k.Add("ready 2")

				ended := make(chan error, 1)
				go func() { ended <- k.ShutDown(context.Background(), tc.mode) }()
				synctest.Wait()
				k.Add("late")
				k.AddWith("running", after(0))
				var out []string
				worker := make(chan struct{})
				go func() {
					defer close(worker)
					for {
						item, err := k.Get(context.Background())
						if errors.Is(err, workqueue.ErrShutDown) {
							return
						}
						if err != nil {
							t.Error(err)
						}
						out = append(out, item.Key)
						item.Done(succeeded)
					}
				}()
				synctest.Wait()
				select {
				case err := <-ended:
					t.Fatalf("ShutDown returned %v while two keys were worked on", err)
				default:
				}
				again.Done(succeeded)
				synctest.Wait()
				running.Done(succeeded)
				if err := <-ended; err != nil {
					t.Error(err)
				}
				<-worker
				if !slices.Equal(out, tc.out) {
					t.Errorf("handed out %q, want %q", out, tc.out)
				}
				s := k.Status()
				slices.Sort(s.DroppedKeys)
				slices.Sort(tc.dropped)
				if !slices.Equal(s.DroppedKeys, tc.dropped) || s.Dropped != len(tc.dropped) || !s.ShutDown {
					t.Errorf("dropped %d, %q, want %q", s.Dropped, s.DroppedKeys, tc.dropped)
				}
				k.wantIdle()
			})
		})
	}
}

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
}

func TestShutDownNamesTenKeys(t *testing.T) {
	inBubble(t, plain, func(k kit) {
		for n := range 12 {
			k.Add(fmt.Sprint("key-", n))
			k.get(fmt.Sprint("key-", n), 0)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := k.ShutDown(ctx, workqueue.Drop); strings.Count(err.Error(), "key-") != 10 || !strings.Contains(err.Error(), ", and 2 more: ") {
			t.Errorf("got %v", err)
		}
	})
}

func TestAStricterModeTakesOver(t *testing.T) {
	inBubble(t, plain, func(k kit) {
		k.Add("running")
		running := k.get("running", 0)
		k.Add("running")
		k.Add("ready")
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := k.ShutDown(context.Background(), workqueue.Drain); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		k.wantLen(1)
		wg.Go(func() {
			if err := k.ShutDown(context.Background(), workqueue.Drop); err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() { // changes nothing
			synctest.Wait()
			if err := k.ShutDown(context.Background(), workqueue.Drain); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(time.Second)
		k.wantLen(0)
		running.Done(succeeded)
		wg.Wait()
		k.wantIdle()
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

// TestADrainWaitsForWhatARunningKeyWillBring: a worker that asks for more is not sent away.
func TestADrainWaitsForWhatARunningKeyWillBring(t *testing.T) {
	inBubble(t, plain, func(k kit) {
		k.Add("a")
		item := k.get("a", 0)
		k.Add("a")
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := k.ShutDown(context.Background(), workqueue.Drain); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		wg.Go(func() { k.get("a", time.Second).Done(succeeded) })
		time.Sleep(time.Second)
		item.Done(succeeded)
		wg.Wait()
	})
}

// TestAShutdownHandsOutWhatIsDue: a key whose time has come is ready, also if no worker has waited
// for it.
func TestAShutdownHandsOutWhatIsDue(t *testing.T) {
	const keys = 20
	inBubble(t, plain, func(k kit) {
		for n := range keys {
			k.AddWith(fmt.Sprint("key-", n), after(10*ms))
		}
		k.AddWith("later", after(20*ms))
		time.Sleep(10 * ms)
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := k.ShutDown(context.Background(), workqueue.Finish); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		if s := k.Status(); s.Normal != keys || s.Dropped != 1 {
			t.Errorf("%d are ready, and %d dropped: %q", s.Normal, s.Dropped, s.DroppedKeys)
		}
		k.shutDown(workqueue.Drop)
		wg.Wait()
	})
}
