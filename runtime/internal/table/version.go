// SPDX-License-Identifier: Apache-2.0

package table

import (
	"iter"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// Version is one immutable state of a Table. A nil Version is empty, and so is a zero one. All methods may be called by any
// number of goroutines; none waits. The order of iteration is unspecified, but the same for each call.
type Version struct {
	objects         vector
	resourceVersion string
	streams         *[]*stand // instead of resourceVersion, if namespaces stand at versions of their own; immutable
	*directory                // nil in a zero Version only
}

// stand is where one namespace stands.
type stand struct{ namespace, resourceVersion string }

// directory is how the objects of a Version are found. It stands apart because most Txns change none of it.
type directory struct {
	keys       hashed
	namespaces hashed
	indexes    []index
}

type index struct {
	id       *ID
	def      Index // the writer's
	postings hashed
}

// Get returns the object under key.
func (v *Version) Get(key object.Key) (object.Object, bool) {
	if v.empty() {
		return nil, false
	}
	_, _, obj := v.find(key, Hash(key))
	return obj, obj != nil
}

// Len returns the number of objects.
func (v *Version) Len() int {
	if v.empty() {
		return 0
	}
	return v.keys.n
}

// ResourceVersion returns the resourceVersion at which the table stands; "" when none was set. Of namespaces that stand at
// versions of their own, it is the oldest, and "" until all have one. It isn't inlined into what is compiled for each kind.
//
//go:noinline
func (v *Version) ResourceVersion() string {
	if v == nil {
		return ""
	}
	if v.streams == nil {
		return v.resourceVersion
	}
	all := *v.streams // at least one
	oldest := all[0].resourceVersion
	for _, s := range all[1:] {
		if older(s.resourceVersion, oldest) {
			oldest = s.resourceVersion
		}
	}
	return oldest
}

// NamespaceResourceVersion returns the resourceVersion at which the namespace stands: that of the table, unless namespaces
// have versions of their own; then "" for one that has none.
func (v *Version) NamespaceResourceVersion(namespace string) string {
	if v == nil || v.streams == nil || namespace == "" {
		return v.ResourceVersion()
	}
	for _, s := range *v.streams {
		if s.namespace == namespace {
			return s.resourceVersion
		}
	}
	return ""
}

// older compares two resourceVersions, which are decimal numbers without leading zeros (KEP-5504), or "", which is the
// oldest.
func older(a, b string) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a < b
}

// All yields every object until yield returns false.
func (v *Version) All(yield func(object.Object) bool) {
	if v != nil {
		v.objects.all(yield)
	}
}

// Namespace returns the objects of one namespace; of all for "", as everywhere in Kubernetes.
func (v *Version) Namespace(namespace string) Set {
	if namespace == "" {
		return Set{version: v}
	}
	if v.empty() {
		return Set{}
	}
	hash := Hash(namespace)
	for _, e := range v.namespaces.bucket(hash) {
		if e.hash == hash && e.posting.key.(string) == namespace {
			return Set{version: v, posting: e.posting}
		}
	}
	return Set{}
}

// Namespaces yields the name of every namespace that has an object. Cluster-scoped objects have none.
func (v *Version) Namespaces(yield func(string) bool) {
	if !v.empty() {
		v.namespaces.all(func(p *posting) bool { return yield(p.key.(string)) })
	}
}

// Lookup returns the objects that have the key with this Hash for which is returns true. It returns false when the version
// doesn't have the index.
func (v *Version) Lookup(id *ID, hash uint32, is func(key any) bool) (Set, bool) {
	ix := v.index(id)
	if ix == nil {
		return Set{}, false
	}
	for _, e := range ix.postings.bucket(hash) {
		if e.hash == hash && is(e.posting.key) {
			return Set{version: v, posting: e.posting}, true
		}
	}
	return Set{}, true
}

// IndexKeys returns every key of the index that has an object, each once. It returns false when the version doesn't
// have the index.
func (v *Version) IndexKeys(id *ID) (iter.Seq[any], bool) {
	ix := v.index(id)
	if ix == nil {
		return nil, false
	}
	return func(yield func(any) bool) {
		ix.postings.all(func(p *posting) bool { return yield(p.key) })
	}, true
}

// Set is the objects of one Version that have something in common. The zero Set is empty.
type Set struct {
	version *Version
	posting *posting // nil: all of version
}

// Len returns the number of objects.
func (s Set) Len() int {
	if s.posting == nil {
		return s.version.Len()
	}
	return int(s.posting.n)
}

// All yields every object once until yield returns false.
func (s Set) All(yield func(object.Object) bool) {
	if s.posting == nil {
		s.version.All(yield)
		return
	}
	s.posting.all(&s.version.objects, yield)
}

// And yields every object that is also in other, a Set of the same Version, once until yield returns false. The time it
// takes follows the smaller of the two; it looks at no object that is not in both.
func (s Set) And(other Set, yield func(object.Object) bool) {
	switch {
	case s.version == nil || other.version == nil:
	case s.posting == nil:
		other.All(yield)
	case other.posting == nil:
		s.All(yield)
	case s.posting.n <= other.posting.n:
		s.posting.and(other.posting, &s.version.objects, yield)
	default:
		other.posting.and(s.posting, &s.version.objects, yield)
	}
}

// ----------------------------------------------------------------------------------------------------------------------

func (v *Version) empty() bool { return v == nil || v.directory == nil }

// places yields every object with its slot until yield returns false.
func (s Set) places(yield func(uint32, object.Object) bool) {
	switch {
	case s.version == nil:
	case s.posting == nil:
		s.version.objects.places(yield)
	default:
		s.posting.places(&s.version.objects, yield)
	}
}

// find returns the position of key's entry in its bucket, its slot and its object; the object is nil if there is none.
func (v *Version) find(key object.Key, hash uint32) (at int, slot uint32, obj object.Object) {
	if v.empty() {
		return 0, 0, nil
	}
	for i, e := range v.keys.bucket(hash) {
		if e.hash != hash {
			continue
		}
		if obj := v.objects.at(e.slot); obj.GetName() == key.Name && obj.GetNamespace() == key.Namespace {
			return i, e.slot, obj
		}
	}
	return 0, 0, nil
}

func (v *Version) index(id *ID) *index {
	if !v.empty() {
		for i := range v.indexes {
			if v.indexes[i].id == id {
				return &v.indexes[i]
			}
		}
	}
	return nil
}
