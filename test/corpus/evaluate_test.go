// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"

	"golang.org/x/tools/go/packages"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// evaluate returns the value of an expression of pkg: a group, version and resource, or only a part
// of them.
func (p *program) evaluate(pkg *packages.Package, expr ast.Expr) (schema.GroupVersionResource, error) {
	none := schema.GroupVersionResource{}
	text := func(expr ast.Expr) (string, error) {
		if value := pkg.TypesInfo.Types[expr].Value; value != nil && value.Kind() == constant.String {
			return constant.StringVal(value), nil
		}
		return "", fmt.Errorf("%s is not a constant", types.ExprString(expr))
	}
	switch expr := expr.(type) {
	case *ast.CompositeLit:
		var gvr schema.GroupVersionResource
		into := map[string]*string{"Group": &gvr.Group, "Version": &gvr.Version, "Resource": &gvr.Resource}
		for _, element := range expr.Elts {
			pair, ok := element.(*ast.KeyValueExpr)
			if !ok {
				return none, fmt.Errorf("%s has no keys", types.ExprString(expr))
			}
			field := into[types.ExprString(pair.Key)]
			if field == nil {
				return none, fmt.Errorf("%s has another key", types.ExprString(expr))
			}
			value, err := text(pair.Value)
			if err != nil {
				return none, err
			}
			*field = value
		}
		return gvr, nil
	case *ast.CallExpr:
		selector, ok := expr.Fun.(*ast.SelectorExpr)
		if ok && len(expr.Args) == 0 {
			return p.returned(pkg.TypesInfo.Uses[selector.Sel])
		}
		if !ok || selector.Sel.Name != "WithResource" || len(expr.Args) != 1 {
			return none, fmt.Errorf("%s is not a call of WithResource", types.ExprString(expr))
		}
		gvr, err := p.evaluate(pkg, selector.X)
		if err != nil {
			return none, err
		}
		gvr.Resource, err = text(expr.Args[0])
		return gvr, err
	case *ast.SelectorExpr:
		return p.variable(pkg.TypesInfo.Uses[expr.Sel])
	case *ast.Ident:
		return p.variable(pkg.TypesInfo.Uses[expr])
	}
	return none, fmt.Errorf("%s has no known form", types.ExprString(expr))
}

// variable evaluates the initial value of a variable.
func (p *program) variable(object types.Object) (schema.GroupVersionResource, error) {
	if object == nil || object.Pkg() == nil {
		return schema.GroupVersionResource{}, errors.New("it is no variable of a package")
	}
	pkg := p.packages[object.Pkg().Path()]
	for _, file := range pkg.Syntax {
		for _, decl := range file.Decls {
			general, ok := decl.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range general.Specs {
				spec, ok := spec.(*ast.ValueSpec)
				if !ok {
					continue
				}
				for i, name := range spec.Names {
					if pkg.TypesInfo.Defs[name] == object && i < len(spec.Values) {
						return p.evaluate(pkg, spec.Values[i])
					}
				}
			}
		}
	}
	return schema.GroupVersionResource{}, fmt.Errorf("%s.%s has no initial value", pkg.PkgPath, object.Name())
}

// returned evaluates the result of a function whose only statement is a return.
func (p *program) returned(object types.Object) (schema.GroupVersionResource, error) {
	if object == nil || object.Pkg() == nil {
		return schema.GroupVersionResource{}, errors.New("it is no function of a package")
	}
	pkg := p.packages[object.Pkg().Path()]
	for _, file := range pkg.Syntax {
		for _, decl := range file.Decls {
			function, ok := decl.(*ast.FuncDecl)
			if !ok || pkg.TypesInfo.Defs[function.Name] != object || len(function.Body.List) != 1 {
				continue
			}
			if result, ok := function.Body.List[0].(*ast.ReturnStmt); ok && len(result.Results) == 1 {
				return p.evaluate(pkg, result.Results[0])
			}
		}
	}
	return schema.GroupVersionResource{}, fmt.Errorf("%s.%s doesn't only return a value", pkg.PkgPath, object.Name())
}
