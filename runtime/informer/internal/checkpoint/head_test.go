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

// advance calls Advance with a later version of a state, which it returns.
func advance(t testing.TB, f *File, state State, version string) State {
	t.Helper()
	state.ResourceVersion, state.Saved = version, state.Saved.Add(time.Minute)
	if ok, err := f.Advance(state); !ok || err != nil {
		t.Fatal(ok, err)
	}
	return state
}

// TestAdvanceWritesOnlyTheVersion advances in the process that has written the objects, and in
// those that have read them.
func TestAdvanceWritesOnlyTheVersion(t *testing.T) {
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
			t.Fatalf("Read() = %d objects, %v, %v; want %v", len(got), read, err, state)
		}
	}
	if after, err := os.ReadFile(f.Path()); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the objects were written again, %v", err)
	}
	if info, err := os.Stat(f.Path() + versionExtension); err != nil || info.Size() > 200 || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("Stat of the version file: %v, %v", info, err)
	}
}

// TestVersionFileBelongsToItsObjects shows that Read ignores the version file of other objects, and
// that Advance does not write one for them.
func TestVersionFileBelongsToItsObjects(t *testing.T) {
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
		t.Errorf("Advance of replaced objects = %v, %v, want false", ok, err)
	}
	// As if the process had been killed between the two files, or two had written at once.
	if err := os.WriteFile(mine.Path()+versionExtension, left, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, now, err := read(mine); err != nil || now != theirs || len(got) != 2 {
		t.Errorf("Read() = %d objects, %v, %v; want 2, %v", len(got), now, err, theirs)
	}
	if err := os.Remove(mine.Path()); err != nil {
		t.Fatal(err)
	}
	if ok, err := mine.Advance(state); ok || err != nil {
		t.Errorf("Advance without objects = %v, %v, want false", ok, err)
	}
	if ok, err := newFile(Config{Dir: filepath.Join(c.Dir, "new")}).Advance(state); ok || err != nil {
		t.Errorf("Advance of a new File = %v, %v, want false", ok, err)
	}
}
