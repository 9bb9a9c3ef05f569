// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"github.com/informer-gen/informer-gen/internal/generator/load"
	"github.com/informer-gen/informer-gen/internal/generator/report"
)

// registered is the schema.GroupVersion that an API package declares for its scheme.
type registered struct {
	name           string // of the variable
	group, version Fact   // unknown if the position isn't valid
}

// registeredIn looks for the variables SchemeGroupVersion and GroupVersion of a package. It knows
// only values made of constants from the package and its direct imports.
func registeredIn(r *report.Report, program *load.Program, a *api) registered {
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
						found = mergeRegistered(r, found, groupVersionLiteral(r, constants{program, a, file}, id.Name, lit))
					}
				}
			}
		}
	}
	return found
}

func isGroupVersion(t ast.Expr) bool {
	selector, ok := t.(*ast.SelectorExpr)
	return ok && selector.Sel.Name == "GroupVersion"
}

func mergeRegistered(r *report.Report, first, second registered) registered {
	if first.name == "" {
		return second
	}
	for _, both := range []struct {
		what          string
		first, second *Fact
	}{{"group", &first.group, &second.group}, {"version", &first.version, &second.version}} {
		switch {
		case !both.first.Pos.IsValid():
			*both.first = *both.second
		case both.second.Pos.IsValid() && both.first.Text != both.second.Text:
			r.FailAt(both.second.Pos, fmt.Sprintf("%s %q of %s contradicts %q of %s at %s",
				both.what, both.second.Text, second.name, both.first.Text, first.name, r.Short(both.first.Pos)))
		}
	}
	return first
}

func groupVersionLiteral(r *report.Report, in constants, name string, lit *ast.CompositeLit) registered {
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
		text, ok := in.value(value)
		if !ok {
			continue
		}
		what := Fact{text, "variable " + name, r.Position(value.Pos())}
		switch field {
		case "Group":
			found.group = what
		case "Version":
			found.version = what
		}
	}
	return found
}

type constants struct {
	program *load.Program
	api     *api
	file    *ast.File
}

func (c constants) value(expr ast.Expr) (string, bool) {
	var constantOf types.Object
	switch expr := expr.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(expr.Value)
		return text, err == nil && expr.Kind == token.STRING
	case *ast.ParenExpr:
		return c.value(expr.X)
	case *ast.BinaryExpr:
		left, leftOK := c.value(expr.X)
		right, rightOK := c.value(expr.Y)
		return left + right, leftOK && rightOK && expr.Op == token.ADD
	case *ast.Ident:
		constantOf = c.api.pkg.Types.Scope().Lookup(expr.Name)
	case *ast.SelectorExpr:
		if id, ok := expr.X.(*ast.Ident); ok {
			if pkg := c.imported(id.Name); pkg != nil {
				constantOf = pkg.Scope().Lookup(expr.Sel.Name)
			}
		}
	}
	if of, ok := constantOf.(*types.Const); ok && of.Val().Kind() == constant.String {
		return constant.StringVal(of.Val()), true
	}
	return "", false
}

func (c constants) imported(name string) *types.Package {
	for _, spec := range c.file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		switch {
		case err != nil, spec.Name != nil && spec.Name.Name != name:
			continue
		case spec.Name == nil && !strings.Contains(path, name):
			continue // packages are named after a part of their paths; looking at one costs time
		}
		if pkg := c.program.Dependency(c.api.pkg, path); pkg != nil && (spec.Name != nil || pkg.Name() == name) {
			return pkg
		}
	}
	return nil
}
