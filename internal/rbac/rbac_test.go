// SPDX-License-Identifier: Apache-2.0

package rbac

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/informer-gen/informer-gen/internal/diag"
)

var update = flag.Bool("update", false, "rewrite the expected files in testdata")

// TestFiles runs testdata/*.txtar. The input is the file requests and the files *.yaml, in their
// order; no *.yaml is a new role. A request is a line
//
//	VERB RESOURCE[.GROUP][/SUBRESOURCE] [NAMESPACE/[NAME]]
//	VERB /PATH
//
// The rest is expected: errors, or findings, the edited files want/*.yaml, and dropped comments.
func TestFiles(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal(archives, err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			before := txtar.Format(archive)
			var inputs []txtar.File
			for _, f := range archive.Files {
				if f.Name == "requests" || strings.HasSuffix(f.Name, ".yaml") && !strings.HasPrefix(f.Name, "want/") {
					inputs = append(inputs, f)
				}
			}
			name, err := filepath.Abs(name)
			if err != nil {
				t.Fatal(err)
			}
			t.Chdir(t.TempDir())
			archive.Files = append(inputs, results(t, inputs)...)
			after := txtar.Format(archive)
			switch {
			case bytes.Equal(before, after):
			case *update:
				if err := os.WriteFile(name, after, 0o644); err != nil {
					t.Fatal(err)
				}
			default:
				t.Errorf("got\n%s", after)
			}
		})
	}
}

func results(t *testing.T, inputs []txtar.File) (out []txtar.File) {
	var names []string
	var records []Record
	for _, f := range inputs {
		if f.Name == "requests" {
			records = parseRequests(t, string(f.Data))
			continue
		}
		if err := os.WriteFile(f.Name, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, f.Name)
	}
	add := func(name, text string) {
		if text != "" {
			out = append(out, txtar.File{Name: name, Data: []byte(strings.TrimRight(text, "\n") + "\n")})
		}
	}
	files, err := ReadFiles(names...)
	if len(names) == 0 {
		var created *File
		created, err = NewFile("role.yaml", "manager-role")
		files = []*File{created}
	}
	if err != nil {
		add("errors", err.Error())
		return out
	}
	c := Compare(files, records)
	add("findings", errorText(c.Missing)+errorText(c.Unused))
	edits, err := c.Edits()
	if err != nil {
		add("errors", err.Error())
		return out
	}
	for _, e := range edits {
		add("want/"+e.Name, string(e.Text))
		add("dropped", strings.Join(e.Dropped, "\n"))
		checkEdited(t, e, files, records)
	}
	return out
}

// checkEdited checks that the edited files fit the requests, so editing them again changes nothing.
func checkEdited(t *testing.T, e Edit, files []*File, records []Record) {
	var edited []*File
	for _, f := range files {
		if f.name == e.Name {
			var list diag.List
			var err error
			if f, list, err = parse(e.Name, e.Text); err != nil || len(list) > 0 {
				t.Fatalf("the edited %s can't be read: %v %v\n%s", e.Name, err, list, e.Text)
			}
		}
		edited = append(edited, f)
	}
	again := Compare(edited, records)
	found := append(again.Missing, again.Unused...)
	for _, d := range found {
		if d.Pos.Filename == e.Name {
			t.Errorf("after editing: %s", d)
		}
	}
}

func errorText(list diag.List) string {
	if len(list) == 0 {
		return ""
	}
	return list.Error() + "\n"
}

func parseRequests(t *testing.T, text string) (records []Record) {
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) < 2 {
			t.Fatalf("request %q", line)
		}
		r := Record{Request: Request{Verb: words[0]}, First: "GET /… by test"}
		if strings.HasPrefix(words[1], "/") {
			r.Path = words[1]
		} else {
			var resource string
			resource, r.Subresource, _ = strings.Cut(words[1], "/")
			r.Resource, r.Group, _ = strings.Cut(resource, ".")
		}
		if len(words) > 2 {
			var namespace string
			namespace, r.Name, _ = strings.Cut(words[2], "/")
			r.Namespaced = namespace != ""
		}
		records = append(records, r)
	}
	return Distinct(records)
}

func TestReadFilesNamesTheMissingFile(t *testing.T) {
	_, err := ReadFiles("testdata/none.yaml")
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(fmt.Sprint(err), "testdata/none.yaml") {
		t.Errorf("got %v", err)
	}
}

func TestRecordsAreReadBack(t *testing.T) {
	folder := t.TempDir()
	want := []Record{
		{Request: Request{Verb: "get", Path: "/metrics"}, First: "GET /metrics"},
		{Request: Request{Verb: "get", Resource: "pods", Namespaced: true, Name: "a"}, First: "GET /api/v1/namespaces/shop/pods/a by manager"},
	}
	for _, name := range []string{"1.jsonl", "2.jsonl"} {
		file, err := os.Create(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if err := Append(file, want[len(want)-1-i]); err != nil {
				t.Fatal(err)
			}
		}
		file.Close()
	}
	got, err := ReadRecords(folder)
	if err != nil || fmt.Sprint(got) != fmt.Sprint(Distinct(want)) {
		t.Errorf("got %v, %v", got, err)
	}

	if err := os.WriteFile(filepath.Join(folder, "3.jsonl"), []byte("{\"verb\":\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadRecords(folder); err == nil || !strings.Contains(err.Error(), "3.jsonl") {
		t.Errorf("got %v, want an error that names the broken file", err)
	}
}
