// SPDX-License-Identifier: Apache-2.0

package workqueue_test

import (
	"context"
	"fmt"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/runtime/workqueue"
)

func after(d time.Duration) workqueue.AddOptions { return workqueue.AddOptions{After: d} }

func TestTheEarliestOfSeveralDelaysCounts(t *testing.T) {
	inBubble(t, plain, func(k kit) {
		k.AddWith("a", after(50*ms))
		k.AddWith("a", after(20*ms))
		k.AddWith("a", after(30*ms))
		k.get("a", 20*ms).Done(succeeded)
		k.wantIdle()
	})
}

func TestAPlainAddDropsTheDelay(t *testing.T) {
	inBubble(t, plain, func(k kit) {
		k.AddWith("a", after(50*ms))
		k.Add("a")
		k.get("a", 0).Done(succeeded)
		k.wantIdle()
		k.AddWith("b", after(0))
		k.AddWith("b", after(50*ms)) // is ready, and stays it
		k.get("b", 0).Done(succeeded)
		k.wantIdle()
	})
}

func TestDelaysEndInTheOrderOfTime(t *testing.T) {
	inBubble(t, plain, func(k kit) {
		for n := 20; n > 0; n-- {
			k.AddWith(fmt.Sprint(n), after(time.Duration(n)*ms))
		}
		k.AddWith("as 7, and later", after(7*ms))
		for n := 1; n <= 20; n++ {
			k.get(fmt.Sprint(n), time.Duration(n)*ms).Done(succeeded)
			if n == 7 {
				k.get("as 7, and later", 7*ms).Done(succeeded)
			}
		}
	})
}

func TestADelayOfARunningKeyBeginsWhenItWasAdded(t *testing.T) {
	inBubble(t, plain, func(k kit) {
		k.Add("a")
		item := k.get("a", 0)
		k.AddWith("a", after(50*ms))
		k.AddWith("a", after(30*ms))
		time.Sleep(20 * ms)
		item.Done(succeeded)
		item = k.get("a", 30*ms)
		k.AddWith("a", after(10*ms))
		time.Sleep(20 * ms)
		item.Done(succeeded) // later than the delay
		item = k.get("a", 50*ms)
		k.AddWith("a", after(time.Hour))
		k.Add("a")
		item.Done(succeeded)
		k.get("a", 50*ms).Done(succeeded)
		k.wantIdle()
	})
}

func TestAfterHasTheKeyComeAgain(t *testing.T) {
	inBubble(t, plain, func(k kit) {
		k.AddWith("a", workqueue.AddOptions{Level: workqueue.High})
		k.get("a", 0).Done(workqueue.Outcome{After: 40 * ms})
		item := k.get("a", 40*ms)
		if item.Level != workqueue.High || item.Failures != 0 {
			t.Errorf("got level %d, %d failures", item.Level, item.Failures)
		}
		k.AddWith("a", after(10*ms))
		item.Done(workqueue.Outcome{After: 40 * ms}) // the earlier one of the two
		item = k.get("a", 50*ms)
		k.Add("a")
		item.Done(workqueue.Outcome{After: 40 * ms}) // a plain add drops it
		k.get("a", 50*ms).Done(succeeded)
		k.wantIdle()
	})
}

func TestAVeryLongDelayIsForEver(t *testing.T) {
	inBubble(t, plain, func(k kit) {
		time.Sleep(time.Second)
		k.AddWith("a", after(math.MaxInt64))
		if s := k.Status(); s.Delayed != 1 || !s.NextDue.After(time.Now().Add(200*365*24*time.Hour)) {
			t.Errorf("got %+v", s)
		}
		k.Add("a")
		k.get("a", time.Second).Done(succeeded)
	})
}

// TestDroppedDelaysDoNotPileUp: a key that is delayed and added again and again leaves nothing.
func TestDroppedDelaysDoNotPileUp(t *testing.T) {
	inBubble(t, plain, func(k kit) {
		for n := range 100 {
			k.AddWith(fmt.Sprint("other ", n), after(time.Hour))
		}
		for range 10_000 {
			k.AddWith("a", after(365*24*time.Hour))
			k.Add("a")
			k.get("a", 0).Done(succeeded)
		}
		if n := k.Delays(); n > 250 {
			t.Errorf("%d times are kept for 100 keys", n)
		}
	})
}

// TestATimerIsSetOnlyForAWorkerThatWaits: workers that are busy see what is due when they come
// back.
func TestWorkersThatComeLateFindWhatIsDue(t *testing.T) {
	inBubble(t, plain, func(k kit) {
		k.AddWith("b", after(20*ms))
		k.AddWith("a", after(10*ms))
		time.Sleep(30 * ms)
		k.Add("c")
		if s := k.Status(); s.Oldest == nil || s.Oldest.Key != "a" || !s.Oldest.Since.Equal(k.began.Add(10*ms)) {
			t.Errorf("the oldest key is %+v", s.Oldest)
		}
		for _, key := range []string{"a", "b", "c"} {
			k.get(key, 30*ms).Done(succeeded)
		}
	})
}

func TestAnEarlierDelayWakesAWorkerThatWaitsForALaterOne(t *testing.T) {
	inBubble(t, plain, func(k kit) {
		k.AddWith("late", after(time.Hour))
		var wg sync.WaitGroup
		wg.Go(func() { k.get("early", 30*ms).Done(succeeded) })
		synctest.Wait()
		time.Sleep(20 * ms)
		k.AddWith("early", after(10*ms))
		wg.Wait()
		k.get("late", time.Hour).Done(succeeded)
	})
}

func TestHoldKeepsAKeyBackUntilItIsReleased(t *testing.T) {
	hold := workqueue.Outcome{Hold: time.Second}
	inBubble(t, plain, func(k kit) {
		k.Add("a")
		k.get("a", 0).Done(hold)
		k.Release("a") // and nothing was added
		k.wantIdle()

		k.Add("a")
		k.get("a", 0).Done(hold)
		k.Add("a")
		if s, _ := k.StatusOf("a"); !s.Held || s.Ready || !s.Due.Equal(k.began.Add(time.Second)) {
			t.Errorf("got %+v", s)
		}
		time.Sleep(10 * ms)
		k.Release("a")
		k.Release("a")
		k.Release("unknown")
		item := k.get("a", 10*ms)

		k.Add("a") // while it runs
		item.Done(hold)
		item = k.get("a", time.Second+10*ms) // when the hold has ended by itself

		k.AddWith("a", after(5*ms))
		item.Done(hold)
		time.Sleep(2 * ms)
		k.Release("a")
		k.get("a", time.Second+15*ms).Done(workqueue.Outcome{Failed: true, Hold: time.Second})
		k.Release("a")
		k.get("a", time.Second+25*ms).Done(hold) // its retry
		k.AddWith("a", after(ms))
		time.Sleep(time.Second)
		k.get("a", 2*time.Second+25*ms).Done(hold)
		time.Sleep(time.Second)
		k.wantIdle()
	})
}

func TestGetWaitsForTheEndOfAHold(t *testing.T) {
	inBubble(t, plain, func(k kit) {
		k.Add("a")
		k.get("a", 0).Done(workqueue.Outcome{Hold: 30 * ms})
		k.Add("a")
		ctx, cancel := context.WithTimeout(context.Background(), 20*ms)
		defer cancel()
		if item, err := k.Get(ctx); err == nil {
			t.Fatalf("got %v", item)
		}
		k.get("a", 30*ms).Done(succeeded)
	})
}

// A delay that was dropped must not come up in the place of a later one of the same time.
func TestADroppedDelayOfTheSameTimeStaysDropped(t *testing.T) {
	inBubble(t, plain, func(k kit) {
		k.AddWith("a", after(20*ms))
		k.Add("a")
		k.get("a", 0).Done(succeeded)
		k.AddWith("b", after(20*ms))
		k.AddWith("a", after(20*ms))
		k.get("b", 20*ms).Done(succeeded)
		k.get("a", 20*ms).Done(succeeded)
	})
}
