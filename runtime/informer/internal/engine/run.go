// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"iter"
	"sync"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/fanout"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/intake"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/outcome"
	"github.com/informer-gen/informer-gen/runtime/internal/partition"
	"github.com/informer-gen/informer-gen/runtime/metrics"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// run is the period from the first lease until, after the last one, the last goroutine has ended.
type run struct {
	// Set once at construction. ctx has the values of the first lease's context, and is done when
	// the last lease has ended. previousEnded is closed when the previous run has ended; nil if it
	// already had.
	ctx           context.Context
	cancel        context.CancelCauseFunc
	logger        klog.Logger
	previousEnded <-chan struct{}
	ended         chan struct{} // closed when every goroutine of the run has ended

	wg sync.WaitGroup // every goroutine except the run's own and the fan-out's

	synced chan struct{} // closed when every stream has published a full state in this run

	// joined is the informer in Config.Ring; nil without. ringNews has capacity 1, and gets a token
	// when a stream has read a full state, or the state of its reader has changed.
	joined   *partition.Informer
	ringNews chan struct{}

	// Informer.mu guards the rest.
	reading          bool // its streams are being read
	awaitsNamespaces bool // Config.Namespaces or Config.Ring has not said yet what to read
	// streams without a full state in this run; nil if there are none
	unsynced  map[*intake.Stream]struct{}
	leases    map[*Lease]struct{} // that have not ended
	lastLease *Lease              // the lease that ended last
}

func (r *run) addUnsyncedLocked(s *intake.Stream) {
	if r.unsynced == nil {
		r.unsynced = map[*intake.Stream]struct{}{}
	}
	r.unsynced[s] = struct{}{}
}

func (r *run) syncedLocked(s *intake.Stream) {
	delete(r.unsynced, s)
	r.checkSyncedLocked()
}

// tellFollower makes followRing look whether more is loaded.
func (r *run) tellFollower() {
	select {
	case r.ringNews <- struct{}{}:
	default: // it has been told, or there is no ring
	}
}

func (r *run) checkSyncedLocked() {
	if len(r.unsynced) > 0 || r.awaitsNamespaces {
		return
	}
	r.unsynced = nil // frees the map
	if !outcome.Closed(r.synced) {
		close(r.synced)
	}
}

// startLocked starts a run, which waits for the end of the previous one.
func (i *Informer) startLocked(ctx context.Context, previous *run) *run {
	ctx = context.WithoutCancel(ctx)
	if i.config.Logger != nil {
		ctx = klog.NewContext(ctx, *i.config.Logger)
	}
	r := &run{
		logger: klog.FromContext(ctx), ended: make(chan struct{}),
		synced: make(chan struct{}), leases: map[*Lease]struct{}{}, awaitsNamespaces: i.config.selects(),
	}
	for _, s := range i.streams() {
		r.addUnsyncedLocked(s)
	}
	r.checkSyncedLocked()
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	if previous != nil {
		r.previousEnded = previous.ended
	}
	if i.config.Ring != nil {
		r.joined, r.ringNews = i.config.Ring.Join(i.config.Name, i.ringMode), make(chan struct{}, 1)
	}
	i.run, i.ran = r, true
	i.checkSyncedLocked()
	go func() { // the run's own goroutine; leases wait for it
		if r.previousEnded != nil {
			<-r.previousEnded // so all leases of this run wait for the end of the previous one, too
		}
		if r.ctx.Err() != nil {
			i.endRun(r)
			return
		}
		i.runLoop(r)
	}()
	return r
}

// runLoop begins a run and is its controller loop. At the end, another goroutine finishes the run,
// since runtime.Goexit may end this one.
func (i *Informer) runLoop(r *run) {
	var recorder metrics.InformerRecorder
	if i.config.Metrics != nil {
		recorder = i.config.Metrics.BeginInformer(i.config.Name, i.measure)
	}
	defer func() { go i.finish(r, recorder) }()
	i.fanout.Open(&fanout.Run{Over: r.ctx.Done(), Logger: r.logger, Recorder: recorder})
	intakeRun := &intake.Run{Ctx: r.ctx, Fail: r.cancel, Go: r.wg.Go, Logger: r.logger, Recorder: recorder}
	if i.config.Ring != nil {
		i.retainWanted(intakeRun)
	}
	i.intake.Begin(intakeRun)
	i.mu.Lock()
	r.reading = true
	i.mu.Unlock()
	switch {
	case i.config.Ring != nil:
		r.wg.Go(func() { i.followRing(r, intakeRun) })
	case i.config.Namespaces != nil:
		r.wg.Go(func() { i.followNamespaces(r, intakeRun) })
	}
	if d := i.config.Mutations; d != nil {
		r.wg.Go(func() {
			d.Run(r.ctx, func() iter.Seq[object.Object] { return i.table.Version().All })
		})
	}
	i.intake.Loop(intakeRun)
}

func (i *Informer) finish(r *run, recorder metrics.InformerRecorder) {
	i.mu.Lock()
	r.reading = false
	i.mu.Unlock()
	r.wg.Wait()
	i.fanout.Close()
	r.wg.Go(func() { // the user's logger and report may end this goroutine
		if err := context.Cause(r.ctx); errors.Is(err, outcome.ErrGoexit) {
			r.logger.Error(err, "The informer has ended", "informer", i.config.Name)
		}
		if d := i.config.Mutations; d != nil {
			d.CheckAll()
		}
		i.intake.SaveAll(r.logger, false)
	})
	r.wg.Wait()
	i.intake.End()
	if recorder != nil {
		recorder.Close()
	}
	i.endRun(r)
}

// endRun ends a run without goroutines: another run may begin, and the leases are done.
func (i *Informer) endRun(r *run) {
	r.cancel(nil)
	if r.joined != nil {
		r.joined.Leave()
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.run == r {
		i.run = nil
	}
	for l := range r.leases { // the run has failed
		l.endLocked(context.Cause(r.ctx))
	}
	if r.lastLease != nil {
		close(r.lastLease.done)
	}
	close(r.ended)
}
