// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strconv"
)

// registered is the schema.GroupVersion that an API package declares for its scheme.
type registered struct {
	name           string // of the variable
	group, version named  // a position that isn't valid: unknown
}

// registered looks for the variable SchemeGroupVersion or GroupVersion of a package. Values that aren't literals or
// constants of the package are unknown.
func (r *resolver) registered(a *api) registered {
	for _, file := range a.pkg.Files {
		for _, decl := range file.Decls {
			decl, ok := decl.(*ast.GenDecl)
			if !ok || decl.Tok != token.VAR {
				continue
			}
			for _, spec := range decl.Specs {
				spec := spec.(*ast.ValueSpec)
				for i, id := range spec.Names {
					if (id.Name != "SchemeGroupVersion" && id.Name != "GroupVersion") || i >= len(spec.Values) {
						continue
					}
					if lit, ok := spec.Values[i].(*ast.CompositeLit); ok {
						return r.groupVersionLiteral(a, id.Name, lit)
					}
				}
			}
		}
	}
	return registered{}
}

func (r *resolver) groupVersionLiteral(a *api, name string, lit *ast.CompositeLit) registered {
	found := registered{name: name}
	for _, element := range lit.Elts {
		kv, ok := element.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		key, ok := kv.Key.(*ast.Ident)
		if !ok {
			continue
		}
		text, ok := stringValue(a.pkg.Types, kv.Value)
		if !ok {
			continue
		}
		value := named{text, r.fset.Position(kv.Value.Pos())}
		switch key.Name {
		case "Group":
			found.group = value
		case "Version":
			found.version = value
		}
	}
	return found
}

// stringValue returns the value of a literal or of a constant of pkg.
func stringValue(pkg *types.Package, expr ast.Expr) (string, bool) {
	switch expr := expr.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(expr.Value)
		return text, err == nil
	case *ast.Ident:
		if c, ok := pkg.Scope().Lookup(expr.Name).(*types.Const); ok && c.Val().Kind() == constant.String {
			return constant.StringVal(c.Val()), true
		}
	}
	return "", false
}
