// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"fmt"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/informer-gen/informer-gen/generator/diag"
	"github.com/informer-gen/informer-gen/generator/marker"
	"github.com/informer-gen/informer-gen/generator/model"
)

// The packages that API types are made of.
const (
	metaPath    = "k8s.io/apimachinery/pkg/apis/meta/v1"
	runtimePath = "k8s.io/apimachinery/pkg/runtime"
)

// kind returns the kind that d declares, or nil if it isn't one or is wrong.
func (r *resolver) kind(a *api, d *declared) *kind {
	if !d.candidate() {
		return nil
	}
	name := d.spec.Name.Name
	pos := r.fset.Position(d.spec.Name.Pos())
	isClient := marker.First[marker.Genclient](d.markers) != nil
	typeName, _ := a.pkg.Types.Scope().Lookup(name).(*types.TypeName)
	if typeName == nil {
		return nil // declared twice, which is reported
	}
	if len(a.pkg.TypeErrors) > 0 && embedsInvalid(typeName) {
		r.leftOut(name, pos)
		return nil // whether it has ObjectMeta can't be known
	}
	if !isClient && !hasMeta(typeName, "ObjectMeta") {
		r.noIndexes(d, "it has no metav1.ObjectMeta, so it is no kind")
		return nil // a list, or the root of a configuration file
	}
	if why := r.notServed(a, d, isClient); why != "" {
		r.noIndexes(d, why)
		return nil
	}
	if r.keepGoing && len(a.pkg.TypeErrors) > 0 && invalid(typeName.Type(), map[types.Type]bool{}) {
		r.leftOut(name, pos)
		return nil
	}
	if !r.isObject(a, typeName, pos) {
		return nil
	}
	k := &kind{pos: pos, Type: &model.Type{
		Name:       name,
		Plural:     plural(name),
		Namespaced: r.namespaced(d),
		Doc:        docLines(d.doc),
	}}
	k.Resource = r.resource(d, pos)
	r.indexes(a, d, k, typeName.Type().(*types.Named))
	return k
}

// leftOut warns about a type that doesn't compile, if that isn't an error anyway.
func (r *resolver) leftOut(name string, pos token.Position) {
	if r.keepGoing {
		r.report.Add(diag.Diagnostic{Pos: pos, Message: "type " + name + " is left out, because what it is made of doesn't compile", Warning: true})
	}
}

// noIndexes reports indexes of a type for which nothing is generated.
func (r *resolver) noIndexes(d *declared, why string) {
	for _, m := range marker.All[marker.Index](d.markers) {
		r.fail(m.At, m.Pos, "nothing is generated for type "+d.spec.Name.Name+": "+why, nil)
	}
}

// notServed says why there is nothing to list and watch; it is empty if there is.
func (r *resolver) notServed(a *api, d *declared, isClient bool) string {
	switch {
	case marker.First[marker.UnservedVersion](d.markers) != nil:
		return "+kubebuilder:unservedversion says that the API server doesn't serve it"
	case !isClient && marker.First[marker.Skip](a.markers) != nil:
		return "+kubebuilder:skip takes the package's types out"
	case !isClient && marker.First[marker.SkipVersion](d.markers) != nil:
		return "+kubebuilder:skipversion takes it out"
	}
	verbs := r.verbs(d)
	for _, verb := range []string{"list", "watch"} {
		if !slices.Contains(verbs, verb) {
			return "the API server doesn't offer the verb " + verb + " for it"
		}
	}
	return ""
}

// verbs returns what the API server offers for a type, as far as informers are concerned.
func (r *resolver) verbs(d *declared) []string {
	only, skip := marker.All[marker.OnlyVerbs](d.markers), marker.All[marker.SkipVerbs](d.markers)
	readOnly, none := marker.First[marker.ReadOnly](d.markers), marker.First[marker.NoVerbs](d.markers)
	switch {
	case none != nil:
		for _, m := range d.markers {
			if name := m.Place().Name; name == "+genclient:onlyVerbs" || name == "+genclient:readonly" {
				r.fail(m.Place(), m.Place().Pos, "contradicts +genclient:noVerbs at "+r.short(none.Pos), nil)
			}
		}
		return nil
	case len(only) > 0 && len(skip) > 0:
		r.fail(skip[0].At, skip[0].Pos, "contradicts +genclient:onlyVerbs at "+r.short(only[0].Pos)+": one of them says it all", nil)
	case readOnly != nil && len(skip) > 0:
		r.fail(skip[0].At, skip[0].Pos, "contradicts +genclient:readonly at "+r.short(readOnly.Pos)+": one of them says it all", nil)
	}
	verbs := []string{"get", "list", "watch"}
	if len(only) > 0 && readOnly == nil {
		verbs = nil
	}
	for _, m := range only {
		for _, v := range m.Verbs {
			verbs = append(verbs, v.Text)
		}
	}
	for _, m := range skip {
		for _, v := range m.Verbs {
			verbs = slices.DeleteFunc(verbs, func(verb string) bool { return verb == v.Text })
		}
	}
	return verbs
}

// hasMeta says whether the type embeds the struct of that name from metav1.
func hasMeta(t *types.TypeName, name string) bool {
	return metaField(t, name) >= 0
}

// metaField returns the position of the embedded metav1 struct, or -1.
func metaField(t *types.TypeName, name string) int {
	s, ok := t.Type().Underlying().(*types.Struct)
	if !ok {
		return -1
	}
	for i := range s.NumFields() {
		if f := s.Field(i); f.Embedded() && isNamed(f.Type(), metaPath, name) {
			return i
		}
	}
	return -1
}

func isNamed(t types.Type, path, name string) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Name() == name && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == path
}

// isObject says whether the type can be an object of the API, and reports why not.
func (r *resolver) isObject(a *api, t *types.TypeName, pos token.Position) bool {
	before := len(r.report)
	fail := func(format string, args ...any) {
		r.failAt(pos, "type "+t.Name()+" "+fmt.Sprintf(format, args...))
	}
	n, isNamedType := t.Type().(*types.Named)
	switch {
	case t.IsAlias():
		fail("is an alias: put the marker above the type itself, in a run that covers its package")
		return false
	case !t.Exported():
		fail("is unexported: generated packages can't name it")
		return false
	case !isNamedType || n.TypeParams().Len() > 0:
		fail("has type parameters: an API type has none")
		return false
	case strings.Contains(t.Name(), "_"):
		fail("has an underscore in its name, which no kind of the API can have")
		return false
	}
	s, ok := n.Underlying().(*types.Struct)
	if !ok {
		fail("is not a struct: an API type embeds metav1.TypeMeta and metav1.ObjectMeta")
		return false
	}
	if hasMeta(t, "ListMeta") {
		fail("is a list (it has metav1.ListMeta): mark the type of its items instead")
		return false
	}
	for _, meta := range []string{"TypeMeta", "ObjectMeta"} {
		i := metaField(t, meta)
		if i < 0 {
			tag := "`json:\",inline\"`"
			if meta == "ObjectMeta" {
				tag = "`json:\"metadata,omitempty\"`"
			}
			fail("has no metav1.%s: embed it with %s", meta, tag)
			continue
		}
		if _, ok := reflect.StructTag(s.Tag(i)).Lookup("json"); !ok {
			fail("embeds metav1.%s without a json tag, as the internal types of API servers do: generate for the types of a version", meta)
			return false
		}
	}
	if len(r.report) > before {
		return false
	}
	copyMethod := types.NewMethodSet(types.NewPointer(n)).Lookup(a.pkg.Types, "DeepCopyObject")
	if copyMethod == nil || len(copyMethod.Index()) > 1 || !returnsObject(copyMethod.Obj().(*types.Func)) {
		fail("has no method DeepCopyObject() runtime.Object: let controller-gen object or deepcopy-gen write it first")
		return false
	}
	return true
}

func returnsObject(f *types.Func) bool {
	s := f.Signature()
	return s.Params().Len() == 0 && s.Results().Len() == 1 && isNamed(s.Results().At(0).Type(), runtimePath, "Object")
}

// namespaced decides the scope.
func (r *resolver) namespaced(d *declared) bool {
	cluster := marker.First[marker.NonNamespaced](d.markers)
	var scope *marker.Resource
	for _, m := range marker.All[marker.Resource](d.markers) {
		switch {
		case !m.Scope.IsSet():
		case scope != nil && scope.Scope.Text != m.Scope.Text:
			r.fail(m.At, m.Scope.Pos, "scope "+m.Scope.Text+" contradicts scope "+scope.Scope.Text+" at "+r.short(scope.Pos), nil)
		default:
			scope = m
		}
	}
	if cluster != nil && scope != nil && scope.Scope.Text == "Namespaced" {
		r.fail(scope.At, scope.Scope.Pos, "scope Namespaced contradicts +genclient:nonNamespaced at "+r.short(cluster.Pos), nil)
	}
	return cluster == nil && (scope == nil || scope.Scope.Text == "Namespaced")
}

// resource decides the plural in URLs.
func (r *resolver) resource(d *declared, pos token.Position) string {
	type candidate struct {
		at    marker.At
		value marker.Value
	}
	var candidates []candidate
	for _, m := range d.markers {
		switch m := m.(type) {
		case *marker.ResourceName:
			candidates = append(candidates, candidate{m.At, m.Name})
		case *marker.Resource:
			if m.Path.IsSet() {
				candidates = append(candidates, candidate{m.At, m.Path})
			}
		}
	}
	if len(candidates) == 0 {
		return strings.ToLower(plural(d.spec.Name.Name))
	}
	first := candidates[0]
	for _, c := range candidates[1:] {
		if c.value.Text != first.value.Text {
			r.fail(c.at, c.value.Pos, fmt.Sprintf("resource %q contradicts %q at %s", c.value.Text, first.value.Text, r.short(first.at.Pos)), nil)
		}
	}
	if len(validation.IsDNS1035Label(first.value.Text)) > 0 {
		r.fail(first.at, first.value.Pos, fmt.Sprintf("%q is no name for a resource: it takes lower-case letters, digits and - between them", first.value.Text), nil)
	}
	return first.value.Text
}

// embedsInvalid says whether the type embeds something that doesn't compile.
func embedsInvalid(t *types.TypeName) bool {
	s, ok := t.Type().Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for f := range s.Fields() {
		if f.Embedded() && invalid(f.Type(), map[types.Type]bool{}) {
			return true
		}
	}
	return false
}

// invalid says whether t is made of something that doesn't compile.
func invalid(t types.Type, seen map[types.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		return t.Kind() == types.Invalid
	case *types.Named:
		return invalid(t.Underlying(), seen)
	case *types.Pointer:
		return invalid(t.Elem(), seen)
	case *types.Slice:
		return invalid(t.Elem(), seen)
	case *types.Array:
		return invalid(t.Elem(), seen)
	case *types.Map:
		return invalid(t.Key(), seen) || invalid(t.Elem(), seen)
	case *types.Struct:
		for f := range t.Fields() {
			if invalid(f.Type(), seen) {
				return true
			}
		}
	case *types.Tuple:
		for v := range t.Variables() {
			if invalid(v.Type(), seen) {
				return true
			}
		}
	}
	return false
}
