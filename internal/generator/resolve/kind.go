// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"fmt"
	"go/token"
	"go/types"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/informer-gen/informer-gen/internal/generator/gotypes"
	"github.com/informer-gen/informer-gen/internal/generator/marker"
	"github.com/informer-gen/informer-gen/internal/generator/model"
	"github.com/informer-gen/informer-gen/internal/generator/report"
)

const runtimePath = "k8s.io/apimachinery/pkg/runtime"

// kindOf returns the kind of a selected type, or nil if the type is no kind or wrong; t then says
// why.
func kindOf(r *report.Report, in Input, a *api, d *typeDecl, t *Type) *kind {
	name, pos := t.Name, t.Pos
	typeName, _ := a.pkg.Types.Scope().Lookup(name).(*types.TypeName)
	if name == "_" {
		r.FailAt(pos, "a type without a name can't be a kind")
		return nil
	}
	if typeName == nil || typeName.Pos() != d.spec.Name.Pos() {
		return nil // declared twice, and reported
	}
	no := func(reason string, at marker.At) *kind {
		t.setReason(reason, at)
		reportNotGenerated(r, d, reason)
		return nil
	}
	const incomplete = "it doesn't compile"
	if len(a.pkg.TypeErrors) > 0 && embedsInvalid(typeName) {
		t.setReason(incomplete, marker.At{})
		warnLeftOut(r, in, name, pos)
		return nil // unknown whether it has ObjectMeta
	}
	switch {
	case d.selection.required:
	case hasMeta(typeName, "ListMeta"):
		return no("it is a list", marker.At{})
	case !hasMeta(typeName, "ObjectMeta"):
		// such as the root of a config file
		return no("it has no metav1.ObjectMeta, so it isn't a kind", marker.At{})
	}
	if reason, at := notServed(r, d); reason != "" {
		if m := marker.First[marker.Generate](d.markers); m != nil {
			r.Fail(m.At, m.Value.Pos, "contradicts "+at.Name+" at "+r.Short(at.Pos)+": "+reason)
		}
		return no(reason, at)
	}
	if in.KeepGoing && len(a.pkg.TypeErrors) > 0 && !gotypes.Compiles(typeName.Type()) {
		t.setReason(incomplete, marker.At{})
		warnLeftOut(r, in, name, pos)
		return nil
	}
	if !isObject(r, a, typeName, pos) {
		return nil
	}
	plural := pluralOf(r, in, d)
	k := &kind{api: a, decl: d, pos: pos, plural: plural, scope: scopeOf(r, d), resource: resourceOf(r, d, plural), goType: typeName.Type().(*types.Named)}
	k.Type = &model.Type{Name: name, Plural: plural.Text}
	k.Doc, k.Deprecated = docLines(d.doc)
	return k
}

// warnLeftOut warns about a type that doesn't compile, unless that is an error anyway.
func warnLeftOut(r *report.Report, in Input, name string, pos token.Position) {
	if in.KeepGoing {
		r.WarnAt(pos, "type "+name+" is left out, because it doesn't compile")
	}
}

func hasMeta(t *types.TypeName, name string) bool {
	s, ok := t.Type().Underlying().(*types.Struct)
	return ok && gotypes.MetaField(s, name) >= 0
}

// isObject reports whether the type can be an API object, and adds a finding if not.
func isObject(r *report.Report, a *api, t *types.TypeName, pos token.Position) bool {
	before := r.Errors()
	fail := func(format string, args ...any) {
		r.FailAt(pos, "type "+t.Name()+" "+fmt.Sprintf(format, args...))
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
	case len(validation.IsDNS1035Label(strings.ToLower(t.Name()))) > 0:
		fail("has a name that no API kind can have: use at most 63 ASCII letters and digits")
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
		i := gotypes.MetaField(s, meta)
		if i < 0 {
			tag := "`json:\",inline\"`"
			if meta == "ObjectMeta" {
				tag = "`json:\"metadata,omitempty\"`"
			}
			fail("has no metav1.%s: embed it with %s", meta, tag)
			continue
		}
		if _, ok := reflect.StructTag(s.Tag(i)).Lookup("json"); !ok {
			fail("embeds metav1.%s without a json tag, as the internal types of API servers do: generate for the versioned types instead", meta)
			return false
		}
	}
	if r.Errors() > before {
		return false
	}
	copyMethod := types.NewMethodSet(types.NewPointer(n)).Lookup(a.pkg.Types, "DeepCopyObject")
	if copyMethod == nil || len(copyMethod.Index()) > 1 || !returnsObject(copyMethod.Obj().(*types.Func)) {
		fail("has no method DeepCopyObject() runtime.Object: let controller-gen object or deepcopy-gen write it first")
		return false
	}
	// runtime.Object
	required := []types.Type{copyMethod.Obj().(*types.Func).Signature().Results().At(0).Type()}
	objectMeta := types.Unalias(s.Field(gotypes.MetaField(s, "ObjectMeta")).Type()).(*types.Named).Obj()
	if object := objectMeta.Pkg().Scope().Lookup("Object"); object != nil {
		required = append(required, object.Type())
	}
	for _, of := range required {
		if name := gotypes.Hidden(n, of); name != "" {
			fail("has a %s of its own, which hides that of its metadata: rename it, or give it the signature of the hidden method", name)
		}
	}
	return r.Errors() == before
}

func returnsObject(f *types.Func) bool {
	s := f.Signature()
	return s.Params().Len() == 0 && s.Results().Len() == 1 && gotypes.IsNamed(s.Results().At(0).Type(), runtimePath, "Object")
}

func embedsInvalid(t *types.TypeName) bool {
	s, ok := t.Type().Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for f := range s.Fields() {
		if f.Embedded() && !gotypes.Compiles(f.Type()) {
			return true
		}
	}
	return false
}
