// SPDX-License-Identifier: Apache-2.0

package fanout

import (
	"slices"
	"sync"
	"time"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/changelog"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/mutation"
	"github.com/informer-gen/informer-gen/runtime/internal/table"
	"github.com/informer-gen/informer-gen/runtime/metrics"
)

// Config configures a Fanout.
type Config struct {
	Name      string             // of the informer
	Epoch     time.Time          // points in time are durations since it
	Synced    <-chan struct{}    // closed when the informer has synced; NotifySynced follows
	Mutations *mutation.Detector // checks the objects of each callback; nil: none
	// Version is the version before the first publication.
	Version *table.Version
}

// Fanout delivers changes to any number of subscriptions. Its methods may be called by any
// goroutine, except that only one Publish may be in progress at a time.
type Fanout struct {
	config Config // set once at construction

	wg       sync.WaitGroup // the goroutines that call handlers
	watchdog sync.WaitGroup // the goroutine that watches callbacks

	mu           sync.Mutex // guards the rest
	log          changelog.Log
	version      *table.Version  // the newest one
	subs         []*Subscription // replaced, never modified
	run          *Run            // the current one; nil after Close
	stopWatchdog chan struct{}   // ends the watchdog of the run
}

// Run is a period in which handlers are called.
type Run struct {
	Over     <-chan struct{} // no callback begins once it is closed; Close is called then
	Logger   klog.Logger
	Recorder metrics.InformerRecorder // nil: none
}

// New returns a Fanout without subscriptions, which does not run.
func New(config Config) *Fanout {
	return &Fanout{config: config, log: changelog.New(), version: config.Version}
}

// Add adds a subscription. Its initial objects are those of the newest version.
func (f *Fanout) Add(h Handler, config HandlerConfig) *Subscription {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := newSubscription(f, h, config, f.log.End())
	if f.version.Len() > 0 {
		s.replays = []replay{{version: f.version, at: f.now()}}
	}
	f.subs = append(slices.Clip(f.subs), s)
	if f.run != nil {
		s.start(f.run)
	}
	return s
}

func (f *Fanout) forget(s *Subscription) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.subs = slices.DeleteFunc(slices.Clone(f.subs), func(other *Subscription) bool { return other == s })
}

// Open begins a run: each subscription gets a goroutine.
func (f *Fanout) Open(r *Run) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.run, f.stopWatchdog = r, make(chan struct{})
	for _, s := range f.subs {
		s.start(r)
	}
	stopWatchdog := f.stopWatchdog
	f.watchdog.Go(func() { f.watch(r, stopWatchdog) })
}

// Close ends a run whose Over is closed. It waits until every callback has returned.
func (f *Fanout) Close() {
	f.mu.Lock()
	f.run = nil
	stopWatchdog, subs := f.stopWatchdog, f.subs
	f.mu.Unlock()
	for _, s := range subs {
		s.wakeUp()
	}
	f.wg.Wait()
	close(stopWatchdog)
	f.watchdog.Wait()
}

// Publication is one version of the table, with its changes.
type Publication struct {
	Version *table.Version
	// Changes are delivered to every subscription. Fanout keeps the slice.
	Changes []changelog.Change
	// Full reports that Changes are the differences of a full state.
	Full bool
	// Initial reports whether the objects of Namespace, or all of them if that is "", are initial
	// objects to deliver. The log then has no changes of them.
	Initial   bool
	Namespace string
}

// loggedBatch is the part of the log with the changes of one publication.
type loggedBatch struct {
	at      time.Duration
	end     int64 // length of the log after it
	changes int64
	full    bool // the changes are the differences of a full state
}

type laggard struct {
	*Subscription
	start int64 // changes that it had passed at the publication
}

// Publish logs the changes of a version, and wakes the handlers. It waits for nothing. The caller
// calls the returned function, unless nil, to wait for handlers that lag, at most until over is
// closed.
func (f *Fanout) Publish(p Publication) (wait func(over <-chan struct{})) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.version = p.Version
	if len(f.subs) == 0 {
		return nil
	}
	now := f.now()
	if p.Initial {
		for _, s := range f.subs {
			s.addReplay(replay{p.Version, p.Namespace, now})
		}
	}
	if len(p.Changes) == 0 {
		return nil
	}
	f.log.Append(p.Changes, now)
	logged := loggedBatch{at: now, end: f.log.Len(), changes: int64(len(p.Changes)), full: p.Full}
	var laggards []laggard
	for _, s := range f.subs {
		if passed, lags := s.lags(logged.end); lags {
			laggards = append(laggards, laggard{s, passed})
		}
		s.wakeUp()
	}
	if laggards == nil {
		return nil
	}
	return func(over <-chan struct{}) {
		for _, l := range laggards {
			l.keepUp(logged, over)
		}
	}
}

// NotifySynced is called after Config.Synced was closed.
func (f *Fanout) NotifySynced() {
	for _, s := range f.Subscriptions() {
		s.wakeUp()
	}
}

// Subscriptions returns the subscriptions, oldest first. The slice must not be changed.
func (f *Fanout) Subscriptions() []*Subscription {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.subs
}

func (f *Fanout) logLen() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.log.Len()
}

func (f *Fanout) now() time.Duration { return time.Since(f.config.Epoch) }
