// SPDX-License-Identifier: Apache-2.0

package checkpoint

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"
	"time"
)

// advance records that the objects of a state are those of another version, too.
func advance(t testing.TB, f *File, state State, version string) State {
	t.Helper()
	state.ResourceVersion, state.Saved = version, state.Saved.Add(time.Minute)
	if ok, err := f.Advance(state); !ok || err != nil {
		t.Fatal(ok, err)
	}
	return state
}

// TestTheVersionAlone is written without the objects, by the process that has written them and by
// one that has read them.
func TestTheVersionAlone(t *testing.T) {
	c := Config{Dir: t.TempDir()}
	f, all := newFile(c), pods(100)
	state := write(t, f, "101", all)
	before, err := os.ReadFile(f.Path())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		state = advance(t, f, state, fmt.Sprint(200+i))
		f = newFile(c) // another process
		if got, read, err := read(f); err != nil || read != state || !reflect.DeepEqual(got, all) {
			t.Fatalf("%d objects, %v in place of %v, %v", len(got), read, state, err)
		}
	}
	if after, err := os.ReadFile(f.Path()); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the objects were written again, %v", err)
	}
	if info, err := os.Stat(f.Path() + versionExtension); err != nil || info.Size() > 200 || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the file of the version: %v, %v", info, err)
	}
}

// TestAVersionIsThatOfItsObjects: one that is left of other objects is not believed, and none is
// written for them.
func TestAVersionIsThatOfItsObjects(t *testing.T) {
	c := Config{Dir: t.TempDir()}
	mine, other := newFile(c), newFile(c)
	state := write(t, mine, "10", pods(1))
	advance(t, mine, state, "11")
	left, err := os.ReadFile(mine.Path() + versionExtension)
	if err != nil {
		t.Fatal(err)
	}
	theirs := write(t, other, "9", pods(2))
	if ok, err := mine.Advance(state); ok || err != nil {
		t.Errorf("the version of objects that are gone is written: %v, %v", ok, err)
	}
	// As if the process was killed between the two files, or both were written at one time.
	if err := os.WriteFile(mine.Path()+versionExtension, left, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, now, err := read(mine); err != nil || now != theirs || len(got) != 2 {
		t.Errorf("%d objects at %v, %v", len(got), now, err)
	}
	if err := os.Remove(mine.Path()); err != nil {
		t.Fatal(err)
	}
	if ok, err := mine.Advance(state); ok || err != nil {
		t.Errorf("there is a version and no objects: %v, %v", ok, err)
	}
	if ok, err := newFile(Config{Dir: filepath.Join(c.Dir, "new")}).Advance(state); ok || err != nil {
		t.Errorf("there is a version and nothing else: %v, %v", ok, err)
	}
}
