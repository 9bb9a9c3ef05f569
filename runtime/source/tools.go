// SPDX-License-Identifier: Apache-2.0

package source

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/runtime/internal/jsondec"
	"github.com/informer-gen/informer-gen/runtime/internal/protodec"
	"github.com/informer-gen/informer-gen/runtime/internal/share"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// shareBytes bounds what a collection keeps of parts of objects, to be shared with those that come.
const shareBytes = 16 << 20

// tools are what objects are decoded with from one format: the program, which is made when the first response comes, the decoders
// that nobody uses at the moment, and the table of what they share.
type tools struct {
	once  sync.Once // guards the making of what follows, which is not changed then
	json  *jsondec.Program
	proto *protodec.Program
	table *share.Table

	shared sync.Pool // decoders of objects that share their parts
	own    sync.Pool // and of those that don't
}

// toolsOf returns the tools for a format, ready for use.
func (c *codec) toolsOf(f Format) *tools {
	t := &c.tools[f]
	t.once.Do(func() {
		var err error
		switch {
		case f == JSON && !c.untyped:
			if t.json, err = jsondec.New(c.elem, jsondec.Drop{ManagedFields: c.drop.managedFields, Annotations: c.drop.annotations}); err != nil {
				t.json = nil // all objects are decoded in the slow way
			}
		case f == Protobuf:
			if t.proto, err = protodec.New(c.elem, protodec.Drop{ManagedFields: c.drop.managedFields, Annotations: c.drop.annotations}); err != nil {
				t.proto = nil
			}
		}
		t.table = share.New(shareBytes)
	})
	return t
}

// pool is where the decoders of a stream come from.
func (t *tools) pool(readOnly bool) *sync.Pool {
	if readOnly {
		return &t.shared
	}
	return &t.own
}

// find asks known for an object by what was read of it.
func find(known knownFunc, name, namespace, uid, version []byte) object.Object {
	if len(name) == 0 || len(version) == 0 {
		return nil
	}
	// What known gets are strings, which it may keep. One for all of them is enough.
	var room [256]byte
	all := string(append(append(append(append(room[:0], name...), namespace...), uid...), version...))
	n := len(name)
	ns := n + len(namespace)
	u := ns + len(uid)
	return known(object.Key{Namespace: all[n:ns], Name: all[:n]}, types.UID(all[ns:u]), all[u:])
}

// knownReading is what is handed over in the place of an object that the caller has.
func knownReading(obj object.Object, r *reading) {
	r.obj, r.known, r.id = obj, true, identity{key: object.KeyOf(obj), resourceVersion: obj.GetResourceVersion()}
}
