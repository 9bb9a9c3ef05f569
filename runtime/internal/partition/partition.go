// SPDX-License-Identifier: Apache-2.0

// Package partition computes the buckets of objects, and joins a ring with the informers and the
// controllers of its process. None of them imports another.
package partition

import (
	"math/bits"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/internal/shard"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// By is the property that decides the bucket of an object. shard.By documents the values.
type By uint8

// The values of By.
const (
	ByNamespace By = iota
	ByKey
	ByUID
)

// String returns the name of the constant.
func (b By) String() string {
	switch b {
	case ByNamespace:
		return "ByNamespace"
	case ByKey:
		return "ByKey"
	case ByUID:
		return "ByUID"
	}
	return "an unknown By"
}

// Root is a kind whose owned objects are in the bucket of their owner.
type Root struct {
	// Group and Kind are the kind's, as in an owner reference; any version of it.
	Group, Kind string
	// ClusterScoped is true if its objects have no namespace.
	ClusterScoped bool
}

// Partition divides all objects into buckets.
type Partition struct {
	By      By
	Buckets int // a power of two
	Roots   []Root
}

// BucketOf returns the bucket of an object, by its root: its controller if that is of a kind in
// Roots, else itself.
func (p *Partition) BucketOf(o object.Meta) int {
	if p.By == ByNamespace {
		return p.BucketOfKey(o.Namespace, o.Name)
	}
	if root := p.rootOf(o.Controller); root != nil {
		o.Name, o.UID = o.Controller.Name, o.Controller.UID
		if root.ClusterScoped {
			o.Namespace = ""
		}
	}
	if p.By == ByUID {
		return p.bucketAt(Hash(string(o.UID)))
	}
	return p.BucketOfKey(o.Namespace, o.Name)
}

// Locate is BucketOf for an object that may be gone: o has at least its namespace and name. ok is
// false if they don't tell the bucket.
func (p *Partition) Locate(o object.Meta) (bucket int, ok bool) {
	if p.By == ByUID && o.UID == "" {
		return 0, false
	}
	return p.BucketOf(o), true
}

// BucketOfKey returns the bucket of a root by its key. It must not be called with ByUID.
func (p *Partition) BucketOfKey(namespace, name string) int {
	switch {
	case p.By != ByNamespace:
		return p.bucketAt(Mix(shard.Hash(namespace, "/", name)))
	case namespace != "":
		name = namespace
	}
	return p.bucketAt(Mix(Hash(name)))
}

func (p *Partition) rootOf(owner *metav1.OwnerReference) *Root {
	if owner == nil {
		return nil
	}
	for n := range p.Roots {
		if r := &p.Roots[n]; r.Kind == owner.Kind {
			if gv, err := schema.ParseGroupVersion(owner.APIVersion); err == nil && gv.Group == r.Group {
				return r
			}
		}
	}
	return nil
}

// bucketAt returns a bucket by the top bits of a hash. So with ByUID a bucket is a range of the API
// server's hashes.
func (p *Partition) bucketAt(hash uint64) int {
	return int(hash >> (64 - bits.TrailingZeros(uint(p.Buckets)))) // a shift by 64 gives 0
}

// Hash returns the 64-bit FNV-1a hash of s. API servers select shards by it (KEP-5866).
func Hash(s string) uint64 { return shard.Hash(s) }

// Mix spreads a hash over its top bits, which the last characters of a name hardly reach in FNV-1a.
// It is the finaliser of SplitMix64 (Steele, Lea and Flood, Fast Splittable Pseudorandom Number
// Generators, 2014).
func Mix(h uint64) uint64 {
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
