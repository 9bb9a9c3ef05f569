// SPDX-License-Identifier: Apache-2.0

package house

import (
	"os"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestOtherSystems checks the types of what may differ by system: of the root module on Windows,
// and of packages that have files for some systems. All is read from source, so that no library is
// compiled for another system.
func TestOtherSystems(t *testing.T) {
	bySystem := []string{"./bench/probe", "./bench/generator"}
	for system, patterns := range map[string][]string{
		"windows": append([]string{"./..."}, bySystem...),
		"darwin":  bySystem,
	} {
		t.Run(system, func(t *testing.T) {
			loaded, err := packages.Load(&packages.Config{
				Mode: packages.NeedName | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
					packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax,
				Dir: root, Env: append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0"),
			}, patterns...)
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
