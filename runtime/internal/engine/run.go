// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"sync"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// run is one Run of an informer, from Begin to its end.
type run struct {
	// set by openRun
	done   <-chan struct{}
	logger klog.Logger

	wg sync.WaitGroup // every goroutine of the run but the one that is in Run

	open bool // subscriptions may be spawned; Informer.mu guards it
}

// spawn starts the goroutine that delivers to s until the run is done. It is called while the run is open, or by one of
// the run's goroutines.
func (r *run) spawn(s *Subscription) { r.wg.Go(func() { s.deliver(r) }) }

// Run calls Begin and the function that it returns.
func (i *Informer) Run(ctx context.Context) error {
	work, err := i.Begin()
	if err != nil {
		return err
	}
	return work(ctx)
}

// Begin claims the informer, or returns ErrRunning. The function that it returns runs the informer until ctx is done; it
// must be called, since the informer stays claimed until it has returned.
func (i *Informer) Begin() (work func(ctx context.Context) error, err error) {
	if i.broken != nil {
		return nil, i.broken
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.run != nil {
		return nil, ErrRunning
	}
	r := &run{}
	i.run = r
	return func(ctx context.Context) error {
		defer i.release()
		if ctx == nil {
			return errors.New("Run: the context is nil")
		}
		return i.work(ctx, r)
	}, nil
}

func (i *Informer) release() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.run = nil
}

// work applies the stream on the caller's goroutine; it starts the other goroutines and waits for them.
func (i *Informer) work(ctx context.Context, r *run) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if i.config.Logger != nil {
		ctx = klog.NewContext(ctx, *i.config.Logger)
	}
	queue := deltafifo.New(deltafifo.Options[object.Object]{})
	i.sink.fifo = queue
	r.wg.Go(func() {
		err := i.reader.Run(ctx)
		if err == nil {
			err = errors.New("the reflector ended")
		}
		cancel(err) // has no effect if ctx is done already
	})
	i.openRun(ctx, r)
	i.applyAll(ctx, queue)
	queue.Close()
	i.closeRun(r)
	r.wg.Wait()
	i.sink.fifo = nil // drops what was not applied: the next run reads it anew
	return context.Cause(ctx)
}

func (i *Informer) openRun(ctx context.Context, r *run) {
	i.mu.Lock()
	defer i.mu.Unlock()
	r.done = ctx.Done()
	r.logger = klog.FromContext(ctx)
	r.open = true
	for _, s := range i.subs {
		r.spawn(s)
	}
}

// closeRun drops an incomplete full state and keeps further subscriptions from being spawned.
func (i *Informer) closeRun(r *run) {
	i.writing.Lock()
	defer i.writing.Unlock()
	i.abandonLocked()
	i.mu.Lock()
	defer i.mu.Unlock()
	r.open = false
}
