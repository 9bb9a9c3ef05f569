// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/informer-gen/informer-gen/internal/generator/model"
)

// TestDocumentMatchesGeneratedCode compares docs/generated.md with the code of one kind,
// declaration by declaration, or rewrites it. Declarations without an explanation are errors.
func TestDocumentMatchesGeneratedCode(t *testing.T) {
	files, err := Render(documentedModel())
	if err != nil {
		t.Fatal(err)
	}
	d := document{t: t, explained: map[string]bool{}}
	d.WriteString(introduction)
	byPath := map[string]model.File{}
	for _, f := range files {
		byPath[f.Path] = f
	}
	for _, part := range documentedFiles {
		f, ok := byPath[part.path]
		if !ok {
			t.Fatalf("%s isn't generated", part.path)
		}
		delete(byPath, part.path)
		fmt.Fprintf(&d, "\n## %s\n\n%s\n", part.path, part.about)
		d.file(f)
	}
	for path := range byPath {
		t.Errorf("%s isn't explained: add it to documentedFiles", path)
	}
	for name := range explanations {
		if !d.explained[name] {
			t.Errorf("explanation of %s: there is no such declaration", name)
		}
	}
	golden := filepath.Join("..", "docs", "generated.md")
	if *update {
		if err := os.WriteFile(golden, d.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), d.String()); diff != "" {
		t.Errorf("docs/generated.md differs (rewrite it with -update), -want +got:\n%s", diff)
	}
}

// document is the text under construction.
type document struct {
	bytes.Buffer
	t         *testing.T
	explained map[string]bool
}

// file writes the declarations of a file, each block of them with its explanations.
func (d *document) file(f model.File) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, f.Path, f.Content, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		d.t.Fatal(err)
	}
	begin, end := 0, 0 // of the block
	method := false    // it ends with one
	var names []string
	flush := func(next int) {
		fmt.Fprintf(d, "\n```go\n%s\n```\n", bytes.TrimSpace(f.Content[begin:end]))
		for n, name := range names {
			d.explain(f.Path, name, n == 0)
		}
		begin, names = next, nil
	}
	for _, decl := range file.Decls {
		from, to := fset.Position(beginning(decl)).Offset, fset.Position(decl.End()).Offset
		if isImport(decl) {
			end, names = to, []string{"package"}
			continue
		}
		if len(names) == 0 && end == 0 { // a file without imports
			end, names = from, []string{"package"}
		}
		// Methods that follow one another are explained together.
		if !(method && isMethod(decl)) {
			flush(from)
		}
		method = isMethod(decl)
		end, names = to, append(names, declared(decl)...)
	}
	if len(file.Decls) == 0 {
		end, names = len(f.Content), []string{"package"}
	}
	flush(end)
}

func (d *document) explain(path, name string, first bool) {
	d.t.Helper()
	if name == "package" {
		return
	}
	if first {
		d.WriteString("\n")
	}
	text := explanations[name]
	if text == "" {
		d.t.Errorf("%s: %s isn't explained", path, name)
	}
	d.explained[name] = true
	d.item(fmt.Sprintf("`%s`: %s", name, text))
}

// item writes an item of a list, in lines of at most 100 columns.
func (d *document) item(text string) {
	const indent = "  "
	line := "-"
	for _, word := range strings.Fields(text) {
		if utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > 100 {
			fmt.Fprintln(d, line)
			line = indent + word
			continue
		}
		line += " " + word
	}
	fmt.Fprintln(d, line)
}

func isImport(decl ast.Decl) bool {
	g, ok := decl.(*ast.GenDecl)
	return ok && g.Tok == token.IMPORT
}

func isMethod(decl ast.Decl) bool {
	f, ok := decl.(*ast.FuncDecl)
	return ok && f.Recv != nil
}

// beginning returns the position of a declaration, or of its comment.
func beginning(decl ast.Decl) token.Pos {
	var doc *ast.CommentGroup
	switch decl := decl.(type) {
	case *ast.GenDecl:
		doc = decl.Doc
	case *ast.FuncDecl:
		doc = decl.Doc
	}
	if doc != nil {
		return doc.Pos()
	}
	return decl.Pos()
}

// declared returns the names that a declaration declares.
func declared(decl ast.Decl) []string {
	var names []string
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		name := decl.Name.Name
		if decl.Recv != nil {
			on := decl.Recv.List[0].Type
			if pointer, ok := on.(*ast.StarExpr); ok {
				on = pointer.X
			}
			name = on.(*ast.Ident).Name + "." + name
		}
		names = append(names, name)
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				names = append(names, spec.Name.Name)
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					names = append(names, name.Name)
				}
			}
		}
	}
	return names
}

// documentedModel is the project of the document.
func documentedModel() *model.Output {
	const api = "example.com/shop/api/v1"
	phase := to(".status.phase", model.Step{Field: "Status"}, model.Step{Field: "Phase"})
	phase.Key = model.GoType{Path: api, Package: "v1", Name: "Phase"}
	return &model.Output{
		ImportPath: "example.com/shop/generated",
		Groups: []*model.Group{{
			Name: "shop.example.com", GoName: "Shop", Package: "shop",
			Versions: []*model.Version{{
				Name: "v1", GoName: "V1", Package: "v1",
				Types: []*model.Type{{
					Source: model.GoPackage{Path: api, Name: "v1"},
					Name:   "Widget", Plural: "Widgets", Resource: "widgets", Namespaced: true,
					Doc: []string{"Widget is a vending machine."},
					Indexes: []*model.Index{byNode, byImage, {
						Name:  "ByNodeAndPhase",
						Paths: []*model.FieldPath{named("NodeName", to(".spec.nodeName", byNode.Paths[0].Steps...)), named("Phase", phase)},
						When:  []model.Condition{{Path: to(".spec.suspend", spec, model.Step{Field: "Suspend", Pointer: true}), Not: true, Literal: "true"}},
					}},
				}},
			}},
		}},
	}
}

// writeDocumented writes the document's code and its API package into a module of
// example.com/project at dir.
func writeDocumented(t *testing.T, dir string) {
	t.Helper()
	files, err := Render(documentedModel())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text := strings.ReplaceAll(string(f.Content), "example.com/shop", "example.com/project/shop")
		writeFile(t, filepath.Join(dir, "shop", "generated", f.Path), text)
	}
	writeFile(t, filepath.Join(dir, "shop", "api", "v1", "api.go"), `package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

type Widget struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Spec struct {
		NodeName   string
		Suspend    *bool
		Containers []struct{ Image string }
	}
	Status struct{ Phase Phase }
}

type Phase string

func (w *Widget) DeepCopyObject() runtime.Object { return w }
`)
}

const introduction = `# Generated code

All files of one run for one namespaced kind with three indexes, each declaration with a line about
it. After this page you can find your way in generated code. The kind is this one, in the package
example.com/shop/api/v1:

` + "```text" + `
// Widget is a vending machine.
//
// +genclient
// +informer:index:name=ByNode,field=.spec.nodeName
// +informer:index:name=ByImage,field=.spec.containers[*].image
// +informer:index:name=ByNodeAndPhase,field=.spec.nodeName;.status.phase,when=.spec.suspend!=true
type Widget struct { … }
` + "```" + `

The two files called widget.go are the kind's own: adding an index changes no other file. The files
of the project and the version have a few lines for each of the groups, versions and kinds below
them. With ` + "`--layout single`" + ` all of it is one package, which has the kinds right on the factory.

[Projections](projections.md) of a kind have files of the same names and shapes, and their types in
a folder called projections. With ` + "`applyConfigurations: true`" + ` a kind has types for
[server-side apply](writes.md#apply-configurations) in a folder called applyconfigurations.

Neither a date nor a version stands in the files, so they change only with their source. Packages
are imported under their own names unless these are taken. A header of the project's own
(` + "`--header`" + `) stands above the first line. A deprecated kind has a ` + "`Deprecated:`" + ` paragraph at its
informer, its lister and its accessor, so that staticcheck reports the code that uses it; the files
that have to name it tell staticcheck to ignore them.
`

// documentedFiles are in reading order.
var documentedFiles = []struct{ path, about string }{
	{"informers/shop/v1/widget.go", "The informer of the kind."},
	{"listers/shop/v1/widget.go", "The readers of the informer's store: listers of all namespaces and of one, and the indexes."},
	{"listers/shop/v1/expansion_generated.go", "Room for methods of your own, as client-go's listers have it."},
	{"listers/shop/v1/doc.go", "The package comment, which belongs to no kind."},
	{"informers/shop/v1/version.go", "The kinds of the version."},
	{"informers/factory.go", "The factory with the groups."},
	{"informers/groups.go", "The groups with their versions. They have no packages of their own, because each of\nthese would cost as much compile time for each of its kinds as the factory's does."},
	{"informers/resource.go", "The way from a resource that is known only at run time to its informer."},
}

// explanations has a line for each declaration.
var explanations = map[string]string{
	"WidgetInformer":        "what `factory.Shop().V1().Widgets()` returns; the comment of the API type is carried over.",
	"WithWidgets":           "an option of `NewSharedInformerFactory` for this kind alone: namespaces, selectors, a transform of `*v1.Widget`, resync, more indexes, an error handler.",
	"widgetInformer":        "the implementation: a kind of a factory; `Informer` is promoted from `factories.Kind`.",
	"version.Widgets":       "creates the informer, with the resource and the indexes of every informer of the kind, so no lister lacks one.",
	"widgetInformer.Lister": "a lister over the informer's store; each call costs next to nothing.",
	"widgetInformer.With":   "the same kind with other options; it is another informer if they select other objects.",

	"WidgetByNodeIndex":         "the name of the first index, for code that goes by names.",
	"WidgetByImageIndex":        "the name of the second.",
	"WidgetByNodeAndPhaseIndex": "the name of the third.",
	"WidgetResource":            "group, version and plural, for requests to the server and errors of `Get`.",
	"WidgetIndexes":             "all indexes, in the order of the markers; `store.New(listers.WidgetIndexes()...)` makes a store for a test.",
	"WidgetByNode":              "an index, for code that needs more than the listers' methods: `store.Index.Len`, `store.Index.Keys`, look-ups in a snapshot. The key has the field's type.",
	"WidgetByImage":             "as above.",
	"WidgetByNodeAndPhase":      "as above, with a struct for the key.",
	"widgetByNode":              "the index: its name, and the function that appends an object's keys. A package has no variables that others could set.",
	"widgetByImage":             "one key for each element. Elements are found by position, because those of API types are large.",
	"widgetByNodeAndPhase":      "several fields under a condition. A nil pointer isn't `true`, so the object is indexed. There is no reflection.",
	"WidgetByNodeAndPhaseKey":   "the key of an index with several fields, one for each path.",
	"WidgetLister":              "reads all namespaces: `List` with a selector, `All`, `Snapshot`, the index methods, and those of the expansion.",
	"WidgetNamespaceLister":     "reads one namespace: `List`, `All`, `Get`, and the same index methods, which find objects of that namespace only.",
	"WidgetLookups":             "the index methods, which both listers have: an iterator and a slice for each index.",
	"NewWidgetLister":           "makes a lister; the informer's `Lister` calls it, and a test may, with a store of its own.",
	"widgetLister":              "implements both listers, since a `lister.Resource` reads all namespaces or one. It is a value, as the methods' receivers are. With an expansion both are pointers, because methods of an expansion have `*widgetLister` as receiver. A kind without indexes needs no struct for one namespace, where it returns the `lister.Resource`, and a cluster-scoped one needs none at all.",
	"widgetLister.Widgets":      "the step from all namespaces to one. The `lister.Resource` of a namespace is one allocation: a struct of one pointer is an interface's value as it is.",

	"widgetLister.ByNode":             "asks the index for the objects of the key in the lister's namespace.",
	"widgetLister.ListByNode":         "the same as a slice of the caller's own.",
	"widgetLister.ByImage":            "as above.",
	"widgetLister.ListByImage":        "as above.",
	"widgetLister.ByNodeAndPhase":     "as above, with a struct for the key.",
	"widgetLister.ListByNodeAndPhase": "as above.",

	"WidgetListerExpansion":          "declare it yourself, with methods on `*widgetLister`, and the next run leaves it out here.",
	"WidgetNamespaceListerExpansion": "the same for the lister of one namespace; its methods have the receiver `*widgetNamespaceLister`, which is generated then.",

	"_":         "fails to compile, with a comment that says what to do, when the runtime in go.mod is older than the generator.",
	"Interface": "one accessor for each kind of the version.",
	"New":       "called by the group's accessor.",
	"version":   "implements Interface; the method of each kind is in the kind's file.",

	"SharedInformerFactory":    "what a program holds: `Start`, `WaitForCacheSync`, `Shutdown`, and one accessor for each group.",
	"NewSharedInformerFactory": "makes the factory; no clientset is needed.",
	"factory":                  "the runtime's factory with the accessors.",
	"ShopGroup":                "what `factory.Shop()` returns: one accessor for each version of the group.",
	"shopGroup":                "implements it.",
	"factory.Shop":             "the accessor of the group.",
	"shopGroup.V1":             "the accessor of the version.",
	"factory.ForResource":      "one case for each kind; the informer is the same as the typed one, seen without its type.",
}
