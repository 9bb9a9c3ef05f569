// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"errors"
	"fmt"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/engine"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/settings"
)

// Registration is one handler of one informer. [SharedIndexInformer.AddEventHandler] returns it.
// Its methods may be called by any goroutine at any time. A nil Registration is valid: it is one
// that has ended.
type Registration struct {
	sub *engine.Subscription // set once at construction
}

// Remove ends the registration: no callback starts after Remove has returned, and waiting events
// are dropped. It waits for a running callback, unless that callback itself calls Remove. So two
// callbacks that remove each other's registration wait forever, and so does a callback that waits
// for another goroutine's Remove of its own registration. In these cases use
// [Registration.RemoveContext]. A second Remove only waits.
func (r *Registration) Remove() {
	if r != nil {
		r.sub.Remove()
	}
}

// RemoveContext does what Remove does, but stops waiting when ctx is done. Then the registration
// has ended too: no callback starts after RemoveContext has returned, but one that had started is
// still running. The error wraps context.Cause(ctx) and names the handler, the callback, its key
// and how long it has been running. If no callback is running, RemoveContext returns nil, even if
// ctx is done. If ctx is nil, it returns an error and does nothing.
func (r *Registration) RemoveContext(ctx context.Context) error {
	if r == nil {
		return nil
	}
	return r.sub.RemoveContext(ctx)
}

// HasSynced reports whether the handler has got the initial objects: the informer has synced, and
// every OnAdd with isInInitialList has returned. Once true, it stays true. If Remove was called
// before, it stays false.
func (r *Registration) HasSynced() bool { return isClosed(r.Synced()) }

// Synced returns a channel that is closed when HasSynced becomes true.
func (r *Registration) Synced() <-chan struct{} {
	if r == nil {
		return nil
	}
	return r.sub.Synced()
}

// Status returns how the handler keeps up.
func (r *Registration) Status() HandlerStatus {
	if r == nil {
		return HandlerStatus{}
	}
	return HandlerStatus(r.sub.Status())
}

func register(e *engine.Informer, h engine.Handler, name string, opts []HandlerOption) (*Registration, error) {
	fail := func(err error) (*Registration, error) {
		return nil, fmt.Errorf("informer %s: AddEventHandler: %w", e.Name(), err)
	}
	if h == nil {
		return fail(errors.New("the handler is nil"))
	}
	s := e.HandlerDefaults()
	s.Name = name
	if err := settings.Each(opts, func(o HandlerOption) error { return o.applyHandler(&s) }); err != nil {
		return fail(err)
	}
	sub, err := e.AddHandler(h, s)
	if err != nil {
		return fail(err)
	}
	return &Registration{sub}, nil
}
