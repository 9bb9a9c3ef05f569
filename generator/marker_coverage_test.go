// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/informer-gen/informer-gen/internal/generator/marker/syntax"
)

// TestEveryMarkerIsInAGolden finds markers and arguments without a golden, and counts the goldens.
func TestEveryMarkerIsInAGolden(t *testing.T) {
	files, err := filepath.Glob("../testdata/golden/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var inputs strings.Builder
	withFindings := 0
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			switch {
			case f.Name == "want/findings":
				withFindings++
			case strings.HasSuffix(f.Name, ".go") && !strings.HasPrefix(f.Name, "want/"):
				inputs.Write(f.Data)
			}
		}
	}
	if len(files) < 150 || withFindings*2 < len(files) {
		t.Errorf("got %d goldens, %d of them with errors or warnings; want at least 150, half of them with findings", len(files), withFindings)
	}
	lines := regexp.MustCompile(`(?m)^[/* \t]*\+(.*)$`).FindAllStringSubmatch(inputs.String(), -1)
	for _, d := range syntax.Definitions() {
		name := regexp.QuoteMeta(d.Name)
		shapes := map[string]string{"": `^` + name + `($|[=: ])`}
		for _, arg := range d.Args {
			if arg.Name != "" {
				shapes[arg.Name] = `^` + name + `[:=](.*,)?` + arg.Name + `=`
			}
			for _, value := range arg.Allowed {
				shapes[arg.Name+"="+value] = `^` + name + `[:=](.*[,=])?` + value + `\b`
			}
		}
		for _, what := range slices.Sorted(maps.Keys(shapes)) {
			match := regexp.MustCompile(shapes[what])
			if !slices.ContainsFunc(lines, func(line []string) bool { return match.MatchString(line[1]) }) {
				t.Errorf("+%s: no golden has the marker, or its argument or value %q", d.Name, what)
			}
		}
	}
}

// TestEveryOptionIsInAGolden finds fields of Config without a golden.
func TestEveryOptionIsInAGolden(t *testing.T) {
	// Goldens have fixed folders and environments, take no warnings and write no files.
	other := []string{"Dir", "Env", "Warn", "Prune", "AllowEmpty"}
	goldens := readGoldens(t)
	config := reflect.TypeFor[Config]()
	for i := range config.NumField() {
		field := config.Field(i)
		set := slices.ContainsFunc(goldens, func(g *golden) bool { return !reflect.ValueOf(g.config).Field(i).IsZero() })
		if set == slices.Contains(other, field.Name) {
			t.Errorf("a golden sets Config.%s: %t", field.Name, set)
		}
	}
}

// TestEveryDefectHasAnAnswer looks for the golden or script of each defect in
// docs/code-generator.md.
func TestEveryDefectHasAnAnswer(t *testing.T) {
	document, err := os.ReadFile("../docs/code-generator.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("`((?:testdata/golden|cmd/informer-gen/testdata/script)/[^`]*)`").FindAllStringSubmatch(string(document), -1) {
		if _, err := os.Stat(filepath.Join("..", m[1])); err != nil {
			t.Errorf("docs/code-generator.md names %s: %v", m[1], err)
		}
	}
	for _, number := range []string{
		"01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "11", "12", "13", "14", "15", "16", "17", "18", "19", "20",
	} {
		if !strings.Contains(string(document), "/defect_"+number+"_") {
			t.Errorf("docs/code-generator.md has no proof for defect %s", number)
		}
	}
	for _, d := range syntax.Definitions() {
		if !strings.Contains(string(document), "`+"+d.Name+"`") {
			t.Errorf("docs/code-generator.md doesn't mention `+%s`", d.Name)
		}
	}
}
