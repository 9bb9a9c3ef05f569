// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// program is type-checked Go source.
type program struct {
	packages map[string]*packages.Package // by path, with all imported packages
}

// kind is the entry of one API type in a tree.
type kind struct {
	Object     string // the Go type, as path.Name
	Resource   schema.GroupVersionResource
	Namespaced bool
	// Folder is the folder of the informer's package, below the factory's.
	Folder string
	// The names of the generated Go types; NamespaceLister is empty for cluster-scoped kinds.
	Informer, Lister, NamespaceLister string
}

// tree has the informers of one factory, by accessor: Core().V1().Pods().
type tree map[string]kind

const (
	// allSource reads everything from source and compiles nothing.
	allSource = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedTypes |
		packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedDeps
	// rootSource takes imported packages from the build cache.
	rootSource = allSource&^packages.NeedDeps | packages.NeedExportFile
)

// load reads packages in the module at dir. overlay replaces the content of files.
func load(dir string, mode packages.LoadMode, overlay map[string][]byte, patterns ...string) (*program, error) {
	roots, err := packages.Load(&packages.Config{
		Mode: mode, Dir: dir, Env: environment(), Overlay: overlay,
	}, patterns...)
	if err != nil {
		return nil, err
	}
	p := &program{packages: map[string]*packages.Package{}}
	var errs []error
	packages.Visit(roots, nil, func(pkg *packages.Package) {
		p.packages[pkg.PkgPath] = pkg
		for _, err := range pkg.Errors {
			errs = append(errs, err)
		}
	})
	return p, errors.Join(errs...)
}

// tree reads the interfaces of the factory in the package at path, and all interfaces reached from
// there.
func (p *program) tree(path string) (tree, error) {
	pkg := p.packages[path]
	if pkg == nil {
		return nil, fmt.Errorf("no package %s", path)
	}
	factory := pkg.Types.Scope().Lookup("SharedInformerFactory")
	if factory == nil {
		return nil, fmt.Errorf("package %s has no SharedInformerFactory", path)
	}
	resources, err := p.resources(pkg)
	if err != nil {
		return nil, err
	}
	t := tree{}
	for _, group := range accessors(factory.Type(), isGroup(path)) {
		for _, version := range accessors(group.result, isInterfaceBelow(path)) {
			for _, informer := range accessors(version.result, isInformer) {
				name := group.call() + "." + version.call() + "." + informer.call()
				k, err := readKind(informer)
				if err != nil {
					return nil, fmt.Errorf("%s: %s: %w", path, name, err)
				}
				resource, ok := resources[name]
				if !ok {
					return nil, fmt.Errorf("%s: ForResource doesn't return the informer %s", path, name)
				}
				delete(resources, name)
				k.Resource = resource
				k.Folder = strings.TrimPrefix(informer.result.Obj().Pkg().Path(), path+"/")
				t[name] = k
			}
		}
	}
	for name, resource := range resources {
		return nil, fmt.Errorf("%s: ForResource returns %s for %v, which no interface has", path, name, resource)
	}
	return t, nil
}

// accessor is a method without parameters and with one result.
type accessor struct {
	name   string
	result *types.Named
}

func (a accessor) call() string { return a.name + "()" }

// accessors returns the methods of t for which wanted returns true.
func accessors(t types.Type, wanted func(accessor) bool) []accessor {
	var found []accessor
	for method := range methods(t) {
		signature := method.Signature()
		if signature.Params().Len() != 0 || signature.Results().Len() != 1 {
			continue
		}
		result, ok := signature.Results().At(0).Type().(*types.Named)
		if a := (accessor{method.Name(), result}); ok && wanted(a) {
			found = append(found, a)
		}
	}
	return found
}

func methods(t types.Type) func(yield func(*types.Func) bool) {
	return func(yield func(*types.Func) bool) {
		for method := range types.NewMethodSet(t).Methods() {
			if !yield(method.Obj().(*types.Func)) {
				return
			}
		}
	}
}

// isGroup reports whether an accessor returns the interface of a group. In client-go these are in
// packages of their own, in our trees beside the factory.
func isGroup(path string) func(accessor) bool {
	below := isInterfaceBelow(path)
	return func(a accessor) bool {
		return below(a) || strings.HasSuffix(a.result.Obj().Name(), "Group") && a.result.Obj().Pkg().Path() == path
	}
}

func isInterfaceBelow(path string) func(accessor) bool {
	return func(a accessor) bool {
		return a.result.Obj().Name() == "Interface" && strings.HasPrefix(a.result.Obj().Pkg().Path(), path+"/")
	}
}

func isInformer(a accessor) bool { return strings.HasSuffix(a.result.Obj().Name(), "Informer") }

// readKind follows an informer's accessor to its listers and its object.
func readKind(informer accessor) (kind, error) {
	// In client-go v0.37, accessors return a TypedPodInformer: a PodInformer which has a typed
	// informer too.
	k := kind{Informer: strings.TrimPrefix(informer.result.Obj().Name(), "Typed")}
	found := accessors(informer.result, func(a accessor) bool { return strings.HasSuffix(a.result.Obj().Name(), "Lister") })
	if len(found) != 1 || found[0].name != "Lister" {
		return k, fmt.Errorf("%v has no method Lister", informer.result)
	}
	lister := found[0].result
	k.Lister = lister.Obj().Name()
	object, err := listed(lister)
	if err != nil {
		return k, err
	}
	k.Object = typeName(object)
	for method := range methods(lister) {
		signature := method.Signature()
		if signature.Params().Len() != 1 || signature.Results().Len() != 1 {
			continue
		}
		result, ok := signature.Results().At(0).Type().(*types.Named)
		if !ok || !strings.HasSuffix(result.Obj().Name(), "NamespaceLister") {
			continue
		}
		if method.Name() != informer.name {
			return k, fmt.Errorf("%s has the method %s, and not %s", k.Lister, method.Name(), informer.name)
		}
		k.Namespaced, k.NamespaceLister = true, result.Obj().Name()
		if inNamespace, err := listed(result); err != nil || !types.Identical(inNamespace, object) {
			return k, fmt.Errorf("%s is not of %s: %w", k.NamespaceLister, k.Object, err)
		}
	}
	// Only the lister of one namespace, or of a cluster-scoped kind, gets an object by its name.
	if _, canGet := method(lister, "Get"); canGet == k.Namespaced {
		return k, fmt.Errorf("%s is namespaced: %v; has the method Get: %v", k.Lister, k.Namespaced, canGet)
	}
	return k, nil
}

// listed returns the type of the objects returned by a lister's List.
func listed(lister *types.Named) (*types.Named, error) {
	if list, ok := method(lister, "List"); ok {
		if slice, ok := list.Signature().Results().At(0).Type().(*types.Slice); ok {
			if pointer, ok := slice.Elem().(*types.Pointer); ok {
				if object, ok := pointer.Elem().(*types.Named); ok {
					return object, nil
				}
			}
		}
	}
	return nil, fmt.Errorf("%v has no method List that returns objects", lister)
}

func method(t types.Type, name string) (*types.Func, bool) {
	for method := range methods(t) {
		if method.Name() == name {
			return method, true
		}
	}
	return nil, false
}

func typeName(t *types.Named) string { return t.Obj().Pkg().Path() + "." + t.Obj().Name() }

// resources reads a factory's ForResource: it returns resources by accessor.
func (p *program) resources(factory *packages.Package) (map[string]schema.GroupVersionResource, error) {
	found := map[string]schema.GroupVersionResource{}
	var errs []error
	for _, file := range factory.Syntax {
		for _, decl := range file.Decls {
			function, ok := decl.(*ast.FuncDecl)
			if !ok || function.Name.Name != "ForResource" || function.Recv == nil {
				continue
			}
			ast.Inspect(function.Body, func(n ast.Node) bool {
				clause, ok := n.(*ast.CaseClause)
				if !ok || len(clause.List) == 0 {
					return true
				}
				name := informerOf(clause)
				resource, err := p.evaluate(factory, clause.List[0])
				if err == nil && found[name] != (schema.GroupVersionResource{}) {
					err = fmt.Errorf("%s is returned for %v too", name, found[name])
				}
				if err != nil {
					errs = append(errs, fmt.Errorf("%s: ForResource: %s: %w", factory.PkgPath, types.ExprString(clause.List[0]), err))
				}
				found[name] = resource
				return true
			})
		}
	}
	return found, errors.Join(errs...)
}

// informerOf returns the accessor in f.Core().V1().Pods().Informer().
func informerOf(clause *ast.CaseClause) string {
	var names []string
	ast.Inspect(&ast.BlockStmt{List: clause.Body}, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		selector, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || selector.Sel.Name != "Informer" {
			return true
		}
		for {
			if call, ok = selector.X.(*ast.CallExpr); !ok {
				return false
			}
			if selector, ok = call.Fun.(*ast.SelectorExpr); !ok {
				return false
			}
			names = append(names, selector.Sel.Name+"()")
		}
	})
	slices.Reverse(names)
	return strings.Join(names, ".")
}

// client describes the requests of a typed client.
type client struct {
	Resource   string // the plural
	Namespaced bool
}

// clients reads the typed clients with a List, in packages below path: by the type of the object.
func (p *program) clients(path string) (map[string]client, error) {
	found := map[string]client{}
	var errs []error
	for _, pkg := range p.packages {
		if !strings.HasPrefix(pkg.PkgPath, path+"/") || strings.HasSuffix(pkg.PkgPath, "/fake") {
			continue
		}
		for _, file := range pkg.Syntax {
			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				instance, ok := call.Fun.(*ast.IndexListExpr)
				if !ok || !strings.HasPrefix(types.ExprString(instance.X), "gentype.NewClientWithList") {
					return true
				}
				pointer, ok := pkg.TypesInfo.TypeOf(instance.Indices[0]).(*types.Pointer)
				resource := pkg.TypesInfo.Types[call.Args[0]].Value
				if !ok || resource == nil {
					errs = append(errs, fmt.Errorf("%s: a client in an unknown form: %s", pkg.PkgPath, types.ExprString(call)))
					return true
				}
				// a parameter, or the constant ""
				namespace := pkg.TypesInfo.Types[call.Args[3]].Value
				found[typeName(pointer.Elem().(*types.Named))] = client{constant.StringVal(resource), namespace == nil}
				return true
			})
		}
	}
	if len(found) == 0 {
		errs = append(errs, fmt.Errorf("no typed clients below %s", path))
	}
	return found, errors.Join(errs...)
}
