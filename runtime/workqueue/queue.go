// SPDX-License-Identifier: Apache-2.0

package workqueue

import (
	"context"
	"errors"
	"time"

	"github.com/informer-gen/informer-gen/runtime/metrics"
)

// Queue is a work queue of keys. A key is in it once at most, however often it is added, and is
// handed out to one worker at a time. Any goroutine may call its methods. Except for [Queue.Get] and
// [Queue.ShutDown], none of them waits for anything but the queue's lock.
type Queue[K comparable] struct {
	core core
}

// Options are the settings of a [Queue]. The zero value is ready to use.
type Options struct {
	// Name is the value of the label name in metrics, and stands in errors.
	Name string
	// Metrics gets the queue's metrics from New until ShutDown has returned. Nil means that there
	// are none.
	Metrics metrics.QueueProvider
	// Limiter says how long a key waits after a failure. Nil stands for
	// Exponential{Base: 5 * time.Millisecond, Max: 1000 * time.Second, Jitter: 0.1}.
	Limiter Limiter
	// RetryRate is how many keys a second may come back because of a failure, of all keys together;
	// RetryBurst is how many may do so at once after a quiet period. A key that has waited its delay
	// takes its turn among those; a key that is added meanwhile does not wait for its turn. A rate
	// of 0 stands for 100 a second, a burst of 0 for 1,000. A negative rate means no limit.
	RetryRate  float64
	RetryBurst int
	// Seed makes the delays of two queues equal, for tests. 0 stands for a random one.
	Seed uint64
}

// New returns an empty queue. It starts nothing: a queue has no goroutine, and no timer unless a
// worker waits while a key is delayed.
func New[K comparable](opts Options) *Queue[K] { panic("not built yet") }

// Level is the priority of a key. The zero value is Normal. Values below Low count as Low, values
// above High as High.
//
// The highest level is handed out first, and within a level the key that came first. No level
// starves: of any 16 hand-outs in a row, at least one is of each level that had a key ready all the
// time. So the key at position p of its level is handed out within 16·p hand-outs, and in any 16
// there is one that was ready for longer than all others.
type Level int8

const (
	// Low is for what can wait, such as the objects that an informer finds at its start.
	Low Level = -1
	// Normal is what Add uses.
	Normal Level = 0
	// High goes before all others.
	High Level = 1
)

// AddOptions say how a key is added. The zero value is what [Queue.Add] does.
type AddOptions struct {
	// Level is the level that the key is handed out at. A key that waits already has the higher one
	// of the two from then on.
	Level Level
	// After is how long the key waits before it is ready. 0 and less mean that it is ready now.
	After time.Duration
}

// Add adds a key at level Normal, to be handed out as soon as a worker is free.
//
//   - A key that is ready stays where it is.
//   - A key that is being worked on is ready again when its [Item] is done.
//   - A key that waits for a delay is ready now, and its delay is dropped.
//   - A key that failed is ready now too, but not sooner than Limiter.Least after its last attempt
//     has ended. It keeps its count of failures.
//   - A key that is held is ready when it is released.
//
// After ShutDown was called, Add does nothing.
func (q *Queue[K]) Add(key K) { panic("not built yet") }

// AddWith adds a key at a level, or after a delay.
//
//   - Of several delays of one key the earliest counts; the others are dropped.
//   - A key that is ready stays ready, whatever the delay.
//   - A key that is being worked on waits for the rest of the delay when its Item is done.
//   - A key that failed is ready at the earlier one of its retry and the delay, but not sooner than
//     Limiter.Least after its last attempt has ended.
func (q *Queue[K]) AddWith(key K, opts AddOptions) { panic("not built yet") }

// Get waits for a key that is ready and hands it out. The caller works on it and calls [Item.Done]
// exactly once. The error is [ErrShutDown] once there is nothing more to hand out, or
// context.Cause(ctx) if ctx ends first. Then there is no item.
func (q *Queue[K]) Get(ctx context.Context) (Item[K], error) { panic("not built yet") }

// ErrShutDown is what [Queue.Get] returns when the queue was shut down and has nothing more to hand
// out.
var ErrShutDown = errors.New("the work queue was shut down")

// Item is a key that was handed out. Until Done is called, no other worker gets the key.
type Item[K comparable] struct {
	// Key is what was added.
	Key K
	// Level is the level at which the key was handed out.
	Level Level
	// Failures is how many attempts in a row have failed before this one, 255 at most.
	Failures int
	// Waited is how long the key was ready before it was handed out.
	Waited time.Duration

	queue *Queue[K]
	slot  int32
	run   uint32
}

// Outcome is what has come of an [Item]. The zero value means that there is nothing more to do: the
// attempt was successful, or trying again would be no use. Either way the failures of the key are
// forgotten.
//
// What was added while the key was worked on counts too, by the rules of [Queue.Add] and
// [Queue.AddWith]: the key is handed out again.
type Outcome struct {
	// Failed means that the attempt failed. It is counted, and the key is ready again after the
	// delay of Options.Limiter, at the level that it had, and when Options.RetryRate allows it.
	Failed bool
	// After, if it is positive, is how long the key waits until it is ready again, at the level that
	// it had. Together with Failed the failure is counted, and of the limiter's delay and After the
	// earlier one counts, as always with several delays of one key. It is not sooner than
	// Limiter.Least.
	After time.Duration
	// Hold, if it is positive, is how long the key is held back at most: it is not handed out before
	// [Queue.Release] is called for it, or the time has passed. What is added meanwhile, and the
	// retry or After of this outcome, take effect when the hold ends. If there is nothing of the
	// kind, the end of the hold is the end of the key.
	Hold time.Duration
}

// Done says what has come of the item, and lets go of its key. A second call does nothing.
func (i Item[K]) Done(outcome Outcome) { panic("not built yet") }

// Release ends the hold of a key that was done with Outcome.Hold. It does nothing to a key that is
// not held.
func (q *Queue[K]) Release(key K) { panic("not built yet") }

// Forget forgets how often the key has failed: its next failure counts as the first. If the key
// waits to be tried again, it is still tried again, at the same time. If it is being worked on,
// only failures before this attempt are forgotten.
func (q *Queue[K]) Forget(key K) { panic("not built yet") }

// Len returns how many keys are ready to be handed out.
func (q *Queue[K]) Len() int { panic("not built yet") }

// Mode is what [Queue.ShutDown] does with keys that were added and not handed out.
type Mode uint8

const (
	// Drop hands out nothing more.
	Drop Mode = iota
	// Finish hands out what is ready. It drops what is delayed or held, and what was added while
	// the key was worked on.
	Finish
	// Drain hands out what is ready, and once more the keys that were added before the shutdown
	// while they were worked on. It drops what is delayed or held.
	Drain
)

// ShutDown ends the queue: nothing can be added any more, retries of failed keys included. It
// returns when every item that was handed out is done; in the modes Finish and Drain, that includes
// what the workers have yet to get, so they must go on until Get returns [ErrShutDown].
//
// If ctx ends first, the error names the keys that are still worked on, how long they have been,
// and how many are ready, and wraps context.Cause(ctx). The queue stays shut down, and ShutDown may
// be called again: to wait again, or with a stricter mode, which then holds. The order is Drain,
// Finish, Drop; a mode that is less strict than the present one changes nothing. What was dropped
// is in [Status].
func (q *Queue[K]) ShutDown(ctx context.Context, mode Mode) error { panic("not built yet") }

// Status is a state of a queue at one moment.
type Status[K comparable] struct {
	// High, Normal and Low are how many keys of each level are ready to be handed out.
	High, Normal, Low int
	// Delayed is how many keys wait for a time, because of a delay or a failure. NextDue is when the
	// first one is due, the zero time if there is none.
	Delayed int
	NextDue time.Time
	// Paced is how many keys have waited their delay after a failure and wait for Options.RetryRate.
	Paced int
	// Held is how many keys wait for Release.
	Held int
	// Failing is how many keys have failed at their last attempt, in whatever state they are.
	Failing int
	// Oldest is the key that has been ready for longest. It is nil if no key is ready.
	Oldest *KeyStatus[K]
	// Running are the keys that are worked on, the one that has been for longest first.
	Running []KeyStatus[K]
	// ShutDown reports whether ShutDown was called.
	ShutDown bool
	// Dropped is how many keys were dropped by ShutDown. DroppedKeys are the first of them, 100 at
	// most.
	Dropped     int
	DroppedKeys []K
}

// KeyStatus is where a key is at one moment.
type KeyStatus[K comparable] struct {
	Key K
	// Level is the level at which the key will be handed out, or was if it is running.
	Level Level
	// Failures is how many attempts in a row have failed.
	Failures int
	// Running reports whether the key is worked on, and Ready whether it can be handed out. If both
	// are true, it was added while it was worked on.
	Running, Ready bool
	// Held reports whether the key waits for Release, and Paced whether it waits for
	// Options.RetryRate.
	Held, Paced bool
	// Since is when the key was handed out if it is running, else when it became ready if it is, else
	// when its last attempt ended. It is the zero time if the key only waits for a delay.
	Since time.Time
	// Due is when the delay of the key ends, or the hold at the latest. The zero time means that it
	// waits for neither.
	Due time.Time
}

// Status returns the state of the queue. It takes time in proportion to the number of running keys,
// and of dropped ones.
func (q *Queue[K]) Status() Status[K] { panic("not built yet") }

// StatusOf returns where a key is. The second result reports whether the queue knows the key.
func (q *Queue[K]) StatusOf(key K) (KeyStatus[K], bool) { panic("not built yet") }
