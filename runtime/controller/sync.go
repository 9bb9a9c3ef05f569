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
)

const logPeriod = 10 * time.Second

var errOther = errors.New("another informer has failed")

func (r *run) waitForSync() error {
	ctx, cancel := r.ctx, context.CancelFunc(func() {})
	if timeout := r.controller.options.SyncTimeout; timeout > 0 {
		ctx, cancel = context.WithTimeoutCause(ctx, timeout, fmt.Errorf("SyncTimeout of %v has passed", timeout))
	}
	defer cancel()
	if err := r.waitForInformers(ctx); err != nil {
		return err
	}
	registrations := r.handlers()
	for _, w := range r.controller.watches {
		if w.register == nil {
			continue
		}
		if err := waitForHandler(ctx, registrations[0], w.informers[0]); err != nil {
			return err
		}
		registrations = registrations[1:]
	}
	// If there was nothing to wait for, ctx may be done; do checks that.
	return nil
}

// waitForInformers waits until all informers have read all objects in their present run, or one
// fails. The waits run concurrently, so a permanent failure is found at once.
func (r *run) waitForInformers(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	errs := make([]error, len(r.informers))
	var wg sync.WaitGroup
	for n, lease := range r.heldLeases() {
		wg.Go(func() {
			if errs[n] = lease.WaitForCacheSync(ctx, r.controller.options.Sync...); errs[n] != nil {
				cancel(errOther)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// waitForHandler waits until a handler has handled its initial objects. It doesn't wait while the
// informer's resource is optional and doesn't exist.
func waitForHandler(ctx context.Context, registration *informer.Registration, i Informer) error {
	ticker := time.NewTicker(logPeriod)
	defer ticker.Stop()
	for !i.Status().WaitsForResource() {
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
			return fmt.Errorf("the initial objects are not handled: %v: %w", registration.Status(), context.Cause(ctx))
		}
	}
	return nil
}
