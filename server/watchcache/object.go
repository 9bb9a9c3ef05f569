// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"maps"
	"slices"
	"strings"
)

// Object is what a cache keeps of one API object: its bytes as the storage sent them, and the few
// values by which requests select. It is immutable: all requests share it.
type Object struct {
	// Key is "namespace/name", or "name" for a cluster-scoped object. Objects are in the bytewise
	// order of their keys.
	Key string
	// UID tells an object from an earlier one of the same key.
	UID string
	// Version is the object's resourceVersion.
	Version uint64
	// Labels and Fields are what selectors see, besides metadata.name and metadata.namespace.
	// Fields has the declared fields of the resource, by the names that field selectors have for
	// them.
	Labels, Fields Pairs
	// Bytes is the object as the storage sent it. All objects of a cache have the same encoding.
	Bytes []byte
}

// Namespace returns the object's namespace, or "" if it is cluster-scoped.
func (o *Object) Namespace() string {
	if at := strings.IndexByte(o.Key, '/'); at > 0 {
		return o.Key[:at]
	}
	return ""
}

// Name returns the object's name.
func (o *Object) Name() string { return o.Key[strings.IndexByte(o.Key, '/')+1:] }

// field returns the value of a field; "" if the object doesn't have it.
func (o *Object) field(name string) string {
	switch name {
	case fieldName:
		return o.Name()
	case fieldNamespace:
		return o.Namespace()
	}
	return o.Fields.Get(name)
}

// memory returns about how many bytes of memory the object takes.
func (o *Object) memory() int64 {
	if o == nil {
		return 0
	}
	n := 150 + len(o.Key) + len(o.UID) + len(o.Bytes)
	for _, pairs := range [...]Pairs{o.Labels, o.Fields} {
		for _, p := range pairs {
			n += 32 + len(p.Name) + len(p.Value)
		}
	}
	for _, p := range o.Fields { // in the index
		n += stringMemory + 8 + len(p.Name) + len(p.Value) + len(o.Key)
	}
	return int64(n)
}

// Pair is a label or a field, and its value.
type Pair struct{ Name, Value string }

// Pairs is a set of labels or fields in the order of their names, each once. It takes a fraction of
// a map's memory. [PairsOf] makes one.
type Pairs []Pair

// fewPairs is how many pairs are looked at one after the other.
const fewPairs = 16

// PairsOf returns the content of m; nil if m is empty.
func PairsOf(m map[string]string) Pairs {
	if len(m) == 0 {
		return nil
	}
	p := make(Pairs, 0, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		p = append(p, Pair{name, m[name]})
	}
	return p
}

// Has reports whether there is a pair of this name. Like Get and Lookup, it is what a label
// selector calls.
func (p Pairs) Has(name string) bool {
	_, ok := p.Lookup(name)
	return ok
}

// Get returns the value under a name, or "".
func (p Pairs) Get(name string) string {
	value, _ := p.Lookup(name)
	return value
}

// Lookup returns the value under a name, and whether there is one.
func (p Pairs) Lookup(name string) (string, bool) {
	if len(p) <= fewPairs {
		for i := range p {
			if p[i].Name == name {
				return p[i].Value, true
			}
		}
		return "", false
	}
	at, ok := slices.BinarySearchFunc(p, name, func(p Pair, name string) int { return strings.Compare(p.Name, name) })
	if !ok {
		return "", false
	}
	return p[at].Value, true
}
