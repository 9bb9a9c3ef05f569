// SPDX-License-Identifier: Apache-2.0

package memo

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

func TestRun(t *testing.T) {
	dir, folder := t.TempDir(), filepath.Join(t.TempDir(), "deep", "memories")
	writeOld(t, dir, map[string]string{"input": "a"})
	places := []Place{{Kind: File, Path: filepath.Join(dir, "input")}}
	run := Begin(folder, "program", "flags")
	if _, ok := run.Unchanged(); ok {
		t.Fatal("nothing is remembered yet")
	}
	if err := run.Remember(places, []byte("note")); err != nil {
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

func TestARunWithoutPlacesIsNotRemembered(t *testing.T) {
	folder := t.TempDir()
	if err := Begin(folder).Remember(nil, nil); err != nil {
		t.Fatal(err)
	}
	if unchanged(folder) {
		t.Error("there is nothing that could be unchanged")
	}
}

func TestPlaces(t *testing.T) {
	for _, tc := range []struct {
		place Place
		// files are there; each change writes a file or, with a minus, removes it.
		files         string
		seen, notSeen []string
	}{
		{Place{Kind: File, Path: "a"}, "a", []string{"a", "-a"}, []string{"b"}},
		{Place{Kind: File, Path: "b"}, "a", []string{"b"}, []string{"a"}},
		{Place{Kind: Folder, Path: "d", Endings: []string{".yaml", ".json"}}, "d/a.yaml d/b.go d/e/a.yaml",
			[]string{"d/a.yaml", "-d/a.yaml", "d/c.json"}, []string{"d/b.go", "d/e/a.yaml", "a.yaml"}},
		{Place{Kind: Folder, Path: "d", Endings: []string{""}}, "d/a", []string{"d/a", "d/b", "-d/a"}, []string{"a"}},
		{Place{Kind: Package, Path: "d"}, "d/a.go d/a_test.go d/e/a.go",
			[]string{"d/a.go", "d/b.go", "-d/a.go"}, []string{"d/a_test.go", "d/README", "d/e/a.go"}},
		{Place{Kind: Package, Path: "d"}, "a", []string{"d/a.go"}, []string{"b.go"}},
		{Place{Kind: Below, Path: "d"}, "d/a d/e/b.txt", []string{"d/a", "d/e/b.txt", "d/e/f/c", "-d/e/b.txt"}, []string{"a"}},
		{Place{Kind: Below, Path: "d"}, "a", []string{"d/a"}, nil},
		{Place{Kind: Below, Path: "d", Endings: []string{".yaml"}}, "d/a.yaml d/e/b.yaml",
			[]string{"d/a.yaml", "d/e/b.yaml", "d/e/f/c.yaml", "-d/e/b.yaml"}, []string{"d/a", "d/e/f", "d/.git/a.yaml", "a.yaml"}},
		{Place{Kind: Tree, Path: "d", Except: []string{"d/x", "d/z/..."}}, "d/a.go d/e/README d/x/a.go d/x/y/a.go d/z/a.go d/z/z/a.go",
			[]string{"d/a.go", "d/b.go", "d/e/a.go", "d/f/a.go", "d/x/y/a.go", "d/z/a.go", "-d/a.go"},
			[]string{"d/e/a_test.go", "d/f/README", "d/testdata/a.go", "d/vendor/a.go", "d/_e/a.go", "d/.e/a.go", "d/x/a.go", "d/z/z/a.go", "a.go"}},
		{Place{Kind: Tree, Path: "d"}, "d/go.mod d/e/a.go d/m/go.mod d/m/a.go", []string{"d/e/go.mod", "-d/m/go.mod"}, []string{"d/m/b/a.go", "d/go.mod"}},
		{Place{Kind: Tree, Path: "d"}, "a", []string{"d/a.go"}, nil},
	} {
		for _, change := range append(tc.seen, tc.notSeen...) {
			dir, folder := t.TempDir(), t.TempDir()
			for name := range strings.FieldsSeq(tc.files) {
				writeOld(t, dir, map[string]string{name: "text"})
			}
			place := tc.place
			place.Path = filepath.Join(dir, place.Path)
			place.Except = nil
			for _, except := range tc.place.Except {
				place.Except = append(place.Except, filepath.Join(dir, except))
			}
			if err := Begin(folder).Remember([]Place{place}, nil); err != nil {
				t.Errorf("%s %s: %v", place.Kind, tc.files, err)
			}
			if !unchanged(folder) {
				t.Errorf("%s %s: changed before anything was", place.Kind, tc.files)
			}
			if name, ok := strings.CutPrefix(change, "-"); ok {
				if err := os.Remove(filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
			} else {
				writeOld(t, dir, map[string]string{change: "other text"})
			}
			if want := slices.Contains(tc.notSeen, change); unchanged(folder) != want {
				t.Errorf("%s %s with %s: unchanged is %v, want %v", place.Kind, tc.files, change, !want, want)
			}
		}
	}
}

// TestMoving has places that may have changed after the run has seen them.
func TestMoving(t *testing.T) {
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
		place Place
		watch bool
		moves bool
	}{
		"old":                        {place: Place{Kind: Package, Path: at("old")}},
		"new":                        {place: Place{Kind: Package, Path: at("new")}, moves: true},
		"new, but watched":           {place: Place{Kind: Package, Path: at("new")}, watch: true},
		"new, but seen":              {place: Place{Kind: Package, Path: at("new"), Seen: map[string]Sum{"a.go": text}}},
		"other content was seen":     {place: Place{Kind: Package, Path: at("old"), Seen: map[string]Sum{"a.go": other}}, moves: true},
		"a file that was seen":       {place: Place{Kind: Package, Path: at("old"), Seen: map[string]Sum{"a.go": text, "b.go": text}}, moves: true},
		"written":                    {place: Place{Kind: Below, Path: at("new"), Written: true, Seen: map[string]Sum{"a.go": text}}},
		"written by someone else":    {place: Place{Kind: Below, Path: at("new"), Written: true, Seen: map[string]Sum{"a.go": other}}, moves: true},
		"written with Windows' ends": {place: Place{Kind: Below, Path: at("windows"), Written: true, Seen: map[string]Sum{"a.go": lines}}},
		"no such folder":             {place: Place{Kind: Package, Path: at("none")}},
		"a tree":                     {place: Place{Kind: Tree, Path: dir, Seen: map[string]Sum{"new/a.go": text, "../gone.go": text}}},
		"a tree with a new folder":   {place: Place{Kind: Tree, Path: dir, Seen: map[string]Sum{"old/a.go": text}}, moves: true},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			run := Begin(folder)
			if tc.watch {
				run.Watch(tc.place)
			}
			err := run.Remember([]Place{tc.place}, nil)
			if tc.moves != errors.Is(err, ErrMoving) || !tc.moves && err != nil {
				t.Errorf("got %v", err)
			}
			if unchanged(folder) == tc.moves {
				t.Errorf("remembered: %v", !tc.moves)
			}
		})
	}
	t.Run("watched", func(t *testing.T) {
		folder := t.TempDir()
		run := Begin(folder)
		place := Place{Kind: File, Path: at("watched")}
		run.Watch(place)
		writeOld(t, dir, map[string]string{"watched": "its time says nothing"})
		if err := run.Remember([]Place{place}, nil); !errors.Is(err, ErrMoving) {
			t.Errorf("got %v", err)
		}
	})
}

func TestAnEarlierRunsPlacesAreWatched(t *testing.T) {
	dir, folder := t.TempDir(), t.TempDir()
	place := Place{Kind: File, Path: filepath.Join(dir, "a")}
	writeOld(t, dir, map[string]string{"a": "1"})
	if err := Begin(folder).Remember([]Place{place}, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(place.Path, []byte("2"), 0o644); err != nil {
		t.Fatal(err)
	}
	run := Begin(folder)
	if _, ok := run.Unchanged(); ok {
		t.Fatal("the change isn't seen")
	}
	run.Watch()
	if err := run.Remember([]Place{place}, nil); err != nil {
		t.Errorf("a file that was just written, but before the run: %v", err)
	}
}

// TestDamage has files that aren't what Remember has written.
func TestDamage(t *testing.T) {
	dir, folder := t.TempDir(), t.TempDir()
	writeOld(t, dir, map[string]string{"a": "1"})
	run := Begin(folder, "key")
	place := Place{Kind: File, Path: filepath.Join(dir, "a")}
	if err := run.Remember([]Place{place}, nil); err != nil {
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
	foreign := []byte(`{"Key":"other","Places":[{"Kind":"file","Path":"/none","Sum":""}]}`)
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
		t.Error("a folder is no memory")
	}
}

func TestNoFolder(t *testing.T) {
	dir := t.TempDir()
	writeOld(t, dir, map[string]string{"file": ""})
	run := Begin(filepath.Join(dir, "file"))
	if _, ok := run.Unchanged(); ok {
		t.Error("nothing can be remembered there")
	}
	if err := run.Remember([]Place{{Kind: File, Path: dir + "/file"}}, nil); err == nil {
		t.Error("want an error")
	}
}

func TestOldMemoriesAreForgotten(t *testing.T) {
	dir, folder := t.TempDir(), t.TempDir()
	writeOld(t, dir, map[string]string{"a": "1"})
	places := []Place{{Kind: File, Path: filepath.Join(dir, "a")}}
	begun := time.Now().Add(-time.Hour)
	for i := range most + 20 {
		run := Begin(folder, fmt.Sprint(i))
		if err := run.Remember(places, nil); err != nil {
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
			t.Fatalf("after %d others, the memory that was used last is forgotten", i)
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != most+1 {
		t.Errorf("%d files are left, %v; want %d and someone else's", len(entries), err, most)
	}
	if unchanged(folder, "5") || !unchanged(folder, fmt.Sprint(most+19)) {
		t.Error("the wrong ones are forgotten")
	}
}

func TestRunsSideBySide(t *testing.T) {
	dir, folder := t.TempDir(), t.TempDir()
	writeOld(t, dir, map[string]string{"a": "1"})
	places := []Place{{Kind: File, Path: filepath.Join(dir, "a")}}
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			for range 30 {
				run := Begin(folder)
				note, ok := run.Unchanged()
				if ok && !strings.HasPrefix(string(note), "note ") {
					t.Errorf("half a memory: %q", note)
				}
				if err := run.Remember(places, fmt.Appendf(nil, "note %d %s", i, strings.Repeat("x", 1<<12))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	if !unchanged(folder) {
		t.Error("nothing is remembered")
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 1 {
		t.Errorf("left: %v, %v", entries, err)
	}
}
