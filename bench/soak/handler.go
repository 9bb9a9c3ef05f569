// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
)

type checker struct {
	name     string
	pause    time.Duration // of each callback
	calls    *atomic.Int64 // counts callbacks, of other handlers too
	problems *problemList

	mu   sync.Mutex // mu guards the fields below
	live map[object.Key]*corev1.ConfigMap
}

var _ informer.Handler[*corev1.ConfigMap] = (*checker)(nil)

// OnAdd implements informer.Handler.
func (c *checker) OnAdd(obj *corev1.ConfigMap, _ bool) {
	defer c.enter()()
	key := object.KeyOf(obj)
	if last := c.live[key]; last != nil {
		c.problems.add("%s: add of %s, which exists as %s", c.name, id(obj), id(last))
	}
	c.live[key] = obj
}

// OnUpdate implements informer.Handler.
func (c *checker) OnUpdate(old, obj *corev1.ConfigMap) {
	defer c.enter()()
	key := object.KeyOf(obj)
	switch last := c.live[key]; {
	case last == nil:
		c.problems.add("%s: update of %s, which doesn't exist", c.name, id(obj))
	case last != old:
		c.problems.add("%s: update from %s, but %s was the last state", c.name, id(old), id(last))
	case old.UID != obj.UID || !newer(old, obj):
		c.problems.add("%s: update from %s to %s", c.name, id(old), id(obj))
	}
	c.live[key] = obj
}

// OnDelete implements informer.Handler.
func (c *checker) OnDelete(d informer.Deleted[*corev1.ConfigMap]) {
	defer c.enter()()
	switch last := c.live[d.Key]; {
	case last == nil:
		c.problems.add("%s: delete of %s, which doesn't exist", c.name, d.Key)
	case last.UID != d.Object.UID || !d.FinalStateUnknown && !newer(last, d.Object):
		c.problems.add("%s: delete of %s, but %s was the last state", c.name, id(d.Object), id(last))
	}
	delete(c.live, d.Key)
}

func (c *checker) enter() (leave func()) {
	c.calls.Add(1)
	time.Sleep(c.pause)
	c.mu.Lock()
	return c.mu.Unlock
}

func (c *checker) knows() versions {
	c.mu.Lock()
	defer c.mu.Unlock()
	return versionsOf(maps.Values(c.live))
}

func newer(old, obj *corev1.ConfigMap) bool {
	order, err := resourceversion.CompareResourceVersion(old.ResourceVersion, obj.ResourceVersion)
	return err == nil && order < 0
}

func id(obj *corev1.ConfigMap) string {
	return fmt.Sprintf("%s (%s@%s)", object.KeyOf(obj), obj.UID, obj.ResourceVersion)
}

type problemList struct {
	mu   sync.Mutex // mu guards the fields below
	list []error
	more int
}

func (p *problemList) add(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.list) == 20 {
		p.more++
		return
	}
	p.list = append(p.list, fmt.Errorf(format, args...))
}

func (p *problemList) err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.more > 0 {
		return errors.Join(append(p.list, fmt.Errorf("and %d more", p.more))...)
	}
	return errors.Join(p.list...)
}
