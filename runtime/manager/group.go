// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"errors"
	"fmt"
)

// group is a set of controllers that run at the same time: while the process leads, while it takes
// part in the ring, or always.
type group struct {
	// set once at construction
	manager *Manager
	units   []*unit

	ctx context.Context // set while they run; Manager.mu guards it
}

func (g *group) run(ctx context.Context) error {
	g.start(ctx)
	<-ctx.Done()
	g.close()
	defer g.endRecorders()
	return g.stop()
}

// start starts the controllers. From now on Manager.Start can start others.
func (g *group) start(ctx context.Context) {
	g.manager.mu.Lock()
	defer g.manager.mu.Unlock()
	g.ctx = ctx
	for _, u := range g.units {
		u.startLocked()
	}
}

// close keeps further controllers from starting.
func (g *group) close() {
	g.manager.mu.Lock()
	defer g.manager.mu.Unlock()
	g.ctx = nil
}

// stop ends the controllers and waits for them until the manager's deadline. The error names those
// that have not returned. After the deadline, it only cancels their contexts.
func (g *group) stop() error {
	deadline := g.manager.deadline()
	expired := deadline.Err() != nil
	for _, u := range g.units {
		if r := g.manager.runOf(u); r != nil {
			r.cancel(errEnded)
		}
	}
	var errs []error
	for _, u := range g.units {
		r := g.manager.runOf(u)
		if r == nil || expired || r.isDone() {
			continue
		}
		select {
		case <-r.done:
		case <-deadline.Done():
			if !r.isDone() {
				errs = append(errs, fmt.Errorf("controller %s has not returned%s: %w", u.Name, u.runningKeys(), context.Cause(deadline)))
			}
		}
	}
	return errors.Join(errs...)
}
