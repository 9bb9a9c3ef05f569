// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"reflect"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/runtime/internal/jsondec"
	"github.com/informer-gen/informer-gen/runtime/internal/protodec"
	"github.com/informer-gen/informer-gen/runtime/internal/share"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// shareBytes bounds the parts a codec keeps for sharing with later objects.
const shareBytes = 16 << 20

// decoderPools hold the idle decoders of a codec, and the table of their objects' parts, made for
// the first stream.
type decoderPools struct {
	table func() *share.Table
	json  poolPair[jsonDecoder]
	proto poolPair[protoDecoder]
}

func newDecoderPools() decoderPools {
	return decoderPools{table: sync.OnceValue(func() *share.Table { return share.New(shareBytes) })}
}

type poolPair[D any] struct{ shared, private pool[D] }

func (b *poolPair[D]) pool(readOnly bool) *pool[D] {
	if readOnly {
		return &b.shared
	}
	return &b.private
}

// pool holds idle decoders. The first one stays, with everything it has learned. The others are
// needed only while several streams decode at the same time; the garbage collector may take them.
type pool[D any] struct {
	first  atomic.Pointer[D]
	others sync.Pool
}

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

// programs are the compiled programs of one format in the process: one for each type and choice of
// dropped parts.
type programs[P any] struct {
	byKey sync.Map // programKey to func() *P
}

type programKey struct {
	elem    reflect.Type
	dropped string
}

var (
	jsonPrograms  programs[jsondec.Program]
	protoPrograms programs[protodec.Program]
)

// get returns the program of a codec, or nil if the slow decoder decodes all its objects.
func (p *programs[P]) get(c *Codec, compile func() (*P, error)) *P {
	key := programKey{c.elem, c.drop.String()}
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

// fastJSON returns a new fast decoder, or nil if the type has none.
func (c *Codec) fastJSON(readOnly bool) *jsondec.Decoder {
	if c.untyped {
		return nil
	}
	program := jsonPrograms.get(c, func() (*jsondec.Program, error) {
		return jsondec.New(c.elem, c.drop)
	})
	if program == nil {
		return nil
	}
	return program.NewDecoder(c.pools.table(), readOnly)
}

func (c *Codec) fastProto(readOnly bool) *protodec.Decoder {
	program := c.protoProgram()
	if program == nil {
		return nil
	}
	return program.NewDecoder(c.pools.table(), readOnly)
}

func (c *Codec) protoProgram() *protodec.Program {
	return protoPrograms.get(c, func() (*protodec.Program, error) { return protodec.New(c.elem, c.drop) })
}

func find(known Known, name, namespace, uid, version []byte) object.Object {
	// known may keep its arguments, so they are copied, into one string.
	var room [256]byte
	all := string(append(append(append(append(room[:0], name...), namespace...), uid...), version...))
	n := len(name)
	ns := n + len(namespace)
	u := ns + len(uid)
	return known(object.Key{Namespace: all[n:ns], Name: all[:n]}, types.UID(all[ns:u]), all[u:])
}

func setKnown(obj object.Object, r *Item) {
	r.Object, r.known, r.id = obj, true, identity{key: object.KeyOf(obj), resourceVersion: obj.GetResourceVersion()}
}
