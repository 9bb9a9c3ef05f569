// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/tools/txtar"

	"github.com/informer-gen/informer-gen/generator"
)

// TestWriteIsAcceptedByTheNextRun writes a configuration for each of the generator's goldens, whatever is wrong with their
// packages: nothing is wrong with the configuration. For those that stand for whole projects, the next run generates.
func TestWriteIsAcceptedByTheNextRun(t *testing.T) {
	goldens, err := filepath.Glob("../../testdata/golden/*.txtar")
	if err != nil || len(goldens) == 0 {
		t.Fatalf("no goldens: %v", err)
	}
	projects := regexp.MustCompile(`^(kubebuilder_(project|multigroup|versions)|config_crds|discover|group_version_in_two_packages|one_kind|two_groups|two_versions|unversioned|wildcard_passes_over)$`)
	t.Setenv("GOFLAGS", "-mod=mod")
	t.Setenv("GOWORK", "off")
	ran := 0
	for _, golden := range goldens {
		name := strings.TrimSuffix(filepath.Base(golden), ".txtar")
		dir := layOut(t, golden, name)
		project, err := Look(dir, "2026")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := project.Write(true); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if problems := (generator.Config{Dir: dir}).Check(); len(problems) > 0 && !strings.Contains(problems.Error(), "output") {
			t.Errorf("%s: %v", name, problems)
		}
		if projects.MatchString(name) && !testing.Short() {
			ran++
			if _, err := generator.Generate(t.Context(), generator.Config{Dir: dir}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if ran == 0 && !testing.Short() {
		t.Error("no project was generated for")
	}
}

// layOut writes a golden to a folder, without its configuration and what is expected of it, as a module with the requirements
// of this one.
func layOut(t *testing.T, golden, name string) string {
	t.Helper()
	archive, err := txtar.ParseFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, content string) {
		t.Helper()
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range archive.Files {
		if !strings.HasPrefix(file.Name, "want/") && !strings.HasSuffix(file.Name, "informer-gen.yaml") {
			write(file.Name, string(file.Data))
		}
	}
	ours, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := modfile.Parse("go.mod", ours, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := mod.AddModuleStmt("example.com/" + name); err != nil {
		t.Fatal(err)
	}
	text, err := mod.Format()
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile("../../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	write("go.mod", string(text))
	write("go.sum", string(sum))
	return dir
}
