// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"path"

	"github.com/dave/jennifer/jen"

	"github.com/informer-gen/informer-gen/internal/generator/model"
)

const (
	informerPath   = "github.com/informer-gen/informer-gen/runtime/informer"
	controllerPath = "github.com/informer-gen/informer-gen/runtime/controller"
	factoriesPath  = "github.com/informer-gen/informer-gen/runtime/informer/factories"
	listerPath     = "github.com/informer-gen/informer-gen/runtime/lister"
	objectPath     = "github.com/informer-gen/informer-gen/runtime/object"
	sourcePath     = "github.com/informer-gen/informer-gen/runtime/source"
	storePath      = "github.com/informer-gen/informer-gen/runtime/store"
	runtimePath    = "k8s.io/apimachinery/pkg/runtime"
	schemaPath     = "k8s.io/apimachinery/pkg/runtime/schema"
)

func inline(items ...jen.Code) *jen.Statement {
	return jen.Custom(jen.Options{Open: "{", Close: "}", Separator: ", "}, items...)
}

// oneLine returns the body of a function on the function's line.
func oneLine(statement jen.Code) *jen.Statement {
	return jen.Custom(jen.Options{Open: "{", Close: "}", Separator: ";"}, statement)
}

func structOf(field jen.Code) *jen.Statement {
	return jen.Id("struct").Custom(jen.Options{Open: "{", Close: "}"}, field)
}

// method returns a method of one statement. Its receiver is a pointer, since Go compiles a second
// function for each method of a value.
func method(receiver, on, name string, params []jen.Code, result, body jen.Code) *jen.Statement {
	return valueMethod(receiver, "*"+on, name, params, result, body)
}

func valueMethod(receiver, on, name string, params []jen.Code, result, body jen.Code) *jen.Statement {
	return jen.Func().Params(jen.Id(receiver).Id(on)).Id(name).Params(params...).Add(result).Block(jen.Return(body))
}

func newOf(of string, field jen.Code) *jen.Statement {
	return jen.Op("&").Id(of).Values(field)
}

func (f *file) object(k *kind) *jen.Statement {
	if k.Projection != nil {
		return jen.Op("*").Add(f.from(k.projections, "projections", k.Name))
	}
	return jen.Op("*").Add(f.qual(k.Source.Path, k.Source.Name, k.Name))
}

// instantiated returns a generic runtime type instantiated with k's pointer type.
func (f *file) instantiated(importPath, name string, k *kind) *jen.Statement {
	return f.qual(importPath, path.Base(importPath), name).Types(f.object(k))
}

func (f *file) seq(k *kind) *jen.Statement { return f.instantiated("iter", "Seq", k) }

func (f *file) goType(k *kind, t model.GoType) *jen.Statement {
	switch {
	case t.Path == "":
		return jen.Id(t.Name)
	case t.Path == k.Source.Path:
		return f.qual(t.Path, k.Source.Name, t.Name)
	default:
		return f.qual(t.Path, t.Package, t.Name)
	}
}
