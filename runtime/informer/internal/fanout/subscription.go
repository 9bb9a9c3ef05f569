// SPDX-License-Identifier: Apache-2.0

package fanout

import (
	"sync"
	"time"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/changelog"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/outcome"
	"github.com/informer-gen/informer-gen/runtime/internal/table"
	"github.com/informer-gen/informer-gen/runtime/metrics"
)

// Subscription is one handler and its position: first in a replayed version, then in the log.
type Subscription struct {
	// set once at construction
	fanout  *Fanout
	handler Handler
	config  HandlerConfig
	synced  chan struct{} // closed when the initial objects are delivered
	// wake has capacity 1. It gets a token when there is more to deliver.
	wake chan struct{}

	// Only the handler's goroutine uses these.
	crashing bool                    // the handler's panic is about to end the process
	calls    int                     // number of calls of the handler
	recorder metrics.HandlerRecorder // of the run; nil without metrics
	timer    *time.Timer             // of the run; nil without a resync

	mu        sync.Mutex // guards the rest
	resyncDue bool
	replays   []replay          // delivered before everything else
	replayed  int               // objects of replays[0] that were delivered or skipped
	backlog   changelog.Backlog // merged changes, older than those in the log
	cursor    changelog.Cursor  // the next change to deliver or merge
	flow      flowControl
	removed   bool

	goroutine uint64           // the number of the handler's goroutine; 0 if none
	running   changelog.Change // the handler's current argument; Type is 0 between calls
	since     time.Duration    // start of the running callback, since the epoch
	// when the running callback was last logged as hanging; 0: never
	loggedAt time.Duration
	returned chan struct{} // closed when the running callback has returned; nil if nobody waits
}

// replay is a set of initial objects to deliver: those of a namespace of a version, or all of it if
// namespace is "".
type replay struct {
	version   *table.Version
	namespace string
	at        time.Duration // when it was added, since the epoch
}

func (r replay) objects() table.Set { return r.version.Namespace(r.namespace) }

func newSubscription(f *Fanout, h Handler, config HandlerConfig, at changelog.Cursor) *Subscription {
	return &Subscription{
		fanout:  f,
		handler: h,
		config:  config,
		synced:  make(chan struct{}),
		wake:    make(chan struct{}, 1),
		flow:    flowControl{patience: patience},
		backlog: changelog.Backlog{EveryDeletion: config.EveryDeletion},
		cursor:  at,
	}
}

// Synced returns a channel that is closed when the initial objects are delivered.
func (s *Subscription) Synced() <-chan struct{} { return s.synced }

// HasSynced reports whether Synced is closed.
func (s *Subscription) HasSynced() bool { return outcome.Closed(s.synced) }

func (s *Subscription) wakeUp() {
	select {
	case s.wake <- struct{}{}:
	default: // a token is there already
	}
}

// addReplay adds the first objects of a namespace. No waiting change has one of their keys.
func (s *Subscription) addReplay(r replay) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.removed {
		s.replays = append(s.replays, r)
	}
	s.wakeUp()
}

func (s *Subscription) initialCountLocked() int {
	n := -s.replayed
	for _, r := range s.replays {
		n += r.objects().Len()
	}
	return n
}

// nextLocked takes the next change out of the backlog, or else out of the log.
func (s *Subscription) nextLocked() (next changelog.Change, ok bool) {
	if s.backlog.Len() > 0 {
		return s.backlog.Next()
	}
	logged, _ := s.cursor.Next()
	if logged == nil {
		return next, false
	}
	next = *logged
	s.passLocked()
	return next, true
}
