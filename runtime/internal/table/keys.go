// SPDX-License-Identifier: Apache-2.0

package table

import (
	"math"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// keyCopies are copies of the keys of a bucket's entries, one after the other. The keys themselves
// are scattered in memory: comparing one costs two cache misses, for the object and for its name,
// and the second can't begin before the first has ended. The copies are small and close together,
// so they are often in the caches. While a copy is compared, the processor already fetches the
// object.
//
// The second Get that looks into a bucket makes them, so objects that aren't read by key have none.
// A change of the bucket drops them; replacing an object doesn't change its bucket.
type keyCopies struct {
	bytes string
	ends  [bucketLen]keyEnd
}

// keyEnd is where the two halves of a key end. The key begins where the previous entry's key ends.
type keyEnd struct{ namespace, name uint16 }

// Two values that stand for no copies, told apart by address; both have no bytes:
var (
	got = new(keyCopies) // one Get has looked into the bucket
	// the keys can't be copied, because they are longer than those of any API, or empty
	tooLong = new(keyCopies)
)

// has reports whether entry i, which must be in use, has the key.
func (k *keyCopies) has(i int, key *object.Key) bool {
	from, end := uint16(0), k.ends[i]
	if i > 0 {
		from = k.ends[i-1].name
	}
	return k.bytes[end.namespace:end.name] == key.Name && k.bytes[from:end.namespace] == key.Namespace
}

// find returns the row of key and its object, or 0 and nil if there is none. With get, it may copy
// keys.
func (s *versionState) find(key object.Key, hash uint32, get bool) (Row, object.Object) {
	for b := bucketOf(&s.keys, hash); b != nil; b = b.more {
		keys := b.keys.Load()
		if keys == nil || keys.bytes == "" {
			keys = s.copyKeys(b, keys, get)
		}
		for i, h := range &b.hashes {
			if h != hash || b.has[i] == 0 || keys != nil && !keys.has(i, &key) {
				continue
			}
			obj := s.objects.get(uint32(b.has[i] - 1))
			if keys != nil || obj.GetName() == key.Name && obj.GetNamespace() == key.Namespace {
				return b.has[i], obj
			}
		}
	}
	return 0, nil
}

// copyKeys returns the copies of the keys in b, or nil. It makes them for the second Get. now is
// the present value of b.keys.
func (s *versionState) copyKeys(b *bucket[Row], now *keyCopies, get bool) *keyCopies {
	switch {
	case !get || now == tooLong:
		return nil
	case now == nil:
		b.keys.CompareAndSwap(nil, got)
		return nil
	}
	made, bytes := new(keyCopies), make([]byte, 0, 1024)
	for i, at := range &b.has {
		if at != 0 {
			key := object.KeyOf(s.objects.get(uint32(at - 1)))
			bytes = append(bytes, key.Namespace...)
			made.ends[i].namespace = uint16(len(bytes))
			bytes = append(bytes, key.Name...)
		}
		made.ends[i].name = uint16(len(bytes))
	}
	if len(bytes) > math.MaxUint16 || len(bytes) == 0 {
		b.keys.Store(tooLong)
		return nil
	}
	made.bytes = string(bytes)
	b.keys.Store(made)
	return made
}
