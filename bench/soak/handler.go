// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// checker is a handler that checks its events.
type checker struct {
	name  string
	pause time.Duration // of each callback
	lag   *histogram    // nil: not measured
	calls *atomic.Int64 // counts callbacks, of other handlers too
	wrong *problems

	mu   sync.Mutex // mu guards what follows
	live map[object.Key]*Probe
	gone map[object.Key]*Probe // the last state of what was deleted last under a key
}

var _ informer.Handler[*Probe] = (*checker)(nil)

// OnAdd implements informer.Handler.
func (c *checker) OnAdd(obj *Probe, initial bool) {
	defer c.enter()()
	key := object.KeyOf(obj)
	if last := c.live[key]; last != nil {
		c.wrong.add("%s: add of %s, which exists as %s", c.name, id(obj), id(last))
	}
	if last := c.gone[key]; last != nil && !newer(last, obj) {
		c.wrong.add("%s: back from %s, which was deleted, to %s", c.name, id(last), id(obj))
	}
	c.live[key] = obj
	if !initial {
		c.measure(obj)
	}
}

// OnUpdate implements informer.Handler.
func (c *checker) OnUpdate(old, obj *Probe) {
	defer c.enter()()
	key := object.KeyOf(obj)
	switch last := c.live[key]; {
	case last == nil:
		c.wrong.add("%s: update of %s, which doesn't exist", c.name, id(obj))
	case last != old:
		c.wrong.add("%s: update from %s, but %s was told last", c.name, id(old), id(last))
	case old.UID != obj.UID:
		c.wrong.add("%s: update from %s to %s", c.name, id(old), id(obj))
	case !newer(old, obj):
		c.wrong.add("%s: back from %s to %s", c.name, id(old), id(obj))
	}
	c.live[key] = obj
	c.measure(obj)
}

// OnDelete implements informer.Handler.
func (c *checker) OnDelete(d informer.Deleted[*Probe]) {
	defer c.enter()()
	switch last := c.live[d.Key]; {
	case last == nil:
		c.wrong.add("%s: delete of %s, which doesn't exist", c.name, d.Key)
	case last.UID != d.Object.UID:
		c.wrong.add("%s: delete of %s, but %s was told last", c.name, id(d.Object), id(last))
	case !d.FinalStateUnknown && !newer(last, d.Object):
		c.wrong.add("%s: back from %s to the deletion %s", c.name, id(last), id(d.Object))
	}
	delete(c.live, d.Key)
	c.gone[d.Key] = d.Object
}

func (c *checker) enter() (leave func()) {
	c.calls.Add(1)
	if c.pause > 0 {
		time.Sleep(c.pause)
	}
	c.mu.Lock()
	return c.mu.Unlock
}

func (c *checker) measure(obj *Probe) {
	if c.lag != nil && obj.Spec.Sent > 0 {
		c.lag.add(time.Since(time.Unix(0, obj.Spec.Sent)))
	}
}

// knows returns the last version of each object that the handler got.
func (c *checker) knows() versions {
	c.mu.Lock()
	defer c.mu.Unlock()
	return versionsOf(maps.Values(c.live))
}

func newer(old, obj *Probe) bool {
	order, err := resourceversion.CompareResourceVersion(old.ResourceVersion, obj.ResourceVersion)
	return err == nil && order < 0
}

func id(obj *Probe) string {
	return fmt.Sprintf("%s (%s@%s)", object.KeyOf(obj), obj.UID, obj.ResourceVersion)
}

// problems is what is wrong.
type problems struct {
	mu   sync.Mutex // mu guards what follows
	list []string
	more int
}

// enough is how many problems are kept.
const enough = 20

func (p *problems) add(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.list) == enough {
		p.more++
		return
	}
	p.list = append(p.list, fmt.Sprintf(format, args...))
}

// err is nil if nothing is wrong.
func (p *problems) err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, what := range p.list {
		errs = append(errs, errors.New(what))
	}
	if p.more > 0 {
		errs = append(errs, fmt.Errorf("and %d more", p.more))
	}
	return errors.Join(errs...)
}
