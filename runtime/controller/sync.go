// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/internal/resourceversion"
	"github.com/informer-gen/informer-gen/runtime/reflector"
)

// logPeriod is how often it is logged that a handler has not handled its initial objects.
const logPeriod = 10 * time.Second

var errOther = errors.New("another informer has failed")

// waitForSync waits for the informers, then for the handlers.
func (r *run[K]) waitForSync() error {
	ctx, cancel := r.ctx, context.CancelFunc(func() {})
	if timeout := r.controller.options.SyncTimeout; timeout > 0 {
		ctx, cancel = context.WithTimeoutCause(ctx, timeout, fmt.Errorf("SyncTimeout of %v has passed", timeout))
	}
	defer cancel()
	if err := r.waitForInformers(ctx); err != nil {
		return err
	}
	for _, registration := range r.handlers() {
		if err := waitForHandler(ctx, registration); err != nil {
			return err
		}
	}
	// A context that is done while nothing has to be waited for is the end, too.
	return nil
}

// waitForInformers waits until all have synced, or one fails. They are waited for at the same time,
// so that one that fails for good is found although another one takes long.
func (r *run[K]) waitForInformers(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	errs := make([]error, len(r.informers))
	var wg sync.WaitGroup
	for n, i := range r.informers {
		wg.Go(func() {
			if errs[n] = i.WaitForCacheSync(ctx, r.controller.options.Sync...); errs[n] == nil && r.isStale(i) {
				errs[n] = waitUntilFresh(ctx, i)
			}
			if errs[n] != nil {
				cancel(errOther)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// freshPeriod is how often an informer that has begun to run again is looked at.
const freshPeriod = 10 * time.Millisecond

// waitUntilFresh waits until an informer has read all objects in its present run. One that has run
// before counts as synced from the start, but its store is as it was when it stopped.
func waitUntilFresh(ctx context.Context, i Informer) error {
	began, ticker := time.Now(), time.NewTicker(freshPeriod)
	defer ticker.Stop()
	for next := logPeriod; ; {
		select {
		case <-ticker.C:
			status := i.Status()
			if isFresh(status) {
				return nil
			}
			if waited := time.Since(began); waited >= next {
				klog.FromContext(ctx).Info("Waiting for an informer to read all objects again", "informer", status.String(), "since", waited)
				next += logPeriod
			}
		case <-ctx.Done():
			return fmt.Errorf("informer %v: it has not read all objects again: %w", i.Status(), context.Cause(ctx))
		}
	}
}

// isFresh reports whether an informer has read all objects in its present run, and has them in its
// store. It may return false for a store that is some events behind.
func isFresh(status informer.Status) bool {
	for _, stream := range status.Streams {
		read := &stream.Reflector
		if !read.Synced || read.State == reflector.StateStopped {
			return false
		}
		if order, err := resourceversion.Compare(stream.ResourceVersion, read.ResourceVersion); err == nil && order < 0 {
			return false
		}
	}
	return true
}

func waitForHandler(ctx context.Context, registration *informer.Registration) error {
	ticker := time.NewTicker(logPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-registration.Synced():
			return nil
		default:
		}
		select {
		case <-registration.Synced():
		case <-ticker.C:
			klog.FromContext(ctx).Info("Waiting for a handler to handle its initial objects", "handler", registration.Status().String())
		case <-ctx.Done():
			return fmt.Errorf("its initial objects are not handled: %v: %w", registration.Status(), context.Cause(ctx))
		}
	}
}
