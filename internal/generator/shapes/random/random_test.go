// SPDX-License-Identifier: Apache-2.0

// Package random makes random API types with random indexes and projections, and a program that
// compares their generated code with package oracle.
package random

import (
	"flag"
	"fmt"
	"go/format"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/informer-gen/informer-gen/generator"
	"github.com/informer-gen/informer-gen/internal/projecttest"
)

var (
	seed    = flag.Uint64("seed", 1, "seed of the random types and indexes")
	indexes = flag.Int("indexes", 4, "indexes of each kind")
	parts   = flag.Int("projections", 3, "projections of each of the 6 kinds, besides two with some fields of others")
	keep    = flag.String("keep", "", "write to this folder instead of a temporary one")
)

// module may import internal packages of this module.
const module = "github.com/informer-gen/informer-gen/generator/random"

// kind is a random kind with its indexes and projections.
type kind struct {
	name, plural string
	alias        string // of its package in the program
	pkg          string // the package's own name
	group        string
	single       bool // the layout
	cluster      bool
	every        bool // every index must have had a key
	fields       *typ
	indexes      []index
	projections  []projection
}

// TestRandomIndexes writes API packages, generates code for them, and runs a program that compares
// it with package oracle.
func TestRandomIndexes(t *testing.T) {
	dir := *keep
	if dir == "" {
		dir = t.TempDir()
	}
	t.Logf("seed %d", *seed)
	libraries := projecttest.Of(t)
	write(t, dir, "go.mod", "module "+module+"\n\ngo 1.26.0\n"+libraries.RequireItself())
	write(t, dir, "go.sum", libraries.Sums)
	t.Setenv("GOWORK", "off")
	t.Setenv("GOFLAGS", "")
	random := rand.New(rand.NewPCG(*seed, 0))
	for _, name := range packageNames {
		write(t, dir, "types/"+name+"/types.go", "// Package "+name+" has types of keys.\npackage "+name+"\n\n"+foreignTypes)
	}
	var kinds []*kind
	names := random.Perm(len(packageNames))
	for n, name := range []string{"Alpha", "Lister", "Key", "Keys", "Value", "String"} {
		k := &kind{
			name: name, plural: name + "s", alias: "api" + strings.ToLower(name), pkg: packageNames[names[n]],
			group: fmt.Sprint("g", n), single: n%2 > 0, cluster: n == 4,
		}
		if name == "Keys" {
			k.plural = "Keyses"
		}
		k.write(t, dir, random)
		kinds = append(kinds, k)
	}
	kinds = append(kinds, shape(t, dir))
	for _, layout := range []generator.Layout{generator.Grouped, generator.Single} {
		var patterns []string
		for _, k := range kinds {
			if k.single == (layout == generator.Single) {
				patterns = append(patterns, "./api/"+k.group)
			}
		}
		generate(t, dir, generator.Config{Dir: dir, File: generator.NoFile, Patterns: patterns, Layout: layout, Output: string(layout)})
	}
	write(t, dir, "main.go", program(kinds))
	binary := filepath.Join(dir, "random.exe")
	for _, command := range [][]string{
		// only vets; facts about libraries are cached since the build of this test
		{"go", "test", "./grouped/listers/...", "./grouped/projections/...", "./single"},
		// go run would cache the program
		{"go", "build", "-ldflags=-s -w", "-o", binary, "."},
		{binary},
	} {
		c := exec.CommandContext(t.Context(), command[0], command[1:]...)
		c.Dir = dir
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("seed %d: %s: %v\n%s", *seed, strings.Join(command, " "), err, out)
		}
		if len(out) > 0 {
			t.Logf("%s", out)
		}
	}
}

// calls returns the rule of an index with a function.
func (k *kind) calls(function string) string {
	called := k.alias + "keys.Keys"
	if function == "Names" {
		called = k.alias + ".Names"
	}
	return fmt.Sprintf("Func: func(obj object.Object) []any { return oracle.Any(%s(obj.(T))) }", called)
}

// ownersOf returns the rule of an index with an owner.
func ownersOf(owner string) string {
	return fmt.Sprintf("Func: func(obj object.Object) []any { return oracle.Owners(obj, %q) }", owner)
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	name = filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func generate(t *testing.T, dir string, config generator.Config) {
	t.Helper()
	files, err := generator.Generate(t.Context(), config)
	if err != nil {
		t.Fatalf("seed %d: %v", *seed, err)
	}
	changes, err := files.Diff()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := files.Write(); err != nil {
		t.Fatal(err)
	}
	for _, change := range changes {
		content, err := os.ReadFile(filepath.Join(dir, change.Path))
		if err != nil {
			t.Fatal(err)
		}
		if formatted, err := format.Source(content); err != nil || string(formatted) != string(content) {
			t.Errorf("seed %d: gofmt changes %s (%v)", *seed, change.Path, err)
		}
	}
}

// write writes the API package of the kind, and one with a function for it.
func (k *kind) write(t *testing.T, dir string, random *rand.Rand) {
	t.Helper()
	m := &maker{Rand: random, imports: map[string]bool{}}
	text := &typ{kind: "string", source: "string", isKey: true}
	labels := &typ{kind: "map", key: text, elem: text}
	spec := field{jsonName: "spec", t: m.structure(5, 12)}
	metadata := field{jsonName: "metadata", t: &typ{kind: "struct", fields: []field{{jsonName: "name", t: text}, {jsonName: "labels", t: labels}}}}
	// most paths go through the spec
	k.fields = &typ{kind: "struct", fields: []field{spec, spec, spec, metadata}}
	keyType := m.basic()
	var markers strings.Builder
	for n := range *indexes {
		x := m.index(k, n)
		k.indexes = append(k.indexes, x)
		markers.WriteString("// " + x.marker + "\n")
	}
	for n := range *parts {
		p := m.projection(k, n)
		k.projections = append(k.projections, p)
		if n < 2 {
			k.projections = append(k.projections, m.narrower(p))
		}
	}
	for _, p := range k.projections {
		markers.WriteString("// " + p.marker + "\n")
	}
	var imports strings.Builder
	for _, name := range slices.Sorted(maps.Keys(m.imports)) {
		fmt.Fprintf(&imports, "\tp%s %q\n", name, module+"/types/"+name)
		fmt.Fprintf(&m.declarations, "var _ p%s.Text\n", name) // no field may have a type of it
	}
	scope := ""
	if k.cluster {
		scope = "// +genclient:nonNamespaced\n"
	}
	key := map[string]string{"string": "obj.Name", "bool": `obj.Name != ""`, "integer": "len(obj.Name)"}[keyType.kind]
	write(t, dir, "api/"+k.group+"/types.go", fmt.Sprintf(`// Package %[1]s is random.
//
// +groupName=%[2]s.example.com
// +versionName=v1
package %[1]s

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
%[3]s)

// %[4]s is random.
//
// +genclient
%[5]s%[6]stype %[4]s struct {
	metav1.TypeMeta   `+"`json:\",inline\"`"+`
	metav1.ObjectMeta `+"`json:\"metadata\"`"+`
	Spec %[7]s `+"`json:\"spec\"`"+`
}

// DeepCopyObject is never called.
func (x *%[4]s) DeepCopyObject() runtime.Object { return x }

// Names are some keys.
func Names(obj *%[4]s) []%[8]s { return []%[8]s{%[8]s(%[9]s), %[8]s(%[9]s)} }

%[10]s`, k.pkg, k.group, imports.String(), k.name, scope, markers.String(), spec.t.source, keyType.source, key, m.declarations.String()))
	write(t, dir, "funcs/"+k.group+"/keys/keys.go", fmt.Sprintf(`// Package keys has a function for an index.
package keys

import (
	"strings"

	api %q
)

// Keys returns some keys.
func Keys(obj *api.%s) []string { return []string{strings.ToUpper(obj.Name)} }
`, module+"/api/"+k.group, k.name))
}

// program returns the source of a program that checks all indexes of the kinds.
func program(kinds []*kind) string {
	var imports, checks, calls strings.Builder
	for n, k := range kinds {
		listers, projections := module+"/grouped/listers/"+k.group+"/v1", module+"/grouped/projections/"+k.group+"/v1"
		if k.single {
			listers, projections = module+"/single", module+"/single"
		}
		if len(k.projections) > 0 {
			fmt.Fprintf(&imports, "\tprojections%d %q\n", n, projections)
		}
		fmt.Fprintf(&imports, "\t%s %q\n\t%[1]skeys %[3]q\n\tlisters%d %q\n", k.alias, module+"/api/"+k.group, module+"/funcs/"+k.group+"/keys", n, listers)
		fmt.Fprintf(&calls, "\tcheck%d()\n", n)
		fmt.Fprintf(&checks, "\nvar _ = %skeys.Keys\n", k.alias)
		fmt.Fprintf(&checks, `
func check%d() {
	type T = *%s.%s
	oracle.Run(%[4]d, func() T { return &%[2]s.%[3]s{} }, %[5]v, %[6]v, listers%[1]d.%[3]sIndexes(), func(s *oracle.State[T]) {
		l := listers%[1]d.New%[3]sLister(s.Store)
`, n, k.alias, k.name, *seed, k.cluster, k.every)
		for _, x := range k.indexes {
			check, methods := "Check", fmt.Sprintf(", l.%s, l.List%[1]s", x.name)
			if x.namespaced {
				check, methods = "CheckNamespaced", ""
			}
			in := "nil"
			if !k.cluster {
				one := fmt.Sprintf("(listers%d.%sNamespaceLister).", n, k.name)
				in = fmt.Sprintf("oracle.Methods(l.%s, %s%s, %[2]sList%[3]s)", k.plural, one, x.name)
			}
			fmt.Fprintf(&checks, "\t\toracle.%s(s, listers%d.%s%s(), oracle.Rule{%s}%s, %s)\n", check, n, k.name, x.name, x.rule, methods, in)
		}
		checks.WriteString("\t})\n")
		for _, p := range k.projections {
			fmt.Fprintf(&checks, "\toracle.Project(%d, func() T { return &%s.%s{} }, projections%d.New%s, (*projections%[4]d.%[5]s).DeepCopy)\n",
				*seed, k.alias, k.name, n, p.name)
			if p.wider != "" {
				fmt.Fprintf(&checks, "\toracle.Narrow(%d, func() T { return &%s.%s{} }, projections%d.New%s, (*projections%[4]d.%[6]s).As%[5]s, projections%[4]d.New%[6]s)\n",
					*seed, k.alias, k.name, n, p.name, p.wider)
			}
		}
		checks.WriteString("}\n")
	}
	return fmt.Sprintf(`// Command random checks generated indexes.
package main

import (
	"os"

%s
	"github.com/informer-gen/informer-gen/internal/generator/shapes/oracle"
	"github.com/informer-gen/informer-gen/runtime/object"
)

var _ object.Object // in a program without functions

func main() {
%s	if !oracle.Report() {
		os.Exit(1)
	}
}
%s`, imports.String(), calls.String(), checks.String())
}
