// SPDX-License-Identifier: Apache-2.0

package workqueue

import (
	"errors"
	"sync"
	"time"

	"github.com/informer-gen/informer-gen/runtime/metrics"
)

// Queue is a work queue of keys. A key is in it once at most, however often it is added, and is
// handed out to one worker at a time. Any goroutine may call its methods. Except for [Queue.Get]
// and [Queue.ShutDown], none of them waits for anything but the queue's lock.
type Queue[K comparable] struct {
	// set once at construction
	name       string
	made       time.Time // all times below are since then
	limiter    Exponential
	endMetrics func()
	wake       chan struct{} // a value wakes one worker that waits in Get
	over       chan struct{} // closed when nothing more will be handed out
	ended      chan struct{} // closed when, besides, nothing is running

	endOnce sync.Once

	mu sync.Mutex // mu guards what follows, and all entries

	entries map[K]*entry[K]
	most    int       // keys at once, since entries was made
	spare   *entry[K] // to be used again, linked by next
	ready   [levels]list[K]
	passed  [levels]uint8 // hand-outs of others in a row, while the level had a key
	running list[K]       // in the order of hand-outs
	runs    uint64        // hand-outs
	paced   list[K]
	pace    pace
	delays  delays[K] // of delayed and held keys
	pushed  uint64    // onto delays
	held    int
	failing int

	waiting int  // workers in Get that wait
	waking  bool // a value of wake is on its way to one of them
	timer   *time.Timer
	armed   time.Duration // when timer fires; 0 if it doesn't

	closed      bool
	mode        Mode
	dropped     int
	droppedKeys []K

	stats
}

// Options are the settings of a [Queue]. The zero value is ready to use.
type Options struct {
	// Name is the value of the label name in metrics, and stands in errors.
	Name string
	// Metrics gets the queue's metrics from New until ShutDown has returned. Nil means that there
	// are none.
	Metrics metrics.QueueProvider
	// Limiter says how long a key waits after a failure. The zero value stands for
	// Exponential{Base: 5 * time.Millisecond, Max: 1000 * time.Second, Jitter: 0.1}.
	Limiter Exponential
	// RetryRate is how many keys a second may come back because of a failure, of all keys together;
	// RetryBurst is how many may do so at once after a quiet period. A key that has waited its
	// delay takes its turn among those; a key that is added meanwhile does not wait for its turn. A
	// rate of 0 stands for 100 a second, a burst of 0 for 1,000. A negative rate means no limit.
	RetryRate  float64
	RetryBurst int
}

// New returns an empty queue. It starts nothing: a queue has no goroutine, and no timer unless a
// worker waits while a key is delayed.
func New[K comparable](opts Options) *Queue[K] {
	if opts.Limiter == (Exponential{}) {
		opts.Limiter = Exponential{Base: 5 * time.Millisecond, Max: 1000 * time.Second, Jitter: 0.1}
	}
	if opts.RetryRate == 0 {
		opts.RetryRate = 100
	}
	if opts.RetryBurst == 0 {
		opts.RetryBurst = 1000
	}
	q := &Queue[K]{
		name: opts.Name, made: time.Now(), limiter: opts.Limiter, endMetrics: func() {},
		wake: make(chan struct{}, 1), over: make(chan struct{}), ended: make(chan struct{}),
		entries: map[K]*entry[K]{}, pace: newPace(opts.RetryRate, opts.RetryBurst),
	}
	if opts.Metrics != nil {
		q.endMetrics = opts.Metrics.BeginQueue(opts.Name, q.state)
	}
	return q
}

func (q *Queue[K]) now() time.Duration { return time.Since(q.made) }

// at returns a time since the queue was made as a time.
func (q *Queue[K]) at(since time.Duration) time.Time { return q.made.Add(since).UTC() }

// Level is the priority of a key. The zero value is Normal. Values below Low count as Low, values
// above High as High.
//
// The highest level is handed out first, and within a level the key that came first. No level
// starves: of any 16 hand-outs in a row, at least one is of each level that had a key ready all the
// time. So the key at position p of its level is handed out within 16·p hand-outs, and in any 16
// there is one that was ready for longer than all others.
type Level int8

const (
	// Low is for keys that can wait, such as the objects that an informer finds at its start.
	Low Level = -1
	// Normal is the level of Add.
	Normal Level = 0
	// High goes before all others.
	High Level = 1
)

// String returns "low", "normal" or "high".
func (l Level) String() string { return [levels]string{"high", "normal", "low"}[numberOf(l)] }

// MarshalText returns String, for JSON.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// A level's number is its place in the order of hand-outs.
const levels = 3

func numberOf(l Level) uint8 { return uint8(High - max(Low, min(High, l))) }

func levelOf(number uint8) Level { return High - Level(number) }

// AddOptions say how a key is added. The zero value means [Queue.Add].
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
//   - A key that failed is ready now too, but not sooner than Exponential.Base after its last
//     attempt has ended. It keeps its count of failures.
//   - A key that is held is ready when it is released.
//
// After ShutDown was called, Add does nothing.
func (q *Queue[K]) Add(key K) { q.AddWith(key, AddOptions{}) }

// AddWith adds a key at a level, or after a delay.
//
//   - Of several delays of one key the earliest counts; the others are dropped.
//   - A key that is ready stays ready, whatever the delay.
//   - A key that is being worked on waits for the rest of the delay when its Item is done.
//   - A key that failed is ready at the earlier one of its retry and the delay, but not sooner than
//     Exponential.Base after its last attempt has ended.
func (q *Queue[K]) AddWith(key K, opts AddOptions) {
	now := q.now()
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return
	}
	q.tickLocked(now)
	q.addLocked(key, numberOf(opts.Level), opts.After, now)
	q.unlockAndWake(now)
}

// ErrShutDown is returned by [Queue.Get] when the queue was shut down and has nothing more to hand
// out.
var ErrShutDown = errors.New("the work queue was shut down")

// Item is a key that was handed out. Until Done is called, no other worker gets the key.
type Item[K comparable] struct {
	// Key is the key that was added.
	Key K
	// Level is the level at which the key was handed out.
	Level Level
	// Failures is how many attempts in a row have failed before this one, 255 at most.
	Failures int

	queue *Queue[K]
	entry *entry[K]
	run   uint64
}

// Outcome is the result of an [Item]. The zero value means that there is nothing more to do: the
// attempt was successful, or trying again would be no use. Either way the failures of the key are
// forgotten.
//
// What was added while the key was worked on counts too, by the rules of [Queue.Add] and
// [Queue.AddWith]: the key is handed out again.
type Outcome struct {
	// Failed means that the attempt failed. It is counted, and the key is ready again after the
	// delay of Options.Limiter, at the level that it had, and when Options.RetryRate allows it.
	Failed bool
	// After, if it is positive, is how long the key waits until it is ready again, at the level
	// that it had. Together with Failed the failure is counted, and of the limiter's delay and
	// After the earlier one counts, as always with several delays of one key. It is not sooner than
	// Exponential.Base.
	After time.Duration
	// Hold, if it is positive, is how long the key is held back at most: it is not handed out
	// before [Queue.Release] is called for it, or the time has passed. What is added meanwhile, and
	// the retry or After of this outcome, take effect when the hold ends. If there is nothing of
	// the kind, the end of the hold is the end of the key.
	Hold time.Duration
}

// Done reports the outcome of the item, and lets go of its key. A second call does nothing.
func (i Item[K]) Done(outcome Outcome) {
	q := i.queue
	if q == nil {
		return
	}
	now := q.now()
	q.mu.Lock()
	q.tickLocked(now)
	q.doneLocked(i.entry, i.run, outcome, now)
	q.unlockAndWake(now)
}

// Release ends the hold of a key that was done with Outcome.Hold. It does nothing to a key that is
// not held.
func (q *Queue[K]) Release(key K) {
	now := q.now()
	q.mu.Lock()
	q.tickLocked(now)
	q.releaseLocked(key, now)
	q.unlockAndWake(now)
}

// Len returns how many keys are ready to be handed out.
func (q *Queue[K]) Len() int {
	now := q.now()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.tickLocked(now)
	return q.readyLocked()
}
