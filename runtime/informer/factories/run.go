// SPDX-License-Identifier: Apache-2.0

package factories

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/engine"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/settings"
)

// This file implements a Factory's Start, WaitForCacheSync, Stop, Remove and Shutdown. Each
// informer run by the factory has one lease, whose context is cancelled by Stop or Shutdown.

// argumentErrorLocked returns an error about wrong arguments of New and For.
func (f *Factory) argumentErrorLocked() error {
	errs := f.errs[:len(f.errs):len(f.errs)]
	for _, m := range f.order {
		errs = append(errs, m.errs...)
	}
	return errors.Join(errs...)
}

func (f *Factory) start(ctx context.Context) error {
	switch {
	case f == nil:
		return errNilFactory
	case ctx == nil:
		return errNilContext
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch err := f.argumentErrorLocked(); {
	case err != nil:
		return err
	case f.shutdown:
		return ErrShutdown
	case ctx.Err() != nil:
		return fmt.Errorf("the context is done: %w", context.Cause(ctx))
	}
	f.started = true
	for _, m := range f.order {
		if m.lease != nil && m.ctx.Err() == nil && !(endingLease{lease: m.lease}).ended() {
			continue
		}
		if m.cancel != nil {
			m.cancel(nil) // a failed run's
		}
		ctx, cancel := context.WithCancelCause(ctx)
		lease, err := m.engine().Acquire(ctx)
		if err != nil { // ctx was done in the meantime
			cancel(nil)
			return err
		}
		m.started, m.lease, m.ctx, m.cancel = true, lease, ctx, cancel
	}
	return nil
}

func (f *Factory) waitForCacheSync(ctx context.Context, opts []informer.WaitOption) error {
	if f == nil {
		return errNilFactory
	}
	waitOptions, err := settings.ApplyWait(opts)
	if err != nil {
		return err
	}
	f.mu.Lock()
	started := f.started
	var waits []engine.Wait
	var neverStarted []string
	for _, m := range f.order {
		switch {
		case m.lease != nil:
			waits = append(waits, engine.Wait{Informer: m.engine(), Ended: m.lease.Done()})
		case !m.started && !m.engine().HasSynced() && !m.engine().Running():
			neverStarted = append(neverStarted, m.engine().Name())
		}
	}
	f.mu.Unlock()
	switch {
	case ctx == nil:
		return errNilContext
	case !started:
		return errors.New("the factory was not started")
	case neverStarted != nil && !f.wasShutDown():
		return fmt.Errorf("%w: never started, because made after Start: %s; call Start again", informer.ErrNotSynced, strings.Join(neverStarted, ", "))
	}
	err = engine.WaitForCacheSync(ctx, waitOptions.GiveUp, waits...)
	if err != nil && f.wasShutDown() {
		err = fmt.Errorf("%w: %w", ErrShutdown, err)
	}
	return err
}

func (f *Factory) wasShutDown() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.shutdown
}

func (f *Factory) stop(ctx context.Context, one Informer, remove bool) error {
	switch {
	case f == nil:
		return errNilFactory
	case settings.IsNil(one):
		return errors.New("the informer is nil")
	case ctx == nil:
		return errNilContext
	}
	all, err := f.stopOne(one, remove)
	if err != nil {
		return err
	}
	defer f.forgetEnded()
	return wait(ctx, all)
}

// endingLease is a lease whose context was cancelled, and which may not have ended yet.
type endingLease struct {
	engine *engine.Informer
	lease  *engine.Lease
}

func (e endingLease) ended() bool {
	select {
	case <-e.lease.Done():
		return true
	default:
		return false
	}
}

func (f *Factory) forgetEnded() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.endings = slices.DeleteFunc(f.endings, endingLease.ended)
}

// stopOne ends the lease of one informer, and returns its leases, also of earlier calls, that have
// not ended yet.
func (f *Factory) stopOne(i Informer, remove bool) ([]endingLease, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	// Each informer has a channel of its own, which identifies it whatever its type.
	at := slices.IndexFunc(f.order, func(m *member) bool { return m.engine().Synced() == i.Synced() })
	if at < 0 {
		return nil, fmt.Errorf("the factory has no such informer: %s", i.Status().Name)
	}
	m := f.order[at]
	if m.lease != nil {
		m.cancel(errStopped)
		f.endings = append(f.endings, endingLease{m.engine(), m.lease})
		m.lease = nil
	}
	if remove {
		f.order = slices.Delete(f.order, at, at+1)
		delete(f.informers, m.key)
	}
	return slices.DeleteFunc(slices.Clone(f.endings), func(e endingLease) bool { return e.engine != m.engine() }), nil
}

func (f *Factory) shutDown(ctx context.Context) error {
	switch {
	case f == nil:
		return errNilFactory
	case ctx == nil:
		return errNilContext
	}
	return wait(ctx, f.endAll())
}

// endAll ends all leases, and returns them with those of earlier calls that have not ended yet.
func (f *Factory) endAll() []endingLease {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.shutdown = true
	all := slices.Clone(f.endings)
	for _, m := range f.order {
		if m.lease != nil {
			m.cancel(ErrShutdown)
			all = append(all, endingLease{m.engine(), m.lease})
		}
	}
	return all
}

func wait(ctx context.Context, all []endingLease) error {
	for i, e := range all {
		if e.ended() {
			continue
		}
		select {
		case <-e.lease.Done():
		case <-ctx.Done():
			var lines []string
			for _, e := range all[i:] {
				if !e.ended() {
					lines = append(lines, e.engine.Obstacles()...)
				}
			}
			return fmt.Errorf("%w: %s", context.Cause(ctx), strings.Join(lines, "; "))
		}
	}
	return nil
}
