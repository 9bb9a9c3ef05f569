// SPDX-License-Identifier: Apache-2.0

package output

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/informer-gen/informer-gen/internal/generator/model"
)

// TestFailedWriteKeepsOldFiles has a run that can't write its last file: the old files must remain,
// without others.
func TestFailedWriteKeepsOldFiles(t *testing.T) {
	root := t.TempDir()
	blocked := "listers/" + tempName("thing.go") + "/x"
	put(t, root, map[string]string{
		"informers/factory.go": generated("", "// old"),
		"listers/stale.go":     generated("", ""),
		blocked:                "a folder in the place of the temporary file",
	})
	before := tree(t, root)
	report, err := files(root, map[string]string{
		"informers/factory.go": generated("", "// new"),
		"informers/missing.go": generated("", ""),
		"listers/thing.go":     generated("", ""),
	}).Write()
	if err == nil || len(report.Changed)+len(report.Created)+len(report.Removed) != 0 {
		t.Fatalf("Write = %+v, %v, want an error", report, err)
	}
	if diff := cmp.Diff(before, tree(t, root)); diff != "" {
		t.Errorf("tree, -before +after:\n%s", diff)
	}
}

// A killed run leaves incomplete temporary files. Only the next Write deals with them.
func TestWriteRemovesFilesOfInterruptedRuns(t *testing.T) {
	root := t.TempDir()
	want := map[string]string{"informers/factory.go": generated("", "")}
	put(t, root, want)
	put(t, root, map[string]string{
		"informers/.informer-gen-1-factory.go": "",
		"listers/v1/.informer-gen-22-thing.go": model.HeaderLine[:10],
		".informer-gen-333-factory.go":         generated("", ""),
		"informers/.informer-gen-x.go":         "package mine\n",
		"listers/v1/.informer-gen-1-notes.txt": "mine",
	})
	f := files(root, want)
	if changes, err := f.Diff(); err != nil || len(changes) > 0 {
		t.Errorf("Diff = %v, %v, want nothing", changes, err)
	}
	report, err := f.Write()
	if diff := cmp.Diff(Report{Unchanged: []string{"informers/factory.go"}}, report); diff != "" || err != nil {
		t.Errorf("report, -want +got:\n%s%v", diff, err)
	}
	if diff := cmp.Diff(map[string]string{
		"informers/":                           "",
		"informers/factory.go":                 generated("", ""),
		"informers/.informer-gen-x.go":         "package mine\n",
		"listers/":                             "",
		"listers/v1/":                          "",
		"listers/v1/.informer-gen-1-notes.txt": "mine",
	}, tree(t, root)); diff != "" {
		t.Errorf("tree, -want +got:\n%s", diff)
	}
}

// The second of two runs ends before the first renames its temporary files.
func TestWriteToleratesAConcurrentRun(t *testing.T) {
	root := t.TempDir()
	f := files(root, map[string]string{"informers/factory.go": generated("", "// a"), "listers/v1/thing.go": generated("", "// b")})
	first, err := f.plan()
	if err != nil {
		t.Fatal(err)
	}
	open, err := os.OpenRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	s := staged{root: open, folders: map[string]*os.Root{}, temporary: map[string]string{}}
	defer s.discard()
	for _, file := range first.files {
		if err := s.stage(file); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.Write(); err != nil {
		t.Fatalf("the second run: %v", err)
	}
	want := tree(t, root)
	for _, file := range first.files {
		if err := s.publish(file); err != nil {
			t.Fatalf("the first run: %v", err)
		}
	}
	if diff := cmp.Diff(want, tree(t, root)); diff != "" {
		t.Errorf("tree, -want +got:\n%s", diff)
	}
}

func TestWriteRefusesAFileAsFolder(t *testing.T) {
	root := filepath.Join(t.TempDir(), "file")
	put(t, filepath.Dir(root), map[string]string{"file": "text"})
	f := files(root, map[string]string{"informers/factory.go": generated("", "")})
	if _, err := f.Write(); err == nil || !strings.Contains(err.Error(), "not a folder") {
		t.Errorf("Write to a file: %v", err)
	}
	if _, err := Existing(root); err == nil {
		t.Error("Existing of a file: want an error")
	}
}
