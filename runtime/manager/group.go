// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
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
	g.open(ctx)
	first, others := g.split()
	g.start(first)
	for _, u := range first {
		if r := g.manager.runOf(u); r != nil {
			u.begun(ctx, r)
		}
	}
	g.start(others)
	<-ctx.Done()
	g.shut()
	err := g.end(others)
	return errors.Join(err, g.end(first))
}

// open lets controllers start.
func (g *group) open(ctx context.Context) {
	g.manager.mu.Lock()
	defer g.manager.mu.Unlock()
	g.ctx = ctx
}

// shut lets none start any more.
func (g *group) shut() {
	g.manager.mu.Lock()
	defer g.manager.mu.Unlock()
	g.ctx = nil
}

func (g *group) split() (first, others []*unit) {
	for _, u := range g.units {
		if u.First {
			first = append(first, u)
		} else {
			others = append(others, u)
		}
	}
	return first, others
}

// start starts controllers, unless the end has begun, for example because one that is First has
// failed; those that are not First, each after a random time.
func (g *group) start(units []*unit) {
	g.manager.mu.Lock()
	defer g.manager.mu.Unlock()
	for _, u := range units {
		if g.ctx.Err() != nil || g.manager.ctx.Err() != nil {
			return
		}
		var delay time.Duration
		if !u.First {
			delay = time.Duration(rand.Float64() * float64(g.manager.options.StartInterval))
		}
		u.startLocked(delay)
	}
}

// end ends controllers and waits for them, until the deadline. The error names those that have not
// returned. If there is no time left, they are told to end, and that is all.
func (g *group) end(units []*unit) error {
	deadline := g.manager.deadline()
	late := deadline.Err() != nil
	for _, u := range units {
		if r := g.manager.runOf(u); r != nil {
			r.cancel(errEnded)
		}
	}
	var errs []error
	for _, u := range units {
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
