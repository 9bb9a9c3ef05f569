// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"errors"
	"fmt"
)

// group are controllers that run at the same time: while the process leads, or always.
type group struct {
	// set once at construction
	manager *Manager
	units   []*unit

	ctx context.Context // while they run; Manager.mu guards it
}

// run runs the controllers until ctx is done. The error names those that have not returned by the
// deadline of the manager's end.
func (g *group) run(ctx context.Context) error {
	g.start(ctx)
	<-ctx.Done()
	g.shut()
	return g.end()
}

// start starts the controllers, and lets others start later.
func (g *group) start(ctx context.Context) {
	g.manager.mu.Lock()
	defer g.manager.mu.Unlock()
	g.ctx = ctx
	for _, u := range g.units {
		u.startLocked()
	}
}

// shut lets none start any more.
func (g *group) shut() {
	g.manager.mu.Lock()
	defer g.manager.mu.Unlock()
	g.ctx = nil
}

// end ends the controllers and waits for them, until the deadline. The error names those that have
// not returned. If there is no time left, they are told to end, and that is all.
func (g *group) end() error {
	deadline := g.manager.deadline()
	late := deadline.Err() != nil
	for _, u := range g.units {
		if r := g.manager.runOf(u); r != nil {
			r.cancel(errEnded)
		}
	}
	var errs []error
	for _, u := range g.units {
		r := g.manager.runOf(u)
		if r == nil || late || r.isOver() {
			continue
		}
		select {
		case <-r.over:
		case <-deadline.Done():
			if !r.isOver() {
				errs = append(errs, fmt.Errorf("controller %s has not returned%s: %w", u.Name, u.workingOn(), context.Cause(deadline)))
			}
		}
	}
	return errors.Join(errs...)
}
