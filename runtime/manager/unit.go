// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/inspect"
)

var (
	errStopped = errors.New("the controller was stopped")
	errEnded   = errors.New("the manager has ended the controller")
)

type unit struct {
	// set once at construction
	Descriptor
	manager *Manager
	group   *group

	building sync.Mutex // held while New runs
	progress progress

	// Manager.mu guards the fields below
	wanted     bool
	recording  *recording // nil before New is called, and after the end of the group
	controller Runnable   // nil before it is made, or if New returned nil
	lastRun    *run       // the current or last run; nil before the first
}

type run struct {
	// set once at construction
	ctx    context.Context
	cancel context.CancelCauseFunc
	done   chan struct{} // closed at its end

	// set before done is closed
	err error // the controller's failure
}

func (r *run) isDone() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

func (u *unit) runnable() Runnable {
	u.manager.mu.Lock()
	defer u.manager.mu.Unlock()
	return u.controller
}

func (u *unit) build(ctx context.Context) error {
	u.building.Lock()
	defer u.building.Unlock()
	if u.runnable() != nil {
		return nil
	}
	c, err := u.manager.contextFor(&u.Descriptor)
	if err != nil {
		return fmt.Errorf("controller %s: %w", u.Name, err)
	}
	u.manager.mu.Lock()
	if u.recording == nil {
		u.recording = &recording{Recorder: c.Recorder}
	}
	c.Recorder = u.recording.Recorder
	u.manager.mu.Unlock()
	made, err := u.New(ctx, c)
	if err != nil {
		return fmt.Errorf("controller %s: New: %w", u.Name, err)
	}
	if err := u.checkRing(made); err != nil {
		return fmt.Errorf("controller %s: %w", u.Name, err)
	}
	if made == nil {
		klog.FromContext(ctx).Info("A controller has nothing to run", "controller", u.Name)
	}
	u.manager.mu.Lock()
	defer u.manager.mu.Unlock()
	u.controller = made
	return nil
}

// checkRing finds controllers that would reconcile all keys in each process of a ring, or some of
// the keys in one process only.
func (u *unit) checkRing(made Runnable) error {
	c, ok := made.(*controller.Controller)
	switch {
	case !ok || c == nil:
		return nil
	case u.Sharded && c.Ring() == nil:
		return errors.New("it is Sharded, and was made without controller.Options.Ring, so each process would reconcile all keys; set it to the manager's Ring")
	case !u.Sharded && c.Ring() != nil:
		return errors.New("it was made with controller.Options.Ring, and its Descriptor is not Sharded; set that")
	}
	return nil
}

func (u *unit) startLocked() {
	parent := u.group.ctx
	if parent != nil && u.recording != nil {
		u.recording.startLocked(parent)
	}
	if parent == nil || !u.wanted || u.controller == nil || u.lastRun != nil && !u.lastRun.isDone() {
		return
	}
	// The group ends its controllers in its own order.
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(parent))
	r := &run{ctx: ctx, cancel: cancel, done: make(chan struct{})}
	u.lastRun = r
	c := u.controller
	go func() {
		defer close(r.done)
		u.run(r, c)
	}()
}

func (u *unit) run(r *run, c Runnable) {
	err := c.Run(r.ctx)
	if r.ctx.Err() != nil {
		return
	}
	if err != nil {
		klog.FromContext(r.ctx).Error(err, "A controller has failed; the others run on", "controller", u.Name)
		r.err = err
	}
}

// runningKeys returns the controller's running keys, as the end of an error text.
func (u *unit) runningKeys() string {
	reports, ok := u.runnable().(inspect.Controller)
	if !ok {
		return ""
	}
	const limit = 5
	running := reports.Status().Queue.Running
	var keys []string
	for n, k := range running {
		if n == limit {
			keys = append(keys, fmt.Sprintf("and %d more", len(running)-limit))
			break
		}
		keys = append(keys, fmt.Sprintf("%s for %v", k.Key, time.Since(k.Since).Round(time.Millisecond)))
	}
	if keys == nil {
		return ""
	}
	return "; it is working on " + strings.Join(keys, ", ")
}
