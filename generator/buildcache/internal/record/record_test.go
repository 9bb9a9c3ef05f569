// SPDX-License-Identifier: Apache-2.0

package record

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// writeOld puts files below dir that are older than any run.
func writeOld(t *testing.T, dir string, contents map[string]string) {
	t.Helper()
	old := time.Now().Add(-time.Hour)
	for name, content := range contents {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, old, old); err != nil {
			t.Fatal(err)
		}
	}
}

func unchanged(folder string, parts ...string) bool {
	_, ok := Begin(folder, parts...).Unchanged()
	return ok
}

func TestKeyAndFilesDecideWhetherARunIsUnchanged(t *testing.T) {
	dir, folder := t.TempDir(), filepath.Join(t.TempDir(), "deep", "records")
	writeOld(t, dir, map[string]string{"input": "a"})
	sets := []FileSet{{Reach: File, Path: filepath.Join(dir, "input")}}
	run := Begin(folder, "program", "flags")
	if _, ok := run.Unchanged(); ok {
		t.Fatal("nothing is recorded yet")
	}
	if err := run.Save(sets, []byte("note")); err != nil {
		t.Fatal(err)
	}
	if note, ok := Begin(folder, "program", "flags").Unchanged(); !ok || string(note) != "note" {
		t.Errorf("got %q, %v", note, ok)
	}
	for _, parts := range [][]string{{"program", "other"}, {"program"}, {"programflags"}, {"program", "flags", ""}, {"program\n5\nflags"}} {
		if unchanged(folder, parts...) {
			t.Errorf("%q are other parts", parts)
		}
	}
	writeOld(t, dir, map[string]string{"input": "b"})
	if unchanged(folder, "program", "flags") {
		t.Error("the change isn't seen")
	}
}

func TestARunWithoutFilesIsNotRecorded(t *testing.T) {
	folder := t.TempDir()
	if err := Begin(folder).Save(nil, nil); err != nil {
		t.Fatal(err)
	}
	if unchanged(folder) {
		t.Error("there is nothing that could be unchanged")
	}
}

func TestWhatCountsAboutFileSets(t *testing.T) {
	for _, tc := range []struct {
		set FileSet
		// files are there; each change writes a file or, with a minus, removes it.
		files         string
		seen, notSeen []string
	}{
		{FileSet{Reach: File, Path: "a"}, "a", []string{"a", "-a"}, []string{"b"}},
		{FileSet{Reach: File, Path: "b"}, "a", []string{"b"}, []string{"a"}},
		{FileSet{Reach: Folder, Path: "d", Endings: []string{".yaml", ".json"}}, "d/a.yaml d/b.go d/e/a.yaml",
			[]string{"d/a.yaml", "-d/a.yaml", "d/c.json"}, []string{"d/b.go", "d/e/a.yaml", "a.yaml"}},
		{FileSet{Reach: Folder, Path: "d", Endings: []string{""}}, "d/a", []string{"d/a", "d/b", "-d/a"}, []string{"a"}},
		{FileSet{Reach: Package, Path: "d"}, "d/a.go d/a_test.go d/e/a.go",
			[]string{"d/a.go", "d/b.go", "-d/a.go"}, []string{"d/a_test.go", "d/README", "d/e/a.go"}},
		{FileSet{Reach: Package, Path: "d"}, "a", []string{"d/a.go"}, []string{"b.go"}},
		{FileSet{Reach: Below, Path: "d"}, "d/a d/e/b.txt", []string{"d/a", "d/e/b.txt", "d/e/f/c", "-d/e/b.txt"}, []string{"a"}},
		{FileSet{Reach: Below, Path: "d"}, "a", []string{"d/a"}, nil},
		{FileSet{Reach: Below, Path: "d", Endings: []string{".yaml"}}, "d/a.yaml d/e/b.yaml",
			[]string{"d/a.yaml", "d/e/b.yaml", "d/e/f/c.yaml", "-d/e/b.yaml"}, []string{"d/a", "d/e/f", "d/.git/a.yaml", "a.yaml"}},
		{FileSet{Reach: Tree, Path: "d", Except: []string{"d/x", "d/z/..."}}, "d/a.go d/e/README d/x/a.go d/x/y/a.go d/z/a.go d/z/z/a.go",
			[]string{"d/a.go", "d/b.go", "d/e/a.go", "d/f/a.go", "d/x/y/a.go", "d/z/a.go", "-d/a.go"},
			[]string{"d/e/a_test.go", "d/f/README", "d/testdata/a.go", "d/vendor/a.go", "d/_e/a.go", "d/.e/a.go", "d/x/a.go", "d/z/z/a.go", "a.go"}},
		{FileSet{Reach: Tree, Path: "d"}, "d/go.mod d/e/a.go d/m/go.mod d/m/a.go", []string{"d/e/go.mod", "-d/m/go.mod"}, []string{"d/m/b/a.go", "d/go.mod"}},
		{FileSet{Reach: Tree, Path: "d"}, "a", []string{"d/a.go"}, nil},
	} {
		for _, change := range append(tc.seen, tc.notSeen...) {
			dir, folder := t.TempDir(), t.TempDir()
			for name := range strings.FieldsSeq(tc.files) {
				writeOld(t, dir, map[string]string{name: "text"})
			}
			set := tc.set
			set.Path = filepath.Join(dir, set.Path)
			set.Except = nil
			for _, except := range tc.set.Except {
				set.Except = append(set.Except, filepath.Join(dir, except))
			}
			if err := Begin(folder).Save([]FileSet{set}, nil); err != nil {
				t.Errorf("%s %s: %v", set.Reach, tc.files, err)
			}
			if !unchanged(folder) {
				t.Errorf("%s %s: changed before anything was", set.Reach, tc.files)
			}
			if name, ok := strings.CutPrefix(change, "-"); ok {
				if err := os.Remove(filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
			} else {
				writeOld(t, dir, map[string]string{change: "other text"})
			}
			if want := slices.Contains(tc.notSeen, change); unchanged(folder) != want {
				t.Errorf("%s %s with %s: unchanged is %v, want %v", set.Reach, tc.files, change, !want, want)
			}
		}
	}
}

// TestFilesThatMayHaveChangedAreNotRecorded has files that may have changed after the run has seen
// them.
func TestFilesThatMayHaveChangedAreNotRecorded(t *testing.T) {
	dir := t.TempDir()
	text := Sum(sha256.Sum256([]byte("text")))
	other := Sum(sha256.Sum256([]byte("other")))
	at := func(name string) string { return filepath.Join(dir, name) }
	writeOld(t, dir, map[string]string{"old/a.go": "text", "windows/a.go": "te\r\nxt"})
	fresh := func(name string) {
		t.Helper()
		writeOld(t, dir, map[string]string{name: "text"})
		// however long the test takes
		if err := os.Chtimes(at(name), time.Time{}, time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	fresh("new/a.go")
	lines := Sum(sha256.Sum256([]byte("te\nxt")))
	for name, tc := range map[string]struct {
		set   FileSet
		watch bool
		moves bool
	}{
		"old":                        {set: FileSet{Reach: Package, Path: at("old")}},
		"new":                        {set: FileSet{Reach: Package, Path: at("new")}, moves: true},
		"new, but watched":           {set: FileSet{Reach: Package, Path: at("new")}, watch: true},
		"new, but seen":              {set: FileSet{Reach: Package, Path: at("new"), Seen: map[string]Sum{"a.go": text}}},
		"other content was seen":     {set: FileSet{Reach: Package, Path: at("old"), Seen: map[string]Sum{"a.go": other}}, moves: true},
		"a file that was seen":       {set: FileSet{Reach: Package, Path: at("old"), Seen: map[string]Sum{"a.go": text, "b.go": text}}, moves: true},
		"written":                    {set: FileSet{Reach: Below, Path: at("new"), Written: true, Seen: map[string]Sum{"a.go": text}}},
		"written by someone else":    {set: FileSet{Reach: Below, Path: at("new"), Written: true, Seen: map[string]Sum{"a.go": other}}, moves: true},
		"written with Windows' ends": {set: FileSet{Reach: Below, Path: at("windows"), Written: true, Seen: map[string]Sum{"a.go": lines}}},
		"no such folder":             {set: FileSet{Reach: Package, Path: at("none")}},
		"a tree":                     {set: FileSet{Reach: Tree, Path: dir, Seen: map[string]Sum{"new/a.go": text, "../gone.go": text}}},
		"a tree with a new folder":   {set: FileSet{Reach: Tree, Path: dir, Seen: map[string]Sum{"old/a.go": text}}, moves: true},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			run := Begin(folder)
			if tc.watch {
				run.Watch(tc.set)
			}
			err := run.Save([]FileSet{tc.set}, nil)
			if tc.moves != errors.Is(err, ErrMoving) || !tc.moves && err != nil {
				t.Errorf("got %v", err)
			}
			if unchanged(folder) == tc.moves {
				t.Errorf("recorded: %v", !tc.moves)
			}
		})
	}
	t.Run("watched", func(t *testing.T) {
		folder := t.TempDir()
		run := Begin(folder)
		set := FileSet{Reach: File, Path: at("watched")}
		run.Watch(set)
		writeOld(t, dir, map[string]string{"watched": "its time says nothing"})
		if err := run.Save([]FileSet{set}, nil); !errors.Is(err, ErrMoving) {
			t.Errorf("got %v", err)
		}
	})
}

func TestAnEarlierRunsFilesAreWatched(t *testing.T) {
	dir, folder := t.TempDir(), t.TempDir()
	set := FileSet{Reach: File, Path: filepath.Join(dir, "a")}
	writeOld(t, dir, map[string]string{"a": "1"})
	if err := Begin(folder).Save([]FileSet{set}, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(set.Path, []byte("2"), 0o644); err != nil {
		t.Fatal(err)
	}
	run := Begin(folder)
	if _, ok := run.Unchanged(); ok {
		t.Fatal("the change isn't seen")
	}
	run.Watch()
	if err := run.Save([]FileSet{set}, nil); err != nil {
		t.Errorf("a file that was just written, but before the run: %v", err)
	}
}

// TestDamagedRecordsAreAsGoodAsNone has files that aren't what Save has written.
func TestDamagedRecordsAreAsGoodAsNone(t *testing.T) {
	dir, folder := t.TempDir(), t.TempDir()
	writeOld(t, dir, map[string]string{"a": "1"})
	run := Begin(folder, "key")
	set := FileSet{Reach: File, Path: filepath.Join(dir, "a")}
	if err := run.Save([]FileSet{set}, nil); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(run.file)
	if err != nil {
		t.Fatal(err)
	}
	try := func(name string, content []byte) {
		if err := os.WriteFile(run.file, content, 0o644); err != nil {
			t.Fatal(err)
		}
		if unchanged(folder, "key") != (string(content) == string(whole)) {
			t.Errorf("%s: unchanged", name)
		}
	}
	for i := range whole {
		damaged := append([]byte{}, whole...)
		damaged[i] ^= 1
		try(fmt.Sprint("another bit in byte ", i), damaged)
		try(fmt.Sprint("the first ", i, " bytes"), whole[:i])
	}
	foreign := []byte(`{"Key":"other","Sets":[{"Reach":"file","Path":"/none","Hash":""}]}`)
	try("someone else's", foreign)
	try("of another key", append([]byte(checkOf(foreign)+"\n"), foreign...))
	try("whole again", whole)
	if err := os.Remove(run.file); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(run.file, 0o755); err != nil {
		t.Fatal(err)
	}
	if unchanged(folder, "key") {
		t.Error("a folder is no record")
	}
}

func TestSaveFailsWhereNoFolderCanBe(t *testing.T) {
	dir := t.TempDir()
	writeOld(t, dir, map[string]string{"file": ""})
	run := Begin(filepath.Join(dir, "file"))
	if _, ok := run.Unchanged(); ok {
		t.Error("nothing can be recorded there")
	}
	if err := run.Save([]FileSet{{Reach: File, Path: dir + "/file"}}, nil); err == nil {
		t.Error("want an error")
	}
}

func TestRecordsUsedLongestAgoAreRemoved(t *testing.T) {
	dir, folder := t.TempDir(), t.TempDir()
	writeOld(t, dir, map[string]string{"a": "1"})
	sets := []FileSet{{Reach: File, Path: filepath.Join(dir, "a")}}
	begun := time.Now().Add(-time.Hour)
	for i := range most + 20 {
		run := Begin(folder, fmt.Sprint(i))
		if err := run.Save(sets, nil); err != nil {
			t.Fatal(err)
		}
		at := begun.Add(time.Duration(i) * time.Second)
		if err := os.Chtimes(run.file, at, at); err != nil {
			t.Fatal(err)
		}
		if i == 10 {
			writeOld(t, folder, map[string]string{temporary + "1": "left by a run that was interrupted", "README": "someone else's"})
			past := begun.Add(-time.Hour)
			if err := os.Chtimes(filepath.Join(folder, temporary+"1"), past, past); err != nil {
				t.Fatal(err)
			}
		}
		if !unchanged(folder, "0") { // which makes it the youngest
			t.Fatalf("after %d others, the record that was used last is removed", i)
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != most+1 {
		t.Errorf("%d files are left, %v; want %d and someone else's", len(entries), err, most)
	}
	if unchanged(folder, "5") || !unchanged(folder, fmt.Sprint(most+19)) {
		t.Error("the wrong ones are removed")
	}
}

func TestRunsSideBySide(t *testing.T) {
	dir, folder := t.TempDir(), t.TempDir()
	writeOld(t, dir, map[string]string{"a": "1"})
	sets := []FileSet{{Reach: File, Path: filepath.Join(dir, "a")}}
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			for range 30 {
				run := Begin(folder)
				note, ok := run.Unchanged()
				if ok && !strings.HasPrefix(string(note), "note ") {
					t.Errorf("half a record: %q", note)
				}
				if err := run.Save(sets, fmt.Appendf(nil, "note %d %s", i, strings.Repeat("x", 1<<12))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	if !unchanged(folder) {
		t.Error("nothing is recorded")
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 1 {
		t.Errorf("left: %v, %v", entries, err)
	}
}
