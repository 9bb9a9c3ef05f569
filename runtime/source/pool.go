// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/runtime/internal/share"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source/internal/jsondec"
	"github.com/informer-gen/informer-gen/runtime/source/internal/protodec"
)

// shareBytes bounds what a codec keeps of parts of objects, to be shared with those that come.
const shareBytes = 16 << 20

// decoderPools are what the streams of a codec decode with: the decoders that no stream uses at the
// moment, and the table of what their objects share. A codec has them from its first object on.
type decoderPools struct {
	table func() *share.Table
	json  byReadOnly[jsonDecoder]
	proto byReadOnly[protoDecoder]
}

func newDecoderPools() decoderPools {
	return decoderPools{table: sync.OnceValue(func() *share.Table { return share.New(shareBytes) })}
}

// byReadOnly are the decoders of objects that share their parts, and of those that don't.
type byReadOnly[D any] struct{ shared, own pool[D] }

func (b *byReadOnly[D]) pool(readOnly bool) *pool[D] {
	if readOnly {
		return &b.shared
	}
	return &b.own
}

// pool has decoders that are not in use. One stays, with what it has learned from the objects
// before; the others, which streams need that decode at the same time, are left to the garbage
// collector.
type pool[D any] struct {
	first  atomic.Pointer[D]
	others sync.Pool
}

// get takes a decoder out of the pool; nil if there is none.
func (p *pool[D]) get() *D {
	if d := p.first.Swap(nil); d != nil {
		return d
	}
	d, _ := p.others.Get().(*D)
	return d
}

func (p *pool[D]) put(d *D) {
	if !p.first.CompareAndSwap(nil, d) {
		p.others.Put(d)
	}
}

// programs are those of one format, compiled once in the process for each type and each choice of
// what is dropped.
type programs[P any] struct {
	byKey sync.Map // programKey to func() *P
}

type programKey struct {
	elem          reflect.Type
	managedFields bool
	annotations   string
}

var (
	jsonPrograms  programs[jsondec.Program]
	protoPrograms programs[protodec.Program]
)

// of returns the program of a codec; nil if all its objects are decoded in the slow way.
func (p *programs[P]) of(c *codec, compile func() (*P, error)) *P {
	key := programKey{c.elem, c.drop.managedFields, fmt.Sprintf("%q", slices.Sorted(maps.Keys(c.drop.annotations)))}
	program, ok := p.byKey.Load(key)
	if !ok {
		program, _ = p.byKey.LoadOrStore(key, sync.OnceValue(func() *P {
			program, err := compile()
			if err != nil {
				return nil
			}
			return program
		}))
	}
	return program.(func() *P)()
}

// fastJSON makes a fast decoder; nil if there is none.
func (c *codec) fastJSON(readOnly bool) *jsondec.Decoder {
	if c.untyped {
		return nil
	}
	program := jsonPrograms.of(c, func() (*jsondec.Program, error) {
		return jsondec.New(c.elem, jsondec.Drop{ManagedFields: c.drop.managedFields, Annotations: c.drop.annotations})
	})
	if program == nil {
		return nil
	}
	return program.NewDecoder(c.pools.table(), readOnly)
}

// fastProto makes a fast decoder; nil if there is none.
func (c *codec) fastProto(readOnly bool) *protodec.Decoder {
	program := protoPrograms.of(c, func() (*protodec.Program, error) {
		return protodec.New(c.elem, protodec.Drop{ManagedFields: c.drop.managedFields, Annotations: c.drop.annotations})
	})
	if program == nil {
		return nil
	}
	return program.NewDecoder(c.pools.table(), readOnly)
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
