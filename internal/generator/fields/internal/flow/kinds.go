// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"go/types"
	"strings"

	"github.com/informer-gen/informer-gen/internal/generator/gotypes"
)

func (f *typeFacts) addAPI(t types.Type) {
	t = types.Unalias(t)
	if f.walked.At(t) != nil {
		return
	}
	f.walked.Set(t, true)
	if IsOpaque(t) {
		return
	}
	if n, ok := t.(*types.Named); ok {
		if _, ok := n.Underlying().(*types.Struct); ok {
			f.api[n.Obj()] = true
		}
	}
	for part := range gotypes.Parts(t) {
		f.addAPI(part)
	}
}

// isAPI reports whether t is a struct inside an object.
func (f *typeFacts) isAPI(t types.Type) bool {
	n, ok := deref(t).(*types.Named)
	return ok && f.api[n.Obj()]
}

// isCacheType reports whether t is a source of cached objects, and no object: a lister, an
// informer, a store or an index.
func (f *typeFacts) isCacheType(t types.Type) bool {
	if cacheTypes[qualified(t)] {
		return true
	}
	if !isInterface(t) {
		return false
	}
	for embedded := range t.Underlying().(*types.Interface).EmbeddedTypes() {
		if f.isCacheType(embedded) {
			return true
		}
	}
	n, ok := types.Unalias(t).(*types.Named)
	return ok && readsCache(n.Obj().Name()) && len(f.objectsIn(n)) > 0
}

// readsCache reports whether name belongs to a generated lister or informer interface.
func readsCache(name string) bool {
	return strings.HasSuffix(name, "Lister") || strings.HasSuffix(name, "Informer")
}

// objectsIn returns the kinds of objects that a type names: in its type arguments, in parameters
// and results of functions, and in the methods of listers and informers.
func (f *typeFacts) objectsIn(t types.Type) []*types.Named {
	if found, ok := f.objects.At(t).([]*types.Named); ok {
		return found
	}
	seen := map[*types.Named]bool{}
	var found []*types.Named
	f.collect(t, seen, &found, 0)
	f.objects.Set(t, found)
	return found
}

func (f *typeFacts) collect(t types.Type, seen map[*types.Named]bool, found *[]*types.Named, depth int) {
	if depth > 12 {
		return
	}
	more := func(t types.Type) { f.collect(t, seen, found, depth+1) }
	switch u := types.Unalias(t).(type) {
	case *types.Named:
		if seen[u] {
			return
		}
		seen[u] = true
		if n, ok := isObject(u); ok {
			*found = append(*found, n)
			return
		}
		for arg := range u.TypeArgs().Types() {
			more(arg)
		}
		switch under := u.Underlying().(type) {
		case *types.Interface:
			if readsCache(u.Obj().Name()) {
				for m := range under.Methods() {
					more(m.Signature().Results())
				}
			}
		case *types.Struct:
			if list, ok := itemsOf(under); ok {
				more(list)
			}
		default:
			more(under)
		}
	case *types.Signature:
		more(u.Params())
		more(u.Results())
	case *types.Struct:
	default:
		for part := range gotypes.Parts(u) {
			more(part)
		}
	}
}

func itemsOf(s *types.Struct) (types.Type, bool) {
	list := false
	for v := range s.Fields() {
		list = list || v.Embedded() && v.Name() == "ListMeta"
		if v.Name() == "Items" && list {
			return v.Type(), true
		}
	}
	return nil, false
}
