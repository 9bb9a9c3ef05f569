// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/runtime/internal/table"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// have returns the informer's current objects. It returns none if anew is true: then the server's
// resourceVersions went back, and it may reuse a known version for another object.
func (s *Stream) have(anew bool) *cached {
	c := &cached{adoption: s.intake.adoption}
	if !anew {
		c.version.Store(s.intake.table.Version())
	}
	return c
}

// cached holds the informer's objects from when a source began to hand over its own. Those in both
// need not be decoded and transformed again. The zero value has none. It is safe for concurrent
// use.
type cached struct {
	version atomic.Pointer[table.Version] // nil: none
	// over is true when known finds no more objects; found ones may not have been handed over yet.
	over   atomic.Bool
	reused atomic.Bool // known has found an object

	adoption sharer // set once at construction
}

// asked returns known, or nil if known could find no object: a call costs the source a string for
// each object.
func (c *cached) asked() func(object.Key, types.UID, string) object.Object {
	if c.version.Load().Len() == 0 || !c.adoption.check() {
		return nil
	}
	return c.known
}

// known implements Known of source.ListOptions and source.WatchOptions.
func (c *cached) known(key object.Key, uid types.UID, resourceVersion string) object.Object {
	version := c.version.Load()
	if version == nil || c.over.Load() || !c.adoption.intact() {
		return nil
	}
	obj, ok := version.Get(key)
	if !ok || obj.GetUID() != uid || obj.GetResourceVersion() != resourceVersion {
		return nil
	}
	c.reused.Store(true)
	return obj
}

// has reports whether obj was returned by known.
func (c *cached) has(obj object.Object) bool {
	version := c.version.Load()
	if version == nil || !c.reused.Load() || isNil(obj) {
		return false
	}
	own, ok := version.Get(object.KeyOf(obj))
	return ok && own == obj
}
