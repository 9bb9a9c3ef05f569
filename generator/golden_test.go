// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/load"
	"github.com/informer-gen/informer-gen/internal/generator/model"
	"github.com/informer-gen/informer-gen/internal/projecttest"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata/golden")

// A golden is a small module with its expected results, below a few lines that describe it. Among
// these lines may be flags, written as on the command line but without dashes, with the value after
// a colon and a blank, and several values separated by commas,
//
//	patterns: ./api/..., k8s.io/api/core/v1
//	output: FOLDER
//	keep-going
//
// and directives:
//
//	show: FILE …        base names or paths of generated files to compare
//	alone               load the golden separately, because its patterns are wrong
//
// A configuration file is read as in any module. Expectations are in want/findings (errors and
// warnings), want/files (the names of all files), want/NAME (the files to show) and want/lines (the
// matching lines). All goldens are modules of one workspace; those with the same build tags are
// loaded together.
type golden struct {
	name, file string
	archive    *txtar.Archive
	dir        string
	config     Config
	show       []string
	lines      *regexp.Regexp
	alone      bool
	settings   settings
	wrong      diag.List // of the configuration file or the flags
	rendered   []model.File
}

func TestGolden(t *testing.T) {
	goldens := readGoldens(t)
	workspace := makeWorkspace(t, goldens)
	groups := map[string][]*golden{}
	for _, g := range goldens {
		group := strings.Join(g.settings.loading.Tags, ",")
		if g.alone {
			group = "alone: " + g.name
		}
		groups[group] = append(groups[group], g)
	}
	for _, group := range groups {
		loadGoldens(t, workspace, group)
	}
	t.Run("the output compiles", func(t *testing.T) {
		for _, group := range groups {
			compile(t, workspace, group)
		}
	})
}

// loadGoldens loads and checks goldens with the same build tags.
func loadGoldens(t *testing.T, workspace string, goldens []*golden) {
	loading := load.Config{Dir: workspace, Tags: goldens[0].settings.loading.Tags}
	loading.Skip = func(dir string) bool {
		return slices.ContainsFunc(goldens, func(g *golden) bool { return g.settings.target.dir != "" && g.settings.target.owns(dir) })
	}
	for _, g := range goldens {
		if errs, _ := g.wrong.Split(); len(errs) == 0 {
			loading.Patterns = append(loading.Patterns, g.patterns(workspace)...)
		}
	}
	if len(loading.Patterns) == 0 { // their settings are wrong
		loading.Patterns = []string{"fmt"}
	}
	program, err := load.Load(t.Context(), loading)
	if err != nil {
		if g := goldens[0]; g.alone && errors.As(err, &g.wrong) {
			g.wrong = g.settings.locate(g.wrong).Sorted()
			program = &load.Program{}
		} else {
			t.Fatal(err)
		}
	}
	for _, g := range goldens {
		t.Run(g.name, func(t *testing.T) {
			g.check(t, program, g.roots(workspace, program))
		})
	}
}

// patterns returns the golden's patterns relative to the workspace.
func (g *golden) patterns(workspace string) []string {
	var patterns []string
	for _, pattern := range g.settings.loading.Patterns {
		if strings.HasPrefix(pattern, ".") {
			rel, err := filepath.Rel(workspace, filepath.Join(g.settings.loading.Dir, pattern))
			if err != nil {
				panic(err)
			}
			pattern = "./" + filepath.ToSlash(rel)
		}
		patterns = append(patterns, pattern)
	}
	return patterns
}

// roots returns the program's packages that match the golden's patterns.
func (g *golden) roots(workspace string, program *load.Program) []*load.Package {
	var roots []*load.Package
	for _, root := range program.Roots {
		if g.reads(workspace, root) {
			roots = append(roots, root)
		}
	}
	return roots
}

// reads reports whether one of the golden's patterns matches the package.
func (g *golden) reads(workspace string, pkg *load.Package) bool {
	return slices.ContainsFunc(g.patterns(workspace), func(pattern string) bool {
		name := pkg.Path
		if strings.HasPrefix(pattern, "./") {
			rel, err := filepath.Rel(workspace, pkg.Dir)
			if err != nil {
				return false
			}
			name = "./" + filepath.ToSlash(rel)
		}
		if prefix, ok := strings.CutSuffix(pattern, "..."); ok {
			return name == strings.TrimSuffix(prefix, "/") || strings.HasPrefix(name, prefix)
		}
		return name == pattern
	})
}

func readGoldens(t *testing.T) []*golden {
	t.Helper()
	files, err := filepath.Glob("../testdata/golden/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no goldens: %v", err)
	}
	var goldens []*golden
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		g := &golden{name: strings.TrimSuffix(filepath.Base(file), ".txtar"), file: file, archive: archive}
		for line := range strings.Lines(string(archive.Comment)) {
			g.flag(strings.TrimSpace(line))
		}
		goldens = append(goldens, g)
	}
	return goldens
}

// flag reads a line of a golden, if it is a flag.
func (g *golden) flag(line string) {
	key, value, _ := strings.Cut(line, ": ")
	values := strings.Split(strings.ReplaceAll(value, " ", ""), ",")
	cfg := &g.config
	switch key {
	case "patterns":
		cfg.Patterns = values
	case "config":
		cfg.File = value
	case "output":
		cfg.Output = value
	case "layout":
		cfg.Layout = Layout(value)
	case "header":
		cfg.Header = value
	case "header-year":
		cfg.HeaderYear = value
	case "tags":
		cfg.Tags = values
	case "crds":
		cfg.CRDs = values
	case "plural":
		cfg.Plurals = map[string]string{}
		for _, pair := range values {
			kind, plural, _ := strings.Cut(pair, "=")
			cfg.Plurals[kind] = plural
		}
	case "discover", "discover=false":
		cfg.Discover = new(key == "discover")
	case "controllers", "controllers=false":
		cfg.Controllers = new(key == "controllers")
	case "apply-configurations", "apply-configurations=false":
		cfg.ApplyConfigurations = new(key == "apply-configurations")
	case "keep-going", "keep-going=false":
		cfg.KeepGoing = new(key == "keep-going")
	case "alone":
		g.alone = true
	case "show":
		g.show = strings.Fields(value)
	case "lines":
		g.lines = regexp.MustCompile(value)
	}
}

// makeWorkspace writes the goldens to a folder. Modules of a workspace share their requirements, so
// those of this module serve all goldens.
func makeWorkspace(t *testing.T, goldens []*golden) string {
	t.Helper()
	projecttest.Download(t, "k8s.io/api/core/v1") // its markers differ between versions
	workspace, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	workspace = filepath.Join(workspace, "some where") // as users have it
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	work := fmt.Sprintf("go 1.26.0\n\nuse %q\n", root)
	for _, g := range goldens {
		g.dir = filepath.Join(workspace, g.name)
		writeFile(t, filepath.Join(g.dir, "go.mod"), fmt.Sprintf("module example.com/%s\n\ngo 1.26.0\n", g.name))
		for _, file := range g.archive.Files {
			if !strings.HasPrefix(file.Name, "want/") {
				writeFile(t, filepath.Join(g.dir, file.Name), string(file.Data))
			}
		}
		g.config.Dir = g.dir
		g.settings, g.wrong = g.config.settings()
		work += "use ./" + g.name + "\n"
	}
	writeFile(t, filepath.Join(workspace, "go.work"), work)
	t.Setenv("GOWORK", filepath.Join(workspace, "go.work"))
	t.Setenv("GOFLAGS", "")
	return workspace
}

func writeFile(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// generate is Generate for some packages of a workspace.
func (g *golden) generate(t *testing.T, program *load.Program, roots []*load.Package) ([]model.File, diag.List, error) {
	result, err := g.settings.resolve(t.Context(), program, roots)
	if err != nil {
		t.Fatal(err)
	}
	files, err := g.settings.render(result, roots)
	return files, result.Findings, err
}

// check generates for a golden and compares or rewrites its expectations.
func (g *golden) check(t *testing.T, program *load.Program, roots []*load.Package) {
	var files []model.File
	findings, err := g.wrong, errWrong
	if errs, _ := g.wrong.Split(); len(errs) == 0 {
		files, findings, err = g.generate(t, program, roots)
		findings = append(g.wrong, findings...).Sorted()
	}
	g.rendered = files
	text := ""
	if len(findings) > 0 {
		text = filepath.ToSlash(findings.Relative(g.dir).Error()) + "\n"
	}
	if err != nil && !errors.Is(err, errWrong) {
		text += "informer-gen: " + err.Error() + "\n"
	}
	text = strings.ReplaceAll(text, filepath.ToSlash(g.dir)+"/", "")
	var want []txtar.File
	if text != "" {
		want = append(want, txtar.File{Name: "want/findings", Data: []byte(text)})
	}
	var names strings.Builder
	for _, file := range files {
		names.WriteString(file.Path + "\n")
	}
	if len(files) > 0 {
		want = append(want, txtar.File{Name: "want/files", Data: []byte(names.String())})
	}
	for _, file := range files {
		if slices.Contains(g.show, path.Base(file.Path)) || slices.Contains(g.show, file.Path) {
			want = append(want, txtar.File{Name: "want/" + file.Path, Data: file.Content})
		}
	}
	var lines strings.Builder
	for _, file := range files {
		for line := range strings.Lines(string(file.Content)) {
			if line = strings.TrimSpace(line); g.lines != nil && g.lines.MatchString(line) {
				lines.WriteString(file.Path + ": " + line + "\n")
			}
		}
	}
	if lines.Len() > 0 {
		want = append(want, txtar.File{Name: "want/lines", Data: []byte(lines.String())})
	}
	result := &txtar.Archive{Comment: g.archive.Comment}
	for _, file := range g.archive.Files {
		if !strings.HasPrefix(file.Name, "want/") {
			result.Files = append(result.Files, file)
		}
	}
	result.Files = append(result.Files, want...)
	if *update {
		if err := os.WriteFile(g.file, txtar.Format(result), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(txtar.Format(g.archive)), string(txtar.Format(result))); diff != "" {
		t.Errorf("unexpected result; go test ./generator -run TestGolden -update rewrites the golden (-want +got):\n%s", diff)
	}
}

// compile type-checks all generated code and its API packages in one go.
func compile(t *testing.T, workspace string, goldens []*golden) {
	var patterns []string
	for _, g := range goldens {
		if len(g.rendered) == 0 {
			continue
		}
		for _, file := range g.rendered {
			writeFile(t, filepath.Join(g.settings.target.dir, filepath.FromSlash(file.Path)), string(file.Content))
		}
		patterns = append(patterns, g.settings.target.importPath+"/...")
	}
	if len(patterns) == 0 {
		return
	}
	if n := projecttest.Check(t, workspace, buildFlags(goldens[0].settings.loading.Tags), patterns...); n < len(patterns) {
		t.Fatalf("%d packages for %d goldens", n, len(patterns))
	}
}

func buildFlags(tags []string) []string {
	return []string{"-tags=" + strings.Join(tags, ",")}
}
