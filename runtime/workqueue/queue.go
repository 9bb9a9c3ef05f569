// SPDX-License-Identifier: Apache-2.0

package workqueue

import (
	"errors"
	"sync"
	"time"

	"github.com/informer-gen/informer-gen/runtime/metrics"
)

// Queue is a work queue of keys. Each key is in it at most once, however often it is added, and
// with at most one worker. Any goroutine may call its methods.
type Queue[K comparable] struct {
	// set once at construction
	name       string
	created    time.Time // the origin of all times below
	limiter    Exponential
	endMetrics func()
	tenantOf   func(K) string // nil unless made by NewFair
	wake       chan struct{}  // a value wakes one worker in Get
	exhausted  chan struct{}  // closed when nothing more will be handed out
	ended      chan struct{}  // closed when nothing runs either

	endOnce sync.Once

	mu sync.Mutex // mu guards the fields below, and all entries

	entries     map[K]*entry[K]
	maxEntries  int                   // maximum size of entries since it was made
	freeEntries *entry[K]             // linked by next
	tenants     map[string]*tenant[K] // nil unless made by NewFair
	ready       [levels]line[K]
	passedOver  [levels]uint8 // consecutive hand-outs of other levels while this one had a key
	running     list[K]       // in the order of hand-outs
	purges      []*purge      // with running keys
	handOuts    uint64
	paced       line[K]
	retryRate   rateLimit
	delays      delays[K] // of delayed and held keys
	pushes      uint64    // onto delays
	heldKeys    int
	failingKeys int

	waitingWorkers int  // in Get
	waking         bool // a value of wake is on its way to one of them
	timer          *time.Timer
	timerDue       time.Duration // when timer fires, or 0

	closed      bool
	mode        Mode
	dropped     int
	droppedKeys []K

	stats
}

// Options are the settings of a [Queue]. The zero value is ready to use.
type Options struct {
	// Name is the label name's value in metrics, and appears in errors.
	Name string
	// Metrics receives the queue's metrics from New until ShutDown has returned. Nil means no
	// metrics.
	Metrics metrics.QueueProvider
	// Limiter sets the delay after failures. The zero value means Exponential{Base: 5 *
	// time.Millisecond, Max: 1000 * time.Second, Jitter: 0.1}.
	Limiter Exponential
	// RetryRate is the maximum number of retries per second, of all keys together; RetryBurst is
	// the maximum at once after a quiet period. A rate of 0 means 100, a burst of 0 means 1,000. A
	// negative rate means no limit.
	RetryRate  float64
	RetryBurst int
}

// New returns an empty queue. It starts nothing.
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
		name: opts.Name, created: time.Now(), limiter: opts.Limiter, endMetrics: func() {},
		wake: make(chan struct{}, 1), exhausted: make(chan struct{}), ended: make(chan struct{}),
		entries: map[K]*entry[K]{}, retryRate: newRateLimit(opts.RetryRate, opts.RetryBurst),
	}
	for n := range q.ready {
		q.ready[n].number = uint8(n)
	}
	q.paced.number = levels
	if opts.Metrics != nil {
		q.endMetrics = opts.Metrics.BeginQueue(opts.Name, q.state)
	}
	return q
}

func (q *Queue[K]) now() time.Duration { return time.Since(q.created) }

func (q *Queue[K]) at(since time.Duration) time.Time { return q.created.Add(since).UTC() }

// Level is the priority of a key. The zero value is Normal. Values below Low count as Low, values
// above High as High.
//
// The highest level is handed out first, and each level in the order of arrival. No level starves:
// any 16 consecutive hand-outs have at least one of each level with a key ready all the time. So
// the key at position p of its level is handed out within 16·p hand-outs, and any 16 hand-outs
// include the key that had been ready for longest. With [NewFair], this holds for each tenant.
type Level int8

const (
	// Low is for keys that can wait, such as an informer's initial objects.
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

// A level's number is its rank in the order of hand-outs.
const levels = 3

func numberOf(l Level) uint8 { return uint8(High - max(Low, min(High, l))) }

func levelOf(number uint8) Level { return High - Level(number) }

// AddOptions are the options of [Queue.AddWith]. The zero value means [Queue.Add].
type AddOptions struct {
	// Level is the key's level. A key that already waits takes the higher of its old and new
	// levels.
	Level Level
	// After is the delay before the key is ready. 0 or less means ready now.
	After time.Duration
}

// Add adds a key at level Normal, for the next free worker.
//
//   - A ready key stays where it is.
//   - A running key is ready again when its [Item] is done.
//   - A delayed key is ready now, and its delay is dropped.
//   - A failed key is ready now, too, but not sooner than Exponential.Base after its last attempt
//     ended. It keeps its failure count.
//   - A held key is ready when it is released.
//
// After ShutDown was called, Add does nothing.
func (q *Queue[K]) Add(key K) { q.AddWith(key, AddOptions{}) }

// AddWith adds a key at a level, or after a delay.
//
//   - Of several delays of one key the earliest counts; the others are dropped.
//   - A ready key stays ready, whatever the delay.
//   - A running key waits for the rest of the delay when its Item is done.
//   - A failed key is ready after its retry's delay or this one, whichever ends first, but not
//     sooner than Exponential.Base after its last attempt ended.
func (q *Queue[K]) AddWith(key K, opts AddOptions) {
	tenant := ""
	if q.tenantOf != nil {
		tenant = q.tenantOf(key)
	}
	now := q.now()
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return
	}
	q.tickLocked(now)
	q.addLocked(key, tenant, numberOf(opts.Level), opts.After, now)
	q.unlockAndWake(now)
}

// ErrShutDown is returned by [Queue.Get] when the queue was shut down and has nothing more to hand
// out.
var ErrShutDown = errors.New("the work queue was shut down")

// Item is a key handed out to a worker.
type Item[K comparable] struct {
	// Key is the added key.
	Key K
	// Level is the level of the hand-out.
	Level Level
	// Failures is the number of consecutive failed attempts before this one, at most 255.
	Failures int

	queue *Queue[K]
	entry *entry[K]
	run   uint64
}

// Outcome is the result of an [Item]. The zero value means there is nothing more to do, after a
// success or an error that retries can't heal; the key's failures are forgotten.
//
// A key added while it was worked on is handed out again in any case, by the rules of [Queue.Add]
// and [Queue.AddWith].
type Outcome struct {
	// Failed means the attempt failed. The failure is counted. The key is ready again, at its old
	// level, after the delay of Options.Limiter and when Options.RetryRate allows it.
	Failed bool
	// After, if positive, is the delay before the key is ready again, at its old level. With
	// Failed, the failure is counted, and the shorter of the limiter's delay and After counts, but
	// at least Exponential.Base.
	After time.Duration
	// Hold, if positive, is the maximum time the key is held back: it is not handed out before
	// [Queue.Release] or the end of this time. Adds during the hold, and this outcome's retry or
	// After, take effect when the hold ends. Without any of these, the key is then gone.
	Hold time.Duration
}

// Done reports the item's outcome and releases its key. A second call does nothing.
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

// Release ends the hold of a key that was done with Outcome.Hold. It ignores keys that are not
// held.
func (q *Queue[K]) Release(key K) {
	now := q.now()
	q.mu.Lock()
	q.tickLocked(now)
	q.releaseLocked(key, now)
	q.unlockAndWake(now)
}

// Len returns the number of ready keys.
func (q *Queue[K]) Len() int {
	now := q.now()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.tickLocked(now)
	return q.ready[0].len() + q.ready[1].len() + q.ready[2].len()
}
