// SPDX-License-Identifier: Apache-2.0

package table

import (
	"iter"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// Version is one immutable state of a Table. A nil Version is empty, and so is a zero one. All
// methods may be called by any number of goroutines; none waits. The order of iteration is
// unspecified, but the same for each call.
type Version struct{ content content }

// content is a *versionState. Types behind an interface are not compiled again in each package that
// mentions a generic type over Version, as packages of generated code do. To keep it so, no
// exported method that uses the *versionState is inlined.
type content interface{ isContent() }

// versionState is a Version with its content.
type versionState struct {
	Version
	*directory
	objects         vector
	resourceVersion revision
	// in place of resourceVersion, if namespaces have versions of their own; immutable
	streams *[]*namespaceVersion
	spare   link[leaf] // in the chain of objects, or unused
}

func (*versionState) isContent() {}

// namespaceVersion is the resourceVersion of one namespace.
type namespaceVersion struct {
	namespace       string
	resourceVersion revision
}

// directory has the hash tables by which the objects of a Version are found. It is a struct of its
// own because most Txns don't change it.
type directory struct {
	keys       hashed[Row]
	namespaces hashed[*posting]
	indexes    []*index
	unsynced   Unsynced // nil: the table has all objects
}

type index struct {
	owner    uint64 // the Txn that made it, and may change it until it is published
	id       *ID
	def      Index // used by the writer
	postings hashed[*posting]
}

// Get returns the object under key.
func (v *Version) Get(key object.Key) (object.Object, bool) {
	s := stateOf(v)
	if s == nil {
		return nil, false
	}
	_, obj := s.find(&key, Hash(key), true)
	return obj, obj != nil
}

// Len returns the number of objects.
//
//go:noinline
func (v *Version) Len() int {
	if s := stateOf(v); s != nil {
		return s.keys.n
	}
	return 0
}

// ResourceVersion returns the table's resourceVersion, or "" when none was set. If namespaces have
// versions of their own, it is the oldest of them, and "" until all have one, or if none is left.
//
//go:noinline
func (v *Version) ResourceVersion() string {
	s := stateOf(v)
	if s == nil {
		return ""
	}
	if s.streams == nil {
		return s.resourceVersion.String()
	}
	var oldest revision
	for i, one := range *s.streams {
		if i == 0 || one.resourceVersion.olderThan(oldest) {
			oldest = one.resourceVersion
		}
	}
	return oldest.String()
}

// NamespaceResourceVersion returns the resourceVersion of the namespace. It is that of the table,
// unless namespaces have versions of their own; then it is "" for a namespace that has none.
func (v *Version) NamespaceResourceVersion(namespace string) string {
	s := stateOf(v)
	if s == nil || s.streams == nil || namespace == "" {
		return v.ResourceVersion()
	}
	for _, one := range *s.streams {
		if one.namespace == namespace {
			return one.resourceVersion.String()
		}
	}
	return ""
}

// All yields every object until yield returns false.
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
	if p := postingOf(&s.namespaces, Hash(namespace), func(key any) bool { return key.(string) == namespace }); p != nil {
		return s.setOf(p)
	}
	return Set{}
}

// Namespaces yields the name of every namespace that has an object. Cluster-scoped objects have
// none.
func (v *Version) Namespaces(yield func(string) bool) {
	if s := stateOf(v); s != nil {
		entries(&s.namespaces, func(p *posting) bool { return yield(p.key.(string)) })
	}
}

// Lookup returns the objects of one key: the key with this [Hash] for which is returns true. It
// returns false when the version doesn't have the index.
func (v *Version) Lookup(id *ID, hash uint32, is func(key any) bool) (Set, bool) {
	s := stateOf(v)
	ix := s.index(id)
	if ix == nil {
		return Set{}, false
	}
	if p := postingOf(&ix.postings, hash, is); p != nil {
		return s.setOf(p), true
	}
	return Set{}, true
}

// IndexKeys returns every key of the index that has an object, each once. It returns false when the
// version doesn't have the index.
//
//go:noinline
func (v *Version) IndexKeys(id *ID) (iter.Seq[any], bool) {
	ix := stateOf(v).index(id)
	if ix == nil {
		return nil, false
	}
	return func(yield func(any) bool) {
		entries(&ix.postings, func(p *posting) bool { return yield(p.key) })
	}, true
}

// setOf returns the objects of a posting of s. Every Txn that changes a posting changes objects.
func (s *versionState) setOf(p *posting) Set {
	return Set{content: s, posting: p.at(s.objects.leaves.serial)}
}

// Set is the objects of one Version that have something in common. The zero Set is empty.
type Set struct {
	content content  // nil: empty
	posting *posting // without late changes; nil: all objects of content
}

// Len returns the number of objects.
//
//go:noinline
func (s Set) Len() int {
	switch {
	case s.posting != nil:
		return int(s.posting.n)
	case s.content != nil:
		return stateIn(s).keys.n
	}
	return 0
}

// All yields every object once until yield returns false.
func (s Set) All(yield func(object.Object) bool) {
	if p := s.posting; p != nil && p.n > 1 && p.many.few != nil {
		allOf(p.many.few, &stateIn(s).objects, yield)
		return
	}
	var c Cursor
	c.Start(s, nil)
	for objs := c.Next(); objs != nil; objs = c.Next() {
		for _, obj := range objs {
			if obj != nil && !yield(obj) {
				return
			}
		}
	}
}

// And yields every object that is also in other, a Set of the same Version, once until yield
// returns false. Its time depends on the smaller of the two Sets, and it reads only objects that
// are in both.
func (s Set) And(other Set, yield func(object.Object) bool) {
	switch {
	case s.content == nil || other.content == nil:
	case s.posting == nil:
		other.All(yield)
	case other.posting == nil:
		s.All(yield)
	case s.posting.n <= other.posting.n:
		and(s.posting, other.posting, &stateIn(s).objects, yield)
	default:
		and(other.posting, s.posting, &stateIn(s).objects, yield)
	}
}

// stateOf returns the state of v, or nil if v is nil or zero.
func stateOf(v *Version) *versionState {
	if v == nil || v.content == nil {
		return nil
	}
	return v.content.(*versionState)
}

// stateIn returns the state that s belongs to. s must not be zero.
func stateIn(s Set) *versionState { return s.content.(*versionState) }

// slots yields every object with its slot until yield returns false.
func (s Set) slots(yield func(uint32, object.Object) bool) {
	switch {
	case s.content == nil:
	case s.posting == nil:
		stateIn(s).objects.slots(yield)
	default:
		slotsOf(s.posting, &stateIn(s).objects, yield)
	}
}

// postingOf returns the posting of the key with the hash for which is returns true, or nil if there
// is none.
func postingOf(postings *hashed[*posting], hash uint32, is func(key any) bool) *posting {
	for b := bucketOf(postings, hash); b != nil; b = b.more {
		for i, h := range &b.hashes {
			if p := b.has[i]; h == hash && p != nil && is(p.key) {
				return p
			}
		}
	}
	return nil
}

// index returns the index; nil if s, which may be nil, doesn't have it.
func (s *versionState) index(id *ID) *index {
	if s != nil {
		for _, ix := range s.indexes {
			if ix.id == id {
				return ix
			}
		}
	}
	return nil
}
