// SPDX-License-Identifier: Apache-2.0

package table

import "github.com/informer-gen/informer-gen/runtime/object"

// keyCopies are copies of the keys of a bucket's entries, each in a cache line of its own. The keys
// themselves are scattered in memory: comparing one costs two cache misses, for the object and for
// its name, and the second can't begin before the first has ended. A copy is found without reading
// anything else. While it is compared, the processor already fetches the object. Keys that are too
// long for their line are compared with those of the objects.
//
// The second Get that looks into a bucket makes them, so objects that aren't read by key have none.
// A change of the bucket drops them; replacing an object doesn't change its bucket.
type keyCopies [bucketLen]keyCopy

// keyCopy is a copy of a key: the lengths of namespace and name, and their text, one after the
// other. If both lengths are 0, it is of no key: the entry is unused, or its key is too long.
type keyCopy struct {
	namespace, name uint8
	text            [62]byte
}

var got = new(keyCopies) // means that one Get has looked into the bucket

// known reports whether c is a copy of a key.
func (c *keyCopy) known() bool { return c.namespace|c.name != 0 }

// is reports whether c is a copy of key.
func (c *keyCopy) is(key *object.Key) bool {
	if int(c.namespace) != len(key.Namespace) || int(c.name) != len(key.Name) {
		return false
	}
	return string(c.text[:len(key.Namespace)]) == key.Namespace &&
		string(c.text[len(key.Namespace):][:len(key.Name)]) == key.Name
}

// find returns the row of key and its object, or 0 and nil if there is none. With get, it may copy
// keys.
func (s *versionState) find(key *object.Key, hash uint32, get bool) (Row, object.Object) {
	// present is inlined here and below, and what it doesn't find is left to calls
	number := numberOf(&s.keys, hash)
	n := present(&s.keys.buckets, number)
	if n == nil {
		if n = replaced(&s.keys.buckets, number); n == nil {
			return 0, nil
		}
	}
	for b := &n.c; b != nil; b = b.more {
		keys := b.keys.Load()
		if keys == nil || keys == got {
			keys = s.copyKeys(b, keys, get)
		}
		for i, h := range &b.hashes {
			if h != hash || b.has[i] == 0 {
				continue
			}
			if keys == nil || !keys[i].known() {
				obj := s.objects.get(uint32(b.has[i] - 1))
				if obj.GetName() == key.Name && obj.GetNamespace() == key.Namespace {
					return b.has[i], obj
				}
				continue
			}
			if keys[i].is(key) {
				slot := uint32(b.has[i] - 1)
				if n := present(&s.objects.leaves, slot>>leafBits); n != nil {
					return b.has[i], n.c.objs[slot%leafLen]
				}
				return b.has[i], s.objects.get(slot)
			}
		}
	}
	return 0, nil
}

// copyKeys returns the copies of the keys in b, or nil. It makes them for the second Get. now is
// the present value of b.keys.
func (s *versionState) copyKeys(b *bucket[Row], now *keyCopies, get bool) *keyCopies {
	switch {
	case !get:
		return nil
	case now == nil:
		b.keys.CompareAndSwap(nil, got)
		return nil
	}
	made := new(keyCopies)
	for i, at := range &b.has {
		if at == 0 {
			continue
		}
		c, key := &made[i], object.KeyOf(s.objects.get(uint32(at-1)))
		if len(key.Namespace)+len(key.Name) <= len(c.text) {
			c.namespace, c.name = uint8(len(key.Namespace)), uint8(len(key.Name))
			copy(c.text[copy(c.text[:], key.Namespace):], key.Name)
		}
	}
	b.keys.Store(made)
	return made
}
