// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/txtar"

	"github.com/informer-gen/informer-gen/generator/load"
	"github.com/informer-gen/informer-gen/templates"
)

var update = flag.Bool("update", false, "rewrite what the files in testdata/golden expect")

// A golden is a small module, what is expected of it, and above both some lines that say what it is about. Among these
// lines may be
//
//	output: FOLDER      as with --output
//	keep-going          as with --keep-going
//	show: FILE …        base names of generated files to be held against the golden
//
// What is expected stands in want/findings (errors and warnings), want/files (the names of all files) and, for the
// files that are shown, want/NAME. All goldens are modules of one workspace and are loaded together.
type golden struct {
	name, file string
	archive    *txtar.Archive
	dir        string
	output     string
	keepGoing  bool
	show       []string
	target     target
	rendered   []templates.File
}

func TestGolden(t *testing.T) {
	goldens := readGoldens(t)
	workspace := makeWorkspace(t, goldens)
	var patterns []string
	for _, g := range goldens {
		patterns = append(patterns, "./"+g.name+"/...")
	}
	program, err := load.Load(t.Context(), load.Config{
		Dir:      workspace,
		Patterns: patterns,
		Skip: func(dir string) bool {
			return slices.ContainsFunc(goldens, func(g *golden) bool { return g.target.owns(dir) })
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range goldens {
		t.Run(g.name, func(t *testing.T) {
			var roots []*load.Package
			for _, root := range program.Roots {
				if strings.HasPrefix(root.Dir, g.dir+string(filepath.Separator)) {
					roots = append(roots, root)
				}
			}
			g.check(t, program, roots)
		})
	}
	t.Run("the output compiles", func(t *testing.T) { compile(t, workspace, goldens) })
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
			key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			switch key {
			case "output":
				g.output = value
			case "keep-going":
				g.keepGoing = true
			case "show":
				g.show = strings.Fields(value)
			}
		}
		goldens = append(goldens, g)
	}
	return goldens
}

// makeWorkspace writes the goldens to a folder. The modules of a workspace share their requirements, so that those of
// this module serve all goldens.
func makeWorkspace(t *testing.T, goldens []*golden) string {
	t.Helper()
	workspace, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
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
		main, err := findModule(g.dir)
		if err != nil {
			t.Fatal(err)
		}
		if g.target, err = findTarget(g.dir, g.output, main); err != nil {
			t.Fatal(err)
		}
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

// check generates for a golden and compares, or rewrites, what it expects.
func (g *golden) check(t *testing.T, program *load.Program, roots []*load.Package) {
	files, findings, err := render(program, roots, g.target, g.keepGoing)
	g.rendered = files
	text := ""
	if len(findings) > 0 {
		text = filepath.ToSlash(findings.Relative(g.dir).Error()) + "\n"
	}
	if err != nil && !errors.Is(err, errWrong) {
		text += "informer-gen: " + err.Error() + "\n"
	}
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
		if slices.Contains(g.show, path.Base(file.Path)) {
			want = append(want, txtar.File{Name: "want/" + file.Path, Data: file.Content})
		}
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
		t.Errorf("not as expected; go test ./generator -run TestGolden -update rewrites it (-want +got):\n%s", diff)
	}
}

// compile checks the types of everything that was generated, together with what it is generated from, in one go.
func compile(t *testing.T, workspace string, goldens []*golden) {
	var patterns []string
	for _, g := range goldens {
		if len(g.rendered) == 0 {
			continue
		}
		for _, file := range g.rendered {
			writeFile(t, filepath.Join(g.target.dir, filepath.FromSlash(file.Path)), string(file.Content))
		}
		patterns = append(patterns, g.target.importPath+"/...")
	}
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
			packages.NeedDeps | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo,
		Dir: workspace,
		ParseFile: func(fset *token.FileSet, name string, src []byte) (*ast.File, error) {
			file, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
			if file != nil && !strings.HasPrefix(name, workspace) {
				for _, decl := range file.Decls {
					if f, ok := decl.(*ast.FuncDecl); ok {
						f.Body = nil // what is imported compiles
					}
				}
			}
			return file, err
		},
	}, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	if len(loaded) < len(patterns) {
		t.Fatalf("%d packages for %d goldens", len(loaded), len(patterns))
	}
	for _, pkg := range loaded {
		for _, e := range pkg.Errors {
			t.Error(e)
		}
	}
}
