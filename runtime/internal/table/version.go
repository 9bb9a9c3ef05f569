// SPDX-License-Identifier: Apache-2.0

package table

import (
	"iter"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// Version is one immutable state of a Table. A nil Version is empty, and so is a zero one. All
// methods are safe for concurrent use; none waits. The order of iteration is unspecified, but the
// same for each call.
type Version struct{ content content }

// content is a *versionState. A type behind an interface is not compiled again in each package that
// mentions a generic type over Version, as generated packages do. For the same reason, exported
// methods that use the *versionState are not inlined.
type content interface{ isContent() }

type versionState struct {
	Version
	objects         vector
	keys            hashTrie[uint32] // slots by the hashes of the objects' keys
	indexes         []index          // the first one is of namespaces
	resourceVersion resourceVersion
	// replaces resourceVersion if namespaces have versions of their own; immutable
	namespaceVersions *[]*namespaceVersion
	syncState         SyncState // nil: the table has all objects
}

func (*versionState) isContent() {}

type namespaceVersion struct {
	namespace       string
	resourceVersion resourceVersion
}

// Get returns the object under key.
func (v *Version) Get(key object.Key) (object.Object, bool) {
	s := stateOf(v)
	if s == nil {
		return nil, false
	}
	_, obj := s.find(key, Hash(key))
	return obj, obj != nil
}

func (s *versionState) find(key object.Key, hash uint32) (slot uint32, obj object.Object) {
	for _, e := range s.keys.bucket(hash) {
		if e.hash == hash {
			if obj := s.objects.get(e.v); obj.GetName() == key.Name && obj.GetNamespace() == key.Namespace {
				return e.v, obj
			}
		}
	}
	return 0, nil
}

// Len returns the number of objects.
//
//go:noinline
func (v *Version) Len() int {
	if s := stateOf(v); s != nil {
		return s.objects.root.len()
	}
	return 0
}

// ResourceVersion returns the table's resourceVersion, or "" if none was set. If namespaces have
// versions of their own, it is the oldest of them, and "" until all have one, or if none is left.
//
//go:noinline
func (v *Version) ResourceVersion() string {
	s := stateOf(v)
	if s == nil {
		return ""
	}
	if s.namespaceVersions == nil {
		return s.resourceVersion.String()
	}
	var oldest resourceVersion
	for i, nv := range *s.namespaceVersions {
		if i == 0 || nv.resourceVersion.olderThan(oldest) {
			oldest = nv.resourceVersion
		}
	}
	return oldest.String()
}

// NamespaceResourceVersion returns the resourceVersion of the namespace, or that of the table
// unless namespaces have versions of their own; then it is "" for a namespace without one.
func (v *Version) NamespaceResourceVersion(namespace string) string {
	s := stateOf(v)
	if s == nil || s.namespaceVersions == nil || namespace == "" {
		return v.ResourceVersion()
	}
	for _, nv := range *s.namespaceVersions {
		if nv.namespace == namespace {
			return nv.resourceVersion.String()
		}
	}
	return ""
}

// All yields every object.
func (v *Version) All(yield func(object.Object) bool) { v.Namespace("").All(yield) }

// Namespace returns the objects of one namespace, or of all for "".
func (v *Version) Namespace(namespace string) Set {
	s := stateOf(v)
	if s == nil {
		return Set{}
	}
	if namespace == "" {
		return Set{content: s}
	}
	return s.set(&s.indexes[0], Hash(namespace), func(key any) bool { return key.(string) == namespace })
}

// Namespaces yields the name of every namespace with objects. Cluster-scoped objects have none.
func (v *Version) Namespaces(yield func(string) bool) {
	if s := stateOf(v); s != nil {
		s.indexes[0].keys.all(func(n *indexKey) bool { return yield(n.key.(string)) })
	}
}

// Lookup returns the objects of one key, given its [Hash] and a comparison. It returns
// false if the version doesn't have the index.
func (v *Version) Lookup(id *ID, hash uint32, equal func(key any) bool) (Set, bool) {
	s := stateOf(v)
	ix := s.index(id)
	if ix == nil {
		return Set{}, false
	}
	return s.set(ix, hash, equal), true
}

// IndexKeys returns every key of the index with objects, each once. It returns false if the version
// doesn't have the index.
//
//go:noinline
func (v *Version) IndexKeys(id *ID) (iter.Seq[any], bool) {
	ix := stateOf(v).index(id)
	if ix == nil {
		return nil, false
	}
	return func(yield func(any) bool) {
		ix.keys.all(func(n *indexKey) bool { return yield(n.key) })
	}, true
}

func (s *versionState) set(ix *index, hash uint32, equal func(key any) bool) Set {
	if n := ix.find(hash, equal); n != nil {
		return Set{s, ix, n.number}
	}
	return Set{}
}

// stateOf returns the state of v, or nil if v is nil or zero.
func stateOf(v *Version) *versionState {
	if v == nil || v.content == nil {
		return nil
	}
	return v.content.(*versionState)
}

func (s *versionState) index(id *ID) *index {
	if s != nil {
		for i := range s.indexes {
			if s.indexes[i].id == id {
				return &s.indexes[i]
			}
		}
	}
	return nil
}
