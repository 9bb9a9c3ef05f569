// SPDX-License-Identifier: Apache-2.0

package output

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/informer-gen/informer-gen/internal/generator/model"
)

// generated returns the text of a generated file; source may be empty.
func generated(source, body string) string {
	head := model.HeaderLine + "\n"
	if source != "" {
		head += model.SourcePrefix + source + "\n"
	}
	return head + "\npackage p\n" + body
}

func files(root string, contents map[string]string) Folder {
	f := Folder{Root: root, Name: "generated"}
	for name, content := range contents {
		f.Files = append(f.Files, model.File{Path: name, Content: []byte(content)})
	}
	return f
}

// put writes files below root.
func put(t *testing.T, root string, contents map[string]string) {
	t.Helper()
	for name, content := range contents {
		name = filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// tree returns everything below root: contents by path; folders end with a slash.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		if entry.IsDir() {
			found[name+"/"] = ""
			return nil
		}
		content, err := os.ReadFile(filepath.Join(root, name))
		found[name] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestWriteCreatesFolders(t *testing.T) {
	root := filepath.Join(t.TempDir(), "deep", "generated")
	want := map[string]string{
		"informers/factory.go":  generated("", "// factory"),
		"listers/a/v1/thing.go": generated("example.com/a", "// thing"),
	}
	report, err := files(root, want).Write()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Report{Created: []string{"informers/factory.go", "listers/a/v1/thing.go"}}, report); diff != "" {
		t.Errorf("report, -want +got:\n%s", diff)
	}
	got := tree(t, root)
	for _, folder := range []string{"informers/", "listers/", "listers/a/", "listers/a/v1/"} {
		delete(got, folder)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tree, -want +got:\n%s", diff)
	}
}

func TestWriteTouchesOnlyDifferentFiles(t *testing.T) {
	root := t.TempDir()
	f := files(root, map[string]string{
		"informers/factory.go":  generated("", "// factory"),
		"listers/a/v1/thing.go": generated("example.com/a", "// thing"),
	})
	put(t, root, map[string]string{
		"informers/factory.go":  generated("", "// factory"),
		"listers/a/v1/thing.go": generated("example.com/a", "// edited by hand"),
	})
	old := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	for _, name := range []string{"informers/factory.go", "listers/a/v1/thing.go"} {
		if err := os.Chtimes(filepath.Join(root, name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	modified := func(name string) bool {
		info, err := os.Stat(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		return !info.ModTime().Equal(old)
	}

	report, err := f.Write()
	if err != nil {
		t.Fatal(err)
	}
	want := Report{Changed: []string{"listers/a/v1/thing.go"}, Unchanged: []string{"informers/factory.go"}}
	if diff := cmp.Diff(want, report); diff != "" {
		t.Errorf("report, -want +got:\n%s", diff)
	}
	if modified("informers/factory.go") || !modified("listers/a/v1/thing.go") {
		t.Error("want a new modification time of the changed file only")
	}

	report, err = f.Write()
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Unchanged) != 2 || len(report.Created)+len(report.Changed)+len(report.Removed) != 0 {
		t.Errorf("second run: %+v, want nothing to do", report)
	}
}

func TestWriteRemovesStaleFiles(t *testing.T) {
	root := t.TempDir()
	put(t, root, map[string]string{
		"informers/factory.go":                    generated("", ""),
		"informers/old/group.go":                  generated("", ""),
		"informers/old/v1/thing.go":               generated("example.com/old", ""),
		"informers/old/v1/.informer-gen-thing.go": generated("example.com/old", "// a leftover of an interrupted run"),
		"listers/old/v1/thing.go":                 generated("example.com/old", ""),
		"listers/old/v1/thing_kind.go":            strings.ReplaceAll(generated("example.com/old", ""), "\n", "\r\n"),
		"listers/old/v1/expansion.go":             "package v1\n",
		"listers/old/v1/quote.go":                 "package v1\n\n" + model.HeaderLine + "\n",
		"listers/old/v1/similar.go":               strings.Replace(generated("", ""), "informer-gen", "lister-gen", 1),
		"listers/old/v1/inline.go":                "// " + model.HeaderLine + "\npackage v1\n",
		"listers/old/v1/notes.txt":                generated("", ""),
		"other/thing.go":                          generated("example.com/old", ""),
		"thing.go":                                generated("example.com/old", ""),
		"mine.go":                                 "package mine\n",
		"informers/mine/keep.go":                  "package mine\n",
	})
	report, err := files(root, map[string]string{"informers/factory.go": generated("", "")}).Write()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"informers/old/group.go", "informers/old/v1/.informer-gen-thing.go", "informers/old/v1/thing.go",
		"listers/old/v1/thing.go", "listers/old/v1/thing_kind.go", "thing.go",
	}
	if diff := cmp.Diff(want, report.Removed); diff != "" {
		t.Errorf("removed, -want +got:\n%s", diff)
	}
	var left []string
	for name := range tree(t, root) {
		left = append(left, name)
	}
	slices.Sort(left)
	wantLeft := []string{
		"informers/", "informers/factory.go", "informers/mine/", "informers/mine/keep.go",
		"listers/", "listers/old/", "listers/old/v1/", "listers/old/v1/expansion.go", "listers/old/v1/inline.go",
		"listers/old/v1/notes.txt", "listers/old/v1/quote.go", "listers/old/v1/similar.go",
		"mine.go", "other/", "other/thing.go",
	}
	if diff := cmp.Diff(wantLeft, left); diff != "" {
		t.Errorf("left, -want +got:\n%s", diff)
	}
}

// TestWriteReplacesTheOtherLayout switches from folders to a single one and back.
func TestWriteReplacesTheOtherLayout(t *testing.T) {
	root := t.TempDir()
	mine := map[string]string{"doc.go": "package mine\n", "listers/a/v1/expansion.go": "package v1\n"}
	put(t, root, mine)
	grouped := map[string]string{
		"informers/factory.go":  generated("", "// factory"),
		"listers/a/v1/thing.go": generated("example.com/a", "// thing"),
	}
	single := map[string]string{
		"factory.go": generated("", "// factory"),
		"thing.go":   generated("example.com/a", "// thing"),
	}
	for _, layout := range []map[string]string{grouped, single, grouped} {
		if _, err := files(root, layout).Write(); err != nil {
			t.Fatal(err)
		}
		got := tree(t, root)
		maps.DeleteFunc(got, func(name, _ string) bool { return strings.HasSuffix(name, "/") })
		want := maps.Clone(mine)
		maps.Copy(want, layout)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	if _, err := files(root, map[string]string{"doc.go": generated("", "")}).Write(); err == nil {
		t.Error("a handwritten file in the output folder was overwritten")
	}
}

func TestWriteOfNoFilesRemovesAll(t *testing.T) {
	root := t.TempDir()
	put(t, root, map[string]string{"listers/old/v1/thing.go": generated("example.com/old", "")})
	if _, err := files(root, nil).Write(); err != nil {
		t.Fatal(err)
	}
	if got := tree(t, root); len(got) != 0 {
		t.Errorf("left: %v", got)
	}
}

// TestWriteRefusesToOverwriteForeignFiles has obstacles for Write, which then changes nothing.
func TestWriteRefusesToOverwriteForeignFiles(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{
			name:  "handwritten file",
			files: map[string]string{"listers/a/v1/thing.go": "package v1\n"},
			want:  []string{"generated/listers/a/v1/thing.go: a file without the line", "so it isn't overwritten"},
		},
		{
			name:  "folder",
			files: map[string]string{"listers/a/v1/thing.go/x.go": "package x\n"},
			want:  []string{"generated/listers/a/v1/thing.go: a folder is in the way"},
		},
		{
			name:  "file in the place of a folder",
			files: map[string]string{"listers/a": "text"},
			want:  []string{"generated/listers/a: something other than a folder is in the way"},
		},
		{
			name: "all at once",
			files: map[string]string{
				"listers/a/v1/thing.go": "package v1\n",
				"informers/factory.go":  "// Code generated by informer-gen.\n\npackage informers\n",
			},
			want: []string{"generated/listers/a/v1/thing.go", "generated/informers/factory.go"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			put(t, root, tt.files)
			put(t, root, map[string]string{"listers/stale.go": generated("", "")})
			before := tree(t, root)
			f := files(root, map[string]string{
				"informers/factory.go":  generated("", "// factory"),
				"listers/a/v1/thing.go": generated("example.com/a", "// thing"),
			})
			_, writeErr := f.Write()
			_, diffErr := f.Diff()
			for _, err := range []error{writeErr, diffErr} {
				if err == nil {
					t.Fatal("want an error")
				}
				for _, part := range tt.want {
					if !strings.Contains(err.Error(), part) {
						t.Errorf("the error lacks %q:\n%v", part, err)
					}
				}
			}
			if diff := cmp.Diff(before, tree(t, root)); diff != "" {
				t.Errorf("something was written, -before +after:\n%s", diff)
			}
		})
	}
}

func TestWriteFollowsNoLinks(t *testing.T) {
	root, other := t.TempDir(), t.TempDir()
	put(t, other, map[string]string{"thing.go": generated("", "// elsewhere")})
	put(t, root, map[string]string{"listers/.keep": ""})
	if err := os.Symlink(filepath.Join(other, "thing.go"), filepath.Join(root, "listers", "thing.go")); err != nil {
		if runtime.GOOS == "windows" {
			t.Logf("no links here: %v", err)
			return
		}
		t.Fatal(err)
	}
	if _, err := files(root, map[string]string{"listers/thing.go": generated("", "// new")}).Write(); err == nil {
		t.Error("a link was overwritten")
	}
	if err := os.Symlink(other, filepath.Join(root, "informers")); err != nil {
		t.Fatal(err)
	}
	const want = "generated/informers: a link takes the place of a folder, and its target may belong to others; remove or rename it"
	_, err := files(root, map[string]string{"informers/a.go": generated("", ""), "informers/b/c.go": generated("", "")}).Write()
	if err == nil || err.Error() != want {
		t.Errorf("Write through a linked folder: got %v, want %s", err, want)
	}
	if _, err := files(root, nil).Write(); err != nil {
		t.Error(err)
	}
	if got := tree(t, other)["thing.go"]; got != generated("", "// elsewhere") {
		t.Errorf("the file behind the link is %q", got)
	}
	if _, err := os.Lstat(filepath.Join(root, "listers", "thing.go")); err != nil {
		t.Errorf("the link is gone: %v", err)
	}
}

func TestFilesNeedUniquePaths(t *testing.T) {
	for _, name := range []string{
		"", "factory", "informers", "informers/x", "informers/", "../informers/x.go", "informers/../x.go", "/informers/x.go", "cmd/x.go",
		"informers//x.go", "./x.go", "informers/.go/",
	} {
		if err := (Folder{Root: t.TempDir(), Files: []model.File{{Path: name}}}).check(); err == nil {
			t.Errorf("check of path %q: want an error", name)
		}
	}
	twice := []model.File{{Path: "informers/x.go"}, {Path: "informers/x.go"}}
	if err := (Folder{Root: t.TempDir(), Files: twice}).check(); err == nil {
		t.Error("check of a repeated path: want an error")
	}
}
