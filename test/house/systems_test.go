// SPDX-License-Identifier: Apache-2.0

package house

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestOtherSystems checks the types of what may differ by system: of the root module on Windows,
// and of packages that have files for some systems. All is read from source, so that no library is
// compiled for another system.
func TestOtherSystems(t *testing.T) {
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
			}, on.pattern)
			if err != nil {
				t.Fatal(err)
			}
			packages.Visit(loaded, nil, func(p *packages.Package) {
				for _, err := range p.Errors {
					t.Error(err)
				}
			})
		})
	}
}
