// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"iter"
	"sync"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/metrics"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// run is one period in which the informer runs. It begins with the first lease. It ends when, after
// the last lease, the last goroutine has ended.
type run struct {
	// Set once at construction. ctx has the values of the first lease's context, and is done when
	// the last lease has ended. before is closed when the previous run has ended; it is nil if
	// there was none that had not ended yet.
	ctx    context.Context
	over   <-chan struct{} // ctx.Done()
	cancel context.CancelCauseFunc
	logger klog.Logger
	before <-chan struct{}
	ended  chan struct{} // closed when every goroutine of the run has ended

	wg sync.WaitGroup // every goroutine but the run's own

	recorder metrics.InformerRecorder // set before anything else is started; nil without metrics

	synced chan struct{} // closed when a full state of every stream was published in this run

	// Informer.mu guards what follows.
	starting starting             // limits how many streams start at a time
	unsynced map[*stream]struct{} // those without a full state in this run; nil if there are none
	queues   []fifo               // those that have an applier
	open     bool                 // subscriptions may join
	leases   map[*Lease]struct{}  // that have not ended
	last     *Lease               // the lease that ended last
}

// addUnsyncedLocked records that the run has a stream that has not synced.
func (r *run) addUnsyncedLocked(s *stream) {
	if r.unsynced == nil {
		r.unsynced = map[*stream]struct{}{}
	}
	r.unsynced[s] = struct{}{}
}

// syncedLocked is called when a full state of a stream is published, or the stream was removed.
func (r *run) syncedLocked(s *stream) {
	if _, ok := r.unsynced[s]; !ok {
		return
	}
	delete(r.unsynced, s)
	r.checkSyncedLocked()
	s.informer.notifyLocked()
}

// checkSyncedLocked closes synced once no stream is unsynced.
func (r *run) checkSyncedLocked() {
	if len(r.unsynced) > 0 {
		return
	}
	r.unsynced = nil // frees the map
	if !closed(r.synced) {
		close(r.synced)
	}
}

// startLocked starts a run, which waits for the end of the previous one, if that has not ended.
func (i *Informer) startLocked(ctx context.Context, before *run) *run {
	ctx = context.WithoutCancel(ctx)
	if i.config.Logger != nil {
		ctx = klog.NewContext(ctx, *i.config.Logger)
	}
	r := &run{
		logger: klog.FromContext(ctx), ended: make(chan struct{}),
		synced: make(chan struct{}), leases: map[*Lease]struct{}{},
	}
	for _, s := range i.streams() {
		r.addUnsyncedLocked(s)
	}
	r.checkSyncedLocked()
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	r.over = r.ctx.Done()
	if before != nil {
		r.before = before.ended
	}
	i.run, i.ran = r, true
	i.checkSyncedLocked()
	go func() { // the run's own goroutine; leases wait for it
		if r.before != nil {
			<-r.before // so all leases of this run wait for the end of the previous one, too
		}
		if r.ctx.Err() != nil {
			i.endRun(r)
			return
		}
		i.work(r, i.beginRun(r))
	}()
	return r
}

// beginRun starts the goroutines of a run, except for its own, and returns the stream that this one
// has to read, or nil.
func (i *Informer) beginRun(r *run) (first *stream) {
	if i.config.Metrics != nil {
		r.recorder = i.config.Metrics.BeginInformer(i.config.Name, i.measure)
	}
	first = i.openRun(r)
	if d := i.config.Mutations; d != nil {
		r.wg.Go(func() {
			d.Run(r.ctx, func() iter.Seq[object.Object] { return i.table.Version().All })
		})
	}
	if i.config.FileOf != nil {
		r.wg.Go(func() { i.saveBehind(r) })
	}
	return first
}

// work reads the first stream, if there is one, waits until the run's context is done, and has
// another goroutine end the run: runtime.Goexit may end this one.
func (i *Informer) work(r *run, first *stream) {
	defer func() { go i.finish(r) }()
	if first != nil {
		first.read(r)
	}
	<-r.over // the stream may have been removed before
}

// finish waits for all goroutines of a run whose context is done, and ends it.
func (i *Informer) finish(r *run) {
	i.closeRun(r)
	r.wg.Wait()
	r.wg.Go(func() { // the user's logger and report may end it
		if err := context.Cause(r.ctx); errors.Is(err, errGoexit) {
			r.logger.Error(err, "The informer has ended", "informer", i.config.Name)
		}
		if d := i.config.Mutations; d != nil {
			d.CheckAll()
		}
		i.saveAll(r.logger, false)
	})
	r.wg.Wait()
	for _, s := range i.streams() {
		s.unstage()
		s.sink.end() // drops what was not applied: the next run reads it anew
	}
	if r.recorder != nil {
		r.recorder.Close()
	}
	i.endRun(r)
}

// openRun starts the delivery to subscriptions, and the readers of all streams but the first, which
// it returns; nil if there is none.
func (i *Informer) openRun(r *run) (first *stream) {
	i.mu.Lock()
	defer i.mu.Unlock()
	r.open = true
	for _, s := range i.subs {
		s.mu.Lock()
		s.due = false
		s.mu.Unlock()
	}
	i.pool.open(r, i.subs)
	for n, s := range i.streams() {
		s.beginLocked(r)
		if n > 0 {
			r.wg.Go(func() { s.read(r) })
		} else {
			first = s
		}
	}
	return first
}

// closeRun gives each subscription a last turn.
func (i *Informer) closeRun(r *run) {
	i.mu.Lock()
	defer i.mu.Unlock()
	r.open = false
	i.pool.notify(i.subs...)
	i.pool.close()
}

// endRun is called when no goroutine of the run is left: another run may begin, and the leases are
// done.
func (i *Informer) endRun(r *run) {
	r.cancel(nil)
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.run == r {
		i.run = nil
	}
	i.pool.leave()
	for l := range r.leases { // the run has failed
		l.endLocked(context.Cause(r.ctx))
	}
	if r.last != nil {
		close(r.last.done)
	}
	close(r.ended)
}
