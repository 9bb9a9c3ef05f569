// SPDX-License-Identifier: Apache-2.0

package workqueue_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/informer-gen/informer-gen/runtime/workqueue"
)

func at(l workqueue.Level) workqueue.AddOptions { return workqueue.AddOptions{Level: l} }

func TestTheHighestLevelComesFirst(t *testing.T) {
	inBubble(t, plain, func(k kit) {
		k.AddWith("low", at(workqueue.Low))
		k.AddWith("lower than low", at(-100))
		k.Add("normal")
		k.AddWith("high", at(workqueue.High))
		k.AddWith("higher than high", at(100))
		for _, want := range []string{"high", "higher than high", "normal", "low", "lower than low"} {
			k.get(want, 0).Done(succeeded)
		}
	})
}

func TestALevelIsRaisedAndNeverLowered(t *testing.T) {
	inBubble(t, plain, func(k kit) {
		for _, key := range []string{"a", "b", "c"} {
			k.AddWith(key, at(workqueue.Low))
		}
		k.Add("b")
		k.AddWith("b", at(workqueue.Low))
		if item := k.get("b", 0); item.Level != workqueue.Normal {
			t.Errorf("got level %d", item.Level)
		}
		k.get("a", 0).Done(succeeded)
		k.get("c", 0).Done(succeeded)

		k.AddWith("d", workqueue.AddOptions{After: 10 * ms, Level: workqueue.High})
		k.AddWith("d", workqueue.AddOptions{After: 20 * ms, Level: workqueue.Low})
		if item := k.get("d", 10*ms); item.Level != workqueue.High {
			t.Errorf("got level %d", item.Level)
		}
	})
}

// TestALevelSurvivesRetriesAndAfter: and ends with a success.
func TestALevelSurvivesRetriesAndAfter(t *testing.T) {
	inBubble(t, plain, func(k kit) {
		k.AddWith("a", at(workqueue.High))
		k.get("a", 0).Done(failed)
		item := k.get("a", 10*ms)
		if item.Level != workqueue.High {
			t.Errorf("got level %d after a failure", item.Level)
		}
		item.Done(workqueue.Outcome{After: 10 * ms})
		item = k.get("a", 20*ms)
		if item.Level != workqueue.High {
			t.Errorf("got level %d after After", item.Level)
		}
		k.AddWith("a", at(workqueue.Low))
		item.Done(failed)
		item = k.get("a", 30*ms)
		if item.Level != workqueue.High {
			t.Errorf("got level %d after a failure, with an event at a lower level", item.Level)
		}
		k.AddWith("a", at(workqueue.Low))
		item.Done(succeeded)
		if item = k.get("a", 30*ms); item.Level != workqueue.Low {
			t.Errorf("got level %d of an event", item.Level)
		}
	})
}

// TestNoLevelStarves: while keys of the levels above come without end, position p of a level is
// handed out within 16·p hand-outs, and of any 16 one was ready for longer than all others.
func TestNoLevelStarves(t *testing.T) {
	for _, busy := range [][]workqueue.Level{
		{workqueue.High}, {workqueue.Normal}, {workqueue.High, workqueue.Normal},
	} {
		t.Run(fmt.Sprint(busy), func(t *testing.T) {
			inBubble(t, plain, func(k kit) {
				const waiting = 50
				for n := range waiting {
					k.AddWith(fmt.Sprint("low ", n), at(workqueue.Low))
				}
				next, since := 0, map[workqueue.Level]int{}
				refill := func() {
					for _, l := range busy {
						k.AddWith(fmt.Sprint(l, " ", next), at(l))
						k.AddWith(fmt.Sprint(l, " ", next, " too"), at(l))
						next++
					}
				}
				refill()
				low := 0
				for n := 1; low < waiting; n++ {
					refill()
					item, err := k.Get(context.Background())
					if err != nil {
						t.Fatal(err)
					}
					item.Done(succeeded)
					for _, l := range append(busy, workqueue.Low) {
						if since[l]++; since[l] > 16 {
							t.Fatalf("16 hand-outs without one of level %d", l)
						}
					}
					since[item.Level] = 0
					if strings.HasPrefix(item.Key, "low ") {
						low++
						if item.Key != fmt.Sprint("low ", low-1) || n > 16*low {
							t.Fatalf("hand-out %d was %q, the key at position %d", n, item.Key, low)
						}
					}
				}
			})
		})
	}
}

// TestTheOldestKeyIsAmongAny16 plays a queue that gets more than is taken, at random levels, and
// looks for the key that has been ready for longest.
func TestTheOldestKeyIsAmongAny16(t *testing.T) {
	inBubble(t, plain, func(k kit) {
		levels := []workqueue.Level{workqueue.High, workqueue.High, workqueue.Normal, workqueue.High, workqueue.Low}
		without := 0
		for n := range 3000 {
			time.Sleep(time.Microsecond)
			k.AddWith(fmt.Sprint(n), at(levels[n%len(levels)]))
			if n%2 == 0 {
				continue
			}
			oldest := k.Status().Oldest.Key
			item, err := k.Get(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			item.Done(succeeded)
			if without++; item.Key == oldest {
				without = 0
			}
			if without >= 16 {
				t.Fatalf("16 hand-outs without the oldest key, which is %s", oldest)
			}
		}
	})
}

func TestLevelsAsText(t *testing.T) {
	all, err := json.Marshal([]workqueue.Level{workqueue.Low - 1, workqueue.Low, workqueue.Normal, workqueue.High, workqueue.High + 1})
	if want := `["low","low","normal","high","high"]`; err != nil || string(all) != want {
		t.Errorf("got %s, %v, want %s", all, err, want)
	}
}
