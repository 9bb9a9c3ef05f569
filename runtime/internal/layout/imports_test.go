// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestOnlyThisPackageImportsUnsafe parses the imports of all files of the runtime.
func TestOnlyThisPackageImportsUnsafe(t *testing.T) {
	found := 0
	err := filepath.WalkDir("../..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, imported := range file.Imports {
			if imported.Path.Value != `"unsafe"` {
				continue
			}
			if found++; path != filepath.Join("../..", "internal", "layout", "unsafe.go") {
				t.Errorf("%s imports unsafe; use package layout", path)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found == 0 {
		t.Error("the test has not found unsafe.go")
	}
}
