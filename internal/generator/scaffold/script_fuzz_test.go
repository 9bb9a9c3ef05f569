// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzReadScript: whatever a script says, the header is a file of the project, and plurals are
// names.
func FuzzReadScript(f *testing.F) {
	for _, text := range []string{
		"", "--go-header-file hack/header.txt", `--boilerplate="${ROOT}/hack/header.txt" \` + "\n  --plural-exceptions=Foo:Foos,bar:Bars, X:Xes", "--go-header-file ../outside.txt",
		"--boilerplate $(dirname \"$0\")/../outside.txt", "--boilerplate /etc/passwd", "--boilerplate ''", "--plural-exceptions '::,Foo:,:Foos,Foo:F;rm -rf /'", "--boilerplate hack/..//../outside.txt",
	} {
		f.Add([]byte(text))
	}
	root := f.TempDir()
	dir := filepath.Join(root, "project")
	if err := os.MkdirAll(filepath.Join(dir, "hack"), 0o700); err != nil {
		f.Fatal(err)
	}
	for _, name := range []string{filepath.Join(dir, "hack", "header.txt"), filepath.Join(root, "outside.txt")} {
		if err := os.WriteFile(name, []byte("// x\n"), 0o600); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p := &Project{Dir: dir, Script: "hack/codegen.sh"}
		if err := os.WriteFile(filepath.Join(dir, "hack", "codegen.sh"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := p.readScript(); err != nil {
			t.Fatal(err)
		}
		if p.Header != "" && p.Header != "hack/header.txt" && p.Header != "hack/codegen.sh" {
			t.Errorf("the header is %q", p.Header)
		}
		for kind, plural := range p.Plurals {
			if !isName.MatchString(kind) || !isName.MatchString(plural) {
				t.Errorf("the plural of %q is %q", kind, plural)
			}
		}
	})
}
