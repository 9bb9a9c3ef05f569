// SPDX-License-Identifier: Apache-2.0

package runtime_test

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// drawn are the packages that ARCHITECTURE.md's drawing has to have, but for those below the paths
// of undrawn.
var (
	drawn   = []string{module + "adapter/clientgo", module + "cmd/...", module + "generator/...", module + "templates/...", base + "..."}
	undrawn = []string{module + "generator/fields/internal/oracle", module + "generator/internal/shapes", strings.TrimSuffix(base, "/") + " "}
)

// TestDrawing holds the drawing in ARCHITECTURE.md against the code: it has every package, and
// where an arrow is between two packages, one of them imports the other.
func TestDrawing(t *testing.T) {
	// by the last element of the path, which is a package's name in the drawing
	imports := map[string][]string{}
	for _, line := range strings.Split(strings.Join(list(t, append([]string{"-f", `{{.ImportPath}},{{join .Imports ","}}`}, drawn...)...), "\n"), "\n") {
		paths := strings.Split(line, ",")
		if !slices.ContainsFunc(undrawn, func(prefix string) bool { return strings.HasPrefix(paths[0]+" ", prefix) }) {
			name := path.Base(paths[0])
			if _, taken := imports[name]; taken {
				t.Errorf("two packages are called %s in the drawing", name)
			}
			imports[name] = paths[1:]
		}
	}

	drawing := codeBlock(t, "../ARCHITECTURE.md", "an event ")
	for name := range imports {
		if !regexp.MustCompile(`(^|[^\w-])` + name + `($|[^\w-])`).MatchString(drawing) {
			t.Errorf("%s is not in the drawing", name)
		}
	}
	arrows := arrowsIn(drawing)
	for _, a := range arrows {
		from, okFrom := imports[a[0]]
		to, okTo := imports[a[1]]
		if !okFrom || !okTo {
			t.Errorf("%s ─▶ %s: not both are packages", a[0], a[1])
			continue
		}
		imported := func(paths []string, name string) bool {
			return slices.ContainsFunc(paths, func(p string) bool { return strings.HasPrefix(p, module) && path.Base(p) == name })
		}
		if !imported(from, a[1]) && !imported(to, a[0]) {
			t.Errorf("%s ─▶ %s: none of them imports the other", a[0], a[1])
		}
	}

	// The drawing in the package's doc is a part of it.
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	some := arrowsIn(string(doc))
	if len(some) == 0 {
		t.Error("runtime/doc.go has no arrows")
	}
	for _, a := range some {
		if !slices.Contains(arrows, a) {
			t.Errorf("runtime/doc.go has an arrow that ARCHITECTURE.md lacks: %s ─▶ %s", a[0], a[1])
		}
	}
}

var arrow = regexp.MustCompile(`([a-z][\w-]*) ─▶ ([a-z][\w-]*)`)

// arrowsIn returns the pairs of packages with an arrow from the one to the other.
func arrowsIn(drawing string) (pairs [][2]string) {
	for rest := drawing; ; {
		at := arrow.FindStringSubmatchIndex(rest)
		if at == nil {
			return pairs
		}
		pairs = append(pairs, [2]string{rest[at[2]:at[3]], rest[at[4]:at[5]]})
		rest = rest[at[4]:] // the second package may be the first one of the next arrow
	}
}

// codeBlock returns the first code block of a Markdown file that contains text.
func codeBlock(t *testing.T, file, text string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i, part := range strings.Split(string(content), "```") {
		if i%2 == 1 && strings.Contains(part, text) {
			return part
		}
	}
	t.Fatalf("%s has no code block with %q", file, text)
	return ""
}
