// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"maps"
	"slices"
	"strings"
)

// Object is an API object in a cache: its bytes as sent by the storage, and the values needed for
// selection. It is immutable.
type Object struct {
	// Key is "namespace/name", or "name" for a cluster-scoped object. Keys are ordered bytewise.
	Key string
	// UID distinguishes objects that have the same key one after the other.
	UID     string
	Version uint64
	// Labels and Fields are the values for selectors, besides metadata.name and metadata.namespace.
	// Fields has the resource's declared fields, by their names in field selectors.
	Labels, Fields Pairs
	// Bytes is the object as sent by the storage. All objects of a cache have the same encoding.
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

func (o *Object) field(name string) string {
	switch name {
	case fieldName:
		return o.Name()
	case fieldNamespace:
		return o.Namespace()
	}
	return o.Fields.Get(name)
}

// memory returns the object's approximate size in bytes.
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

// Pairs is a set of labels or fields, sorted by name, without duplicates. [PairsOf] makes one.
type Pairs []Pair

// fewPairs is the largest number of pairs searched linearly.
const fewPairs = 16

// PairsOf returns m as Pairs; nil if m is empty.
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

// Has reports whether a name is present. Label selectors call it, like Get and Lookup.
func (p Pairs) Has(name string) bool {
	_, ok := p.Lookup(name)
	return ok
}

// Get returns the value of a name, or "".
func (p Pairs) Get(name string) string {
	value, _ := p.Lookup(name)
	return value
}

// Lookup returns the value of a name, and whether it is present.
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
