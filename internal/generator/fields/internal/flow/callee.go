// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/informer-gen/informer-gen/internal/generator/gotypes"
)

type callee struct {
	pkg  *types.Package // nil if unknown
	recv types.Type     // without pointers; nil for functions
	name string
	// cache means that it belongs to a source of cached objects.
	cache bool
	// client means that it sends a request to an API server.
	client bool
	known  *knowledge
	note   string // appended to the name of a method
}

func (a *analysis) describe(fn *ssa.Function) callee {
	if origin := fn.Origin(); origin != nil {
		fn = origin
	}
	obj, ok := fn.Object().(*types.Func)
	if !ok {
		return callee{name: fn.Name()}
	}
	if recv := obj.Signature().Recv(); recv != nil {
		return a.describeMethod(deref(recv.Type()), obj)
	}
	to := callee{pkg: obj.Pkg(), name: obj.Name()}
	to.cache = isCachePackage(to.path())
	to.known = known[to.path()+"."+to.name]
	return to
}

func (a *analysis) describeMethod(t types.Type, m *types.Func) callee {
	if own, _, _ := types.LookupFieldOrMethod(t, false, m.Pkg(), m.Name()); isInterface(t) && own != nil {
		m = own.(*types.Func) // m may belong to a type parameter's constraint
	}
	to := callee{pkg: m.Pkg(), recv: t, name: m.Name()}
	to.cache = a.types.isCacheType(t) || isCachePackage(to.path())
	to.known = knownMethod(t, m)
	if declared := m.Signature().Recv(); to.known == nil && declared != nil {
		to.known = knownMethod(deref(declared.Type()), m) // of an embedded interface
	}
	to.client = to.known == nil && isClient(t, m)
	return to
}

func knownMethod(t types.Type, m *types.Func) *knowledge {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return nil
	}
	if k := known[qualified(n)]; k != nil {
		return k
	}
	return known[qualified(n)+"."+m.Name()]
}

// qualified returns the name of a type with its import path; "" if it has none.
func qualified(t types.Type) string {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return ""
	}
	return n.Obj().Pkg().Path() + "." + n.Obj().Name()
}

func (c callee) path() string {
	if c.pkg == nil {
		return ""
	}
	return c.pkg.Path()
}

func (c callee) copies() bool {
	return c.recv != nil && (c.name == "DeepCopy" || c.name == "DeepCopyObject" || c.name == "DeepCopyInto")
}

// String returns the name as seen from another package.
func (c callee) String() string {
	switch {
	case c.pkg == nil:
		return c.name
	case c.recv != nil:
		return gotypes.String(c.recv) + "." + c.name + c.note
	}
	return c.pkg.Name() + "." + c.name
}

// isClient reports whether m is a method of a client: a typed one, with methods to create and
// update, or one of controller-runtime's or ours.
func isClient(t types.Type, m *types.Func) bool {
	if strings.HasPrefix(pathOf(m), RuntimePath+"writer") || strings.HasPrefix(pathOf(m), RuntimePath+"source") {
		return true
	}
	if !clientMethods[m.Name()] {
		return false
	}
	params := m.Signature().Params()
	if params.Len() == 0 || !strings.HasSuffix(types.TypeString(params.At(0).Type(), nil), "context.Context") {
		return false
	}
	for _, name := range []string{"Create", "Update", "Patch", "Delete"} {
		if f, _, _ := types.LookupFieldOrMethod(t, true, m.Pkg(), name); f != nil {
			return true
		}
	}
	return false
}

func pathOf(f *types.Func) string {
	if f.Pkg() == nil {
		return ""
	}
	return f.Pkg().Path()
}

var clientMethods = set("Create", "Update", "UpdateStatus", "Patch", "Apply", "ApplyStatus", "Delete", "DeleteCollection",
	"DeleteAllOf", "Get", "List", "Watch")

func set(names ...string) map[string]bool {
	m := map[string]bool{}
	for _, name := range names {
		m[name] = true
	}
	return m
}
