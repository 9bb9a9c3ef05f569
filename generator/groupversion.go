// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strconv"
	"strings"
)

// registered is the schema.GroupVersion that an API package declares for its scheme.
type registered struct {
	name           string // of the variable
	group, version named  // a position that isn't valid: unknown
}

// registered looks for the variables SchemeGroupVersion and GroupVersion of a package. Values that
// aren't constants of the package or of one that it imports are unknown.
func (r *resolver) registered(a *api) registered {
	var found registered
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
					if lit, ok := spec.Values[i].(*ast.CompositeLit); ok && isGroupVersion(lit.Type) {
						found = r.sameRegistered(found, r.groupVersionLiteral(a, file, id.Name, lit))
					}
				}
			}
		}
	}
	return found
}

// isGroupVersion reports whether a type is called like that of apimachinery, of which there is one
// in schema and one in metav1.
func isGroupVersion(t ast.Expr) bool {
	selector, ok := t.(*ast.SelectorExpr)
	return ok && selector.Sel.Name == "GroupVersion"
}

// sameRegistered joins what two variables say.
func (r *resolver) sameRegistered(first, second registered) registered {
	if first.name == "" {
		return second
	}
	for _, both := range []struct {
		what          string
		first, second *named
	}{{"group", &first.group, &second.group}, {"version", &first.version, &second.version}} {
		switch {
		case !both.first.pos.IsValid():
			*both.first = *both.second
		case both.second.pos.IsValid() && both.first.text != both.second.text:
			r.failAt(both.second.pos, fmt.Sprintf("%s %q of %s contradicts %q of %s at %s",
				both.what, both.second.text, second.name, both.first.text, first.name, r.short(both.first.pos)))
		}
	}
	return first
}

func (r *resolver) groupVersionLiteral(a *api, file *ast.File, name string, lit *ast.CompositeLit) registered {
	found := registered{name: name}
	for i, element := range lit.Elts {
		field, value := []string{"Group", "Version"}[min(i, 1)], element
		if kv, ok := element.(*ast.KeyValueExpr); ok {
			key, ok := kv.Key.(*ast.Ident)
			if !ok {
				continue
			}
			field, value = key.Name, kv.Value
		}
		text, ok := r.stringValue(a, file, value)
		if !ok {
			continue
		}
		what := named{text, r.fset.Position(value.Pos()), "variable " + name}
		switch field {
		case "Group":
			found.group = what
		case "Version":
			found.version = what
		}
	}
	return found
}

// stringValue returns the value of an expression made of literals, constants of the package and of
// those that it imports.
func (r *resolver) stringValue(a *api, file *ast.File, expr ast.Expr) (string, bool) {
	var constantOf types.Object
	switch expr := expr.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(expr.Value)
		return text, err == nil && expr.Kind == token.STRING
	case *ast.ParenExpr:
		return r.stringValue(a, file, expr.X)
	case *ast.BinaryExpr:
		left, leftOK := r.stringValue(a, file, expr.X)
		right, rightOK := r.stringValue(a, file, expr.Y)
		return left + right, leftOK && rightOK && expr.Op == token.ADD
	case *ast.Ident:
		constantOf = a.pkg.Types.Scope().Lookup(expr.Name)
	case *ast.SelectorExpr:
		if id, ok := expr.X.(*ast.Ident); ok {
			if pkg := r.imported(a, file, id.Name); pkg != nil {
				constantOf = pkg.Scope().Lookup(expr.Sel.Name)
			}
		}
	}
	if c, ok := constantOf.(*types.Const); ok && c.Val().Kind() == constant.String {
		return constant.StringVal(c.Val()), true
	}
	return "", false
}

// imported returns the package that file calls by a name, or nil.
func (r *resolver) imported(a *api, file *ast.File, name string) *types.Package {
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		switch {
		case err != nil, spec.Name != nil && spec.Name.Name != name:
			continue
		case spec.Name == nil && !strings.Contains(path, name):
			continue // a package is called like a part of its path, and looking at one costs time
		}
		if pkg := r.program.Dependency(a.pkg, path); pkg != nil && (spec.Name != nil || pkg.Name() == name) {
			return pkg
		}
	}
	return nil
}
