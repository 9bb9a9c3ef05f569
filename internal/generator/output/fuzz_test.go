// SPDX-License-Identifier: Apache-2.0

package output

import (
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/informer-gen/informer-gen/internal/generator/model"
)

// FuzzHeaderOf checks that handwritten files are never ours: our files have our line as a comment
// of its own before the package clause, as go/parser sees it.
func FuzzHeaderOf(f *testing.F) {
	for _, text := range []string{
		"", model.HeaderLine, model.HeaderLine + "\n\npackage p\n", "package p\n" + model.HeaderLine, "/*\n" + model.HeaderLine + "\n*/\npackage p\n",
		"// x\r\n" + model.HeaderLine + "\r\n" + model.SourcePrefix + "a/b\r\npackage p", "\ufeff" + model.HeaderLine + "\npackage p", "package /*" + model.HeaderLine + "*/ p",
		"x\n" + model.HeaderLine, "/**/" + model.HeaderLine + "x\npackage p", model.SourcePrefix + "a\n" + model.HeaderLine + "\npackage p",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		source, ours := headerOf(content)
		if source != "" && !ours {
			t.Errorf("headerOf returned the source %q of a file that isn't ours", source)
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, "x.go", content, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			return // not a Go file, so not ours
		}
		want := false
		for _, group := range file.Comments {
			for _, comment := range group.List {
				want = want || comment.Pos() < file.Package && strings.TrimSuffix(comment.Text, "\r") == model.HeaderLine
			}
		}
		if ours != want {
			t.Errorf("ours: %v, want %v; the lines are %q", ours, want, slices.Collect(strings.Lines(string(content))))
		}
	})
}
