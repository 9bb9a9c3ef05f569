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

// TestUnsafeIsHereOnly reads the imports of all files of the runtime.
func TestUnsafeIsHereOnly(t *testing.T) {
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
				t.Errorf("%s imports unsafe", path)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found == 0 {
		t.Error("unsafe.go is not found")
	}
}
