// SPDX-License-Identifier: Apache-2.0

package index

import (
	"fmt"
	"go/types"

	"github.com/informer-gen/informer-gen/internal/generator/gotypes"
	"github.com/informer-gen/informer-gen/internal/generator/model"
)

type keyProblem struct {
	reason string
	// instead is a result for an index function to return; may be empty.
	instead string
}

// keyType returns the type of an index's keys as generated code names it, or the reason why it
// can't be a key.
func keyType(output Output, t types.Type) (model.GoType, *keyProblem) {
	t = types.Unalias(t)
	str := gotypes.String(t)
	const want = "a key is a string, a bool, an integer or a struct of these, or a type declared as one"
	no := func(format string, args ...any) (model.GoType, *keyProblem) {
		return model.GoType{}, &keyProblem{reason: fmt.Sprintf(format, args...)}
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch {
		case u.Kind() == types.Invalid:
			return no("its type doesn't compile")
		case u.Info()&types.IsFloat != 0:
			return model.GoType{}, &keyProblem{str + " can't be compared reliably; " + want, "it rounded to an integer"}
		case u.Info()&(types.IsString|types.IsBoolean|types.IsInteger) == 0 || u.Kind() == types.Uintptr || u.Kind() == types.UnsafePointer:
			return no("%s can't be compared reliably; %s", str, want)
		}
	case *types.Struct:
		if why := incomparable(t, str, map[types.Type]bool{}); why != nil {
			if why.instead == "" {
				why.reason += "; " + want
			}
			return model.GoType{}, why
		}
	default:
		return no("%s isn't a key type; %s", str, want)
	}
	switch t := t.(type) {
	case *types.Basic:
		return goType(t), nil
	case *types.Named:
		obj := t.Obj()
		switch {
		case t.TypeArgs().Len() > 0:
			return no("%s has type arguments: declare a type without any", str)
		case !obj.Exported():
			return no("%s is unexported, so generated code can't name it", str)
		case obj.Pkg() != nil && !gotypes.CanImport(output.ImportPath, obj.Pkg().Path()):
			return no("%s comes from an internal package, which the output can't import", str)
		case obj.Parent() != obj.Pkg().Scope():
			return no("%s isn't declared at the top of its package", str)
		}
		return goType(t), nil
	}
	return no("%s has no name: declare a type for it", str)
}

// goType returns a predeclared or named type for the model; zero for any other.
func goType(t types.Type) model.GoType {
	switch t := t.(type) {
	case *types.Basic:
		return model.GoType{Name: t.Name()}
	case *types.Named:
		if obj := t.Obj(); obj.Pkg() != nil {
			return model.GoType{Path: obj.Pkg().Path(), Package: obj.Pkg().Name(), Name: obj.Name()}
		}
	}
	return model.GoType{}
}

// ambiguousTypes are structs that can differ in Go and mean the same.
var ambiguousTypes = map[string]keyProblem{
	"time.Time":                                       {"one point in time has several representations that are unequal in Go", "its Unix seconds"},
	gotypes.MetaPath + ".Time":                        {"one point in time has several representations that are unequal in Go", "its Unix seconds"},
	gotypes.MetaPath + ".MicroTime":                   {"one point in time has several representations that are unequal in Go", "its UnixMicro"},
	"k8s.io/apimachinery/pkg/api/resource.Quantity":   {"one quantity has many representations that are unequal in Go", "its String"},
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString": {`80 and "80" mean the same but are unequal in Go`, "its String"},
}

// incomparable returns the reason why == can panic on values of t, or can tell apart two that mean
// the same; nil if neither. Messages call the values what.
func incomparable(t types.Type, what string, seen map[types.Type]bool) *keyProblem {
	t = types.Unalias(t)
	if seen[t] {
		return nil
	}
	seen[t] = true
	if n, ok := t.(*types.Named); ok && n.Obj().Pkg() != nil {
		if why, ok := ambiguousTypes[n.Obj().Pkg().Path()+"."+n.Obj().Name()]; ok {
			why.reason = what + ": " + why.reason
			return &why
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch {
		case u.Kind() == types.Invalid:
			return &keyProblem{reason: "the type of " + what + " doesn't compile"}
		case u.Info()&(types.IsString|types.IsBoolean|types.IsInteger) == 0 || u.Kind() == types.Uintptr:
			return &keyProblem{reason: fmt.Sprintf("%s is a %s, which can't be compared reliably", what, gotypes.String(t))}
		}
		return nil
	case *types.Struct:
		for f := range u.Fields() {
			if why := incomparable(f.Type(), what+"."+f.Name(), seen); why != nil {
				return why
			}
		}
		return nil
	case *types.Array:
		return incomparable(u.Elem(), what+"[…]", seen)
	case *types.Pointer:
		return &keyProblem{reason: what + " is a pointer, which is compared by address"}
	case *types.Interface:
		return &keyProblem{reason: what + " is an interface, which may hold incomparable values"}
	}
	return &keyProblem{reason: fmt.Sprintf("%s (%s) can't be compared", what, gotypes.String(t))}
}
