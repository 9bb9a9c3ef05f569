// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"bytes"
	"flag"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/informer-gen/informer-gen/internal/generator/model"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// goldens are the models with an archive in testdata.
var goldens = map[string]func() *model.Output{
	"sample":      sample,
	"core":        core,
	"walks":       walks,
	"forms":       forms,
	"single":      single,
	"header":      header,
	"deprecated":  deprecated,
	"expansions":  expansions,
	"names":       names,
	"controllers": controllers,
	"projections": projections,
	"oneFolder":   projectionsSingle,
	"apply":       configurations,
	"applySingle": configurationsSingle,
	"empty":       func() *model.Output { return &model.Output{ImportPath: "example.com/project/generated"} },
}

func TestGoldensAreRendered(t *testing.T) {
	for name, build := range goldens {
		t.Run(name, func(t *testing.T) {
			files, err := Render(build())
			if err != nil {
				t.Fatal(err)
			}
			got := &txtar.Archive{}
			for _, f := range files {
				if formatted, err := format.Source(f.Content); err != nil || !bytes.Equal(formatted, f.Content) {
					t.Errorf("gofmt changes %s (%v)", f.Path, err)
				}
				got.Files = append(got.Files, txtar.File{Name: f.Path, Data: f.Content})
			}
			golden := filepath.Join("testdata", name+".txtar")
			if *update {
				if err := os.WriteFile(golden, txtar.Format(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			data, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(data), string(txtar.Format(got))); diff != "" {
				t.Errorf("the text differs from %s (rewrite it with -update), -want +got:\n%s", golden, diff)
			}
		})
	}
}

// eachFile calls check with each file of each golden.
func eachFile(t *testing.T, check func(golden string, f model.File)) {
	t.Helper()
	for name, build := range goldens {
		files, err := Render(build())
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			check(name, f)
		}
	}
}

// contents returns the texts of a model's files, by path.
func contents(t *testing.T, out *model.Output) map[string]string {
	t.Helper()
	files, err := Render(out)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, f := range files {
		texts[f.Path] = string(f.Content)
	}
	return texts
}

func TestRenderIsDeterministic(t *testing.T) {
	first, err := Render(names())
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		again, err := Render(names())
		if err != nil {
			t.Fatal(err)
		}
		same := func(a, b model.File) bool {
			return a.Path == b.Path && a.Source == b.Source && bytes.Equal(a.Content, b.Content)
		}
		if !slices.EqualFunc(first, again, same) {
			t.Fatal("two runs differ")
		}
	}
	if !slices.IsSortedFunc(first, func(a, b model.File) int { return strings.Compare(a.Path, b.Path) }) {
		t.Error("the files are not sorted by path")
	}
}

func TestRenderKeepsModel(t *testing.T) {
	out := sample()
	if _, err := Render(out); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sample(), out); diff != "" {
		t.Errorf("the model was changed, -before +after:\n%s", diff)
	}
}

func TestFilesBeginWithHeaderAndSource(t *testing.T) {
	files, err := Render(sample())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		want := model.HeaderLine + "\n\n"
		if f.Source != "" {
			want = model.HeaderLine + "\n" + model.SourcePrefix + f.Source + "\n\n"
		}
		if !bytes.HasPrefix(f.Content, []byte(want)) {
			t.Errorf("%s begins with %.120q, want %q", f.Path, f.Content, want)
		}
		if fromOne := strings.Count(f.Path, "/") == 3; fromOne != (f.Source == samplePath) {
			t.Errorf("%s: source %q", f.Path, f.Source)
		}
	}
}

// lines counts the lines below the headers of all files of the type Widget.
func lines(t *testing.T, indexes ...*model.Index) int {
	t.Helper()
	out := sample()
	w := widget()
	w.Doc, w.Indexes = nil, indexes
	out.Groups[0].Versions[0].Types = []*model.Type{w}
	files, err := Render(out)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range files {
		if strings.HasPrefix(filepath.Base(f.Path), "widget") {
			_, body, _ := bytes.Cut(f.Content, []byte("\n\n"))
			count := bytes.Count(body, []byte("\n"))
			t.Logf("%s: %d lines", f.Path, count)
			n += count
		}
	}
	return n
}

// TestTypeTakesFewLines bounds the generated code, which people review.
func TestTypeTakesFewLines(t *testing.T) {
	two := lines(t, byNode, byImage)
	if two > 150 {
		t.Errorf("a type with two indexes takes %d lines, want at most 150", two)
	}
	for _, out := range []*model.Output{walks(), forms()} {
		for _, x := range out.Groups[0].Versions[0].Types[0].Indexes {
			if len(x.Paths) > 2 {
				continue // a key of many fields needs more lines
			}
			most := 38
			switch {
			case x.Namespaced:
				most = 46 // its long keys are wrapped
			case len(x.Paths) > 1:
				most = 40 // its long parameters are wrapped
			}
			if three := lines(t, byNode, byImage, x); three-two > most {
				t.Errorf("the index %s takes %d lines more, want at most %d", x.Name, three-two, most)
			}
		}
	}
	if three := lines(t, byNode, byImage, byOwner); three-two > 36 {
		t.Errorf("a function's index takes %d lines more, want at most 36", three-two)
	}
}

// TestVariablesAreUnexported checks that other packages can't set variables of generated packages.
func TestVariablesAreUnexported(t *testing.T) {
	eachFile(t, func(name string, f model.File) {
		file, err := parser.ParseFile(token.NewFileSet(), f.Path, f.Content, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			if g, ok := decl.(*ast.GenDecl); !ok || g.Tok != token.VAR {
				continue
			}
			for _, variable := range declared(decl) {
				if ast.IsExported(variable) {
					t.Errorf("%s: %s has the exported variable %s", name, f.Path, variable)
				}
			}
		}
	})
}

// TestListerReceiversMatchConstructors checks that the methods of a lister have the receiver that
// its constructor returns, a pointer or a value.
func TestListerReceiversMatchConstructors(t *testing.T) {
	eachFile(t, func(name string, f model.File) {
		for _, m := range receiver.FindAllSubmatch(f.Content, -1) {
			byPointer, on := string(m[1]), string(m[2])
			for _, m := range regexp.MustCompile(`return (&?)`+on+`\{`).FindAllSubmatch(f.Content, -1) {
				if made := map[string]string{"": "", "&": "*"}[string(m[1])]; made != byPointer {
					t.Errorf("%s: %s returns a %s%s, whose methods have the receiver %s%s", name, f.Path, made, on, byPointer, on)
				}
			}
		}
	})
}

var receiver = regexp.MustCompile(`(?m)^func \(l (\*?)(\w+)\) `)

// TestControllersTakeFewLines bounds the declarations for controllers.
func TestControllersTakeFewLines(t *testing.T) {
	count := func(controllers bool) (lines int) {
		out := sample()
		out.Controllers = controllers
		files, err := Render(out)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			lines += bytes.Count(f.Content, []byte("\n"))
			if !controllers && bytes.Contains(f.Content, []byte("runtime/controller")) {
				t.Errorf("%s imports runtime/controller without Controllers", f.Path)
			}
		}
		return lines
	}
	more := count(true) - count(false)
	t.Logf("%d lines more for %d types", more, len(sample().Groups[0].Versions[0].Types))
	if most := 12 * len(sample().Groups[0].Versions[0].Types); more > most {
		t.Errorf("controllers add %d lines, want at most %d", more, most)
	}
}

// TestAddedIndexChangesFilesOfItsTypeOnly adds an index: only its type's files change.
func TestAddedIndexChangesFilesOfItsTypeOnly(t *testing.T) {
	for _, layout := range []model.Layout{model.Grouped, model.Single} {
		render := func(indexes ...*model.Index) map[string]string {
			out := single()
			out.Layout = layout
			out.Groups[0].Versions[0].Types[1].Indexes = indexes
			return contents(t, out)
		}
		for n, indexes := range [][]*model.Index{{byNode}, {byNode, byImage}, {byNode, byImage, byOwner}} {
			before, after := render(indexes[:n]...), render(indexes...)
			if len(before) != len(after) {
				t.Errorf("%d files became %d", len(before), len(after))
			}
			for path, content := range after {
				if filepath.Base(path) != "widget.go" && before[path] != content {
					t.Errorf("index %d of Widget has changed %s", n, path)
				}
			}
		}
	}
}

// TestAddedGroupChangesItsFoldersAndTheFactory adds a group: besides its own folders, only the
// factory's package changes.
func TestAddedGroupChangesItsFoldersAndTheFactory(t *testing.T) {
	before, out := contents(t, sample()), sample()
	group := *out.Groups[0]
	group.Name, group.GoName, group.Package = "more.example.com", "More", "more"
	out.Groups = append(out.Groups, &group)
	var changed []string
	for path, content := range contents(t, out) {
		if !strings.Contains(path, "/more/") && before[path] != content {
			changed = append(changed, path)
		}
	}
	slices.Sort(changed)
	want := []string{"informers/factory.go", "informers/groups.go", "informers/resource.go"}
	if diff := cmp.Diff(want, changed); diff != "" {
		t.Errorf("changed files, -want +got:\n%s", diff)
	}
}
