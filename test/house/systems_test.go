// SPDX-License-Identifier: Apache-2.0

package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestOtherSystems checks the types of what may differ by system: of the root module on Windows,
// and of packages that have files for some systems. All is read from source, so that no library is
// compiled for another system, and of libraries only what they declare.
func TestOtherSystems(t *testing.T) {
	own, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, on := range []struct{ system, dir, pattern string }{
		{"windows", ".", "./..."},
		{"windows", "bench", "./probe"},
		{"windows", "bench/generator", "."},
		{"darwin", "bench", "./probe"},
		{"darwin", "bench/generator", "."},
	} {
		t.Run(on.system+"/"+on.dir, func(t *testing.T) {
			loaded, err := packages.Load(&packages.Config{
				Mode: packages.NeedName | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
					packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax,
				Dir: filepath.Join(root, on.dir), Env: append(os.Environ(), "GOOS="+on.system, "CGO_ENABLED=0"),
				ParseFile: func(fset *token.FileSet, name string, src []byte) (*ast.File, error) {
					file, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
					if file != nil && !strings.HasPrefix(name, own+string(filepath.Separator)) {
						dropBodies(file)
					}
					return file, err
				},
			}, on.pattern)
			if err != nil {
				t.Fatal(err)
			}
			packages.Visit(loaded, nil, func(p *packages.Package) {
				if !strings.HasPrefix(p.PkgPath, module) {
					return // without bodies, imports are not used
				}
				for _, err := range p.Errors {
					t.Error(err)
				}
			})
		})
	}
}

func dropBodies(file *ast.File) {
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok {
			f.Body = nil
		}
	}
}
