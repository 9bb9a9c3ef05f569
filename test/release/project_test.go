// SPDX-License-Identifier: Apache-2.0

package release

import (
	"os"
	"path/filepath"
	"testing"
)

// project is a user's module, which gets our modules from the proxy.
type project struct {
	t   *testing.T
	dir string
	release
}

// newProject returns a project with a copy of the files in a folder of testdata, or with none.
func newProject(t *testing.T, folder string) project {
	t.Helper()
	p := project{t, t.TempDir(), published(t)}
	if folder != "" {
		p.copy(folder, ".")
	}
	return p
}

// copy copies the files in a folder of testdata into a folder of the project.
func (p project) copy(from, to string) {
	p.t.Helper()
	if err := os.CopyFS(filepath.Join(p.dir, to), os.DirFS(filepath.Join("testdata", from))); err != nil {
		p.t.Fatal(err)
	}
}

// run runs a command in the project's folder and returns its output. An error ends the test.
func (p project) run(name string, args ...string) string {
	p.t.Helper()
	out, err := command(p.dir, p.env, name, args...)
	if err != nil {
		p.t.Fatal(err)
	}
	return out
}

// write writes a file of the project.
func (p project) write(name, content string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(content), 0o666); err != nil {
		p.t.Fatal(err)
	}
}

// checkPackages checks that all imports of the packages that match patterns resolve.
func (p project) checkPackages(patterns ...string) {
	p.t.Helper()
	list := []string{"list", "-deps"}
	if *compile {
		list = append(list, "-export") // compiles as go build does, but links no programs
	}
	p.run("go", append(list, patterns...)...)
}

// requirements returns the versions of the modules required by the project's go.mod.
func (p project) requirements() map[string]string {
	p.t.Helper()
	mod, err := parseMod(p.dir)
	if err != nil {
		p.t.Fatal(err)
	}
	versions := map[string]string{}
	for _, r := range mod.Require {
		versions[r.Mod.Path] = r.Mod.Version
	}
	return versions
}

// checkKept compares the project's requirements with its requirements before. The go line may rise.
func (p project) checkKept(before map[string]string) {
	p.t.Helper()
	for module, after := range p.requirements() {
		if old := before[module]; old != "" && old != after {
			p.t.Errorf("the project now requires %s %s, want %s as before", module, after, old)
		}
	}
}
