// SPDX-License-Identifier: Apache-2.0

package fields

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the expected reports in testdata")

// TestPrograms compares the report about each program in testdata/programs with its file "want".
func TestPrograms(t *testing.T) {
	dir := module(t)
	names, err := filepath.Glob("testdata/programs/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no programs in testdata (%v)", err)
	}
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		program := strings.TrimSuffix(filepath.Base(name), ".txtar")
		write(t, filepath.Join(dir, program), archive)
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			report, err := Find(t.Context(), Config{Dir: filepath.Join(dir, program), Patterns: []string{"."}})
			if err != nil {
				t.Fatal(err)
			}
			got := []byte(text(report))
			if *update {
				rewrite(t, name, archive, got)
				return
			}
			if want := file(archive, "want"); !bytes.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// Find rejects a package with C and objects.
func TestProgramsWithC(t *testing.T) {
	dir := module(t)
	write(t, filepath.Join(dir, "c"), txtar.Parse([]byte(`
-- c.go --
package c

// typedef int number;
import "C"

import "example.com/m/gen"

func use(pods gen.PodLister) C.number {
	pod, _ := pods.Pods("shop").Get("blue")
	return C.number(len(pod.Name))
}
`)))
	_, err := Find(t.Context(), Config{Dir: filepath.Join(dir, "c"), Patterns: []string{"."}})
	if want := "c.go:4:8: package example.com/m/c uses C, "; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// text formats a report, with one use per line.
func text(r *Report) string {
	var b strings.Builder
	for _, k := range r.Kinds {
		fmt.Fprintf(&b, "%s\n", k.Name)
		for _, pos := range k.From {
			fmt.Fprintf(&b, "  from %s:%d\n", pos.Filename, pos.Line)
		}
		printUses(&b, k.Uses)
		if named, ok := k.Projection(); ok {
			fmt.Fprintf(&b, "  projection %s\n", strings.Join(named, ";"))
		}
	}
	if len(r.Unknown) > 0 {
		fmt.Fprintf(&b, "any kind\n")
		printUses(&b, r.Unknown)
	}
	return b.String()
}

func printUses(b *strings.Builder, uses []Use) {
	for _, u := range uses {
		path := u.Path
		if path == "" {
			path = "the object"
		}
		fmt.Fprintf(b, "  %s %s %s:%d %s\n", u.How, path, u.Pos.Filename, u.Pos.Line, u.Why)
	}
}

// module writes the programs' module to a folder.
func module(t *testing.T) string {
	t.Helper()
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "off")
	t.Setenv("GOPROXY", "off")
	t.Setenv("CGO_ENABLED", "1")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	archive, err := txtar.ParseFile("testdata/stubs.txtar")
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, archive)
	return dir
}

func write(t *testing.T, dir string, archive *txtar.Archive) {
	t.Helper()
	for _, f := range archive.Files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func file(archive *txtar.Archive, name string) []byte {
	for _, f := range archive.Files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}

func rewrite(t *testing.T, name string, archive *txtar.Archive, want []byte) {
	t.Helper()
	var files []txtar.File
	for _, f := range archive.Files {
		if f.Name == "want" {
			continue
		}
		if strings.HasSuffix(f.Name, ".go") {
			formatted, err := format.Source(f.Data)
			if err != nil {
				t.Fatal(err)
			}
			f.Data = formatted
		}
		files = append(files, f)
	}
	archive.Files = append(files, txtar.File{Name: "want", Data: want})
	if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
		t.Fatal(err)
	}
}
