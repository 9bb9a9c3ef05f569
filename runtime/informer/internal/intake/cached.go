// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/runtime/internal/table"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// cachedObjects returns the informer's current objects. It returns none if reread is true: then the
// server's resourceVersions went back, and it may reuse a known version for another object.
func (s *Stream) cachedObjects(reread bool) *cachedObjects {
	c := &cachedObjects{interner: s.intake.interner}
	if !reread {
		c.version.Store(s.intake.table.Version())
	}
	return c
}

// cachedObjects holds the informer's objects at the start of a list or watch-list. An object that
// the source has unchanged is not decoded and transformed again. The zero value has no objects. It
// is safe for concurrent use.
type cachedObjects struct {
	version atomic.Pointer[table.Version] // nil: none
	// closed is true when known finds no more objects. The source may still have found ones to
	// send.
	closed atomic.Bool
	reused atomic.Bool // known has found an object

	interner interner // set once at construction
}

// lookup returns known, or nil if known could find no object: the source makes a string for each
// call.
func (c *cachedObjects) lookup() func(object.Key, types.UID, string) object.Object {
	if c.version.Load().Len() == 0 || !c.interner.check() {
		return nil
	}
	return c.known
}

// known implements Known of source.ListOptions and source.WatchOptions.
func (c *cachedObjects) known(key object.Key, uid types.UID, resourceVersion string) object.Object {
	version := c.version.Load()
	if version == nil || c.closed.Load() || !c.interner.intact() {
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
func (c *cachedObjects) has(obj object.Object) bool {
	version := c.version.Load()
	if version == nil || !c.reused.Load() || isNil(obj) {
		return false
	}
	own, ok := version.Get(object.KeyOf(obj))
	return ok && own == obj
}
