// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin

package checkpoint

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// inChild runs the calling test in a child process. It returns true in the child.
func inChild(t *testing.T, attr *syscall.SysProcAttr) bool {
	t.Helper()
	const env = "CHECKPOINT_TEST_CHILD"
	if os.Getenv(env) != "" {
		return true
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	child.Env, child.SysProcAttr = append(os.Environ(), env+"=1"), attr
	out, err := child.CombinedOutput()
	switch {
	case attr != nil && (errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOSPC)):
		t.Skip("no namespaces here: ", err)
	case err != nil:
		t.Fatalf("the child process: %v\n%s", err, out)
	case strings.Contains(string(out), "--- SKIP"):
		t.Skipf("%s", out)
	}
	return false
}

// wantState asserts that the file has a state and its objects, and that its directory has so many
// files.
func wantState(t *testing.T, f *File, want State, files int) {
	t.Helper()
	objects, state, err := read(f)
	if err != nil || state != want || len(objects) != want.Objects {
		t.Fatalf("Read() = %d objects, %+v, %v; want %+v", len(objects), state, err, want)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(f.Path()), "*")); err != nil || len(left) != files {
		t.Fatalf("the directory has %q, %v; want %d files", left, err, files)
	}
}

// TestWriteToAFullDisk shows that a Write that fails at any byte returns an error, keeps the old
// state and leaves no other file.
func TestWriteToAFullDisk(t *testing.T) {
	if !inChild(t, nil) {
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	f := newFile(Config{Dir: t.TempDir()})
	old := advance(t, f, write(t, f, "17", pods(2)), "18")
	all := pods(3)
	other := newFile(Config{Dir: t.TempDir()})
	size := write(t, other, "20", all).Bytes
	next := old
	next.ResourceVersion, next.Objects = "20", len(all)
	for n := range size {
		withFileLimit(t, uint64(n), func() {
			if _, err := f.Write(next, slices.Values(all)); !errors.Is(err, syscall.EFBIG) {
				t.Fatalf("Write with %d bytes of space: %v, want EFBIG", n, err)
			}
		})
		wantState(t, f, old, 2)
	}
	info, err := os.Stat(f.Path() + versionExtension)
	if err != nil {
		t.Fatal(err)
	}
	for n := range info.Size() {
		withFileLimit(t, uint64(n), func() {
			later := old
			later.ResourceVersion = "19"
			if ok, err := f.Advance(later); ok || !errors.Is(err, syscall.EFBIG) {
				t.Fatalf("Advance with %d bytes of space = %v, %v, want EFBIG", n, ok, err)
			}
		})
		wantState(t, f, old, 2)
	}
	wantState(t, f, advance(t, f, old, "20"), 2)
}

// withFileLimit calls do while files can't have more than size bytes.
func withFileLimit(t *testing.T, size uint64, do func()) {
	t.Helper()
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
			t.Fatal(err)
		}
	}()
	do()
}

// TestWriteReplacesSymlinks shows that Write and Advance replace symbolic links, and don't follow
// them.
func TestWriteReplacesSymlinks(t *testing.T) {
	f := newFile(Config{Dir: t.TempDir()})
	target := filepath.Join(t.TempDir(), "target")
	if err := os.WriteFile(target, []byte(strings.Repeat("theirs ", 9)), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{f.Path(), f.Path() + versionExtension} {
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := read(f); !errors.Is(err, errNotCheckpoint) {
		t.Errorf("Read of a link to another file: %v", err)
	}
	state := write(t, f, "1", pods(1))
	wantState(t, f, state, 1)
	if err := os.Symlink(target, f.Path()+versionExtension); err != nil {
		t.Fatal(err)
	}
	wantState(t, f, advance(t, f, state, "2"), 2)
	if b, err := os.ReadFile(target); err != nil || string(b) != strings.Repeat("theirs ", 9) {
		t.Errorf("the target is %q, %v", b, err)
	}
}

// TestWriteFailsIfTheVersionFileStays has a version file that Write can't remove. With it, no
// informer could read the objects.
func TestWriteFailsIfTheVersionFileStays(t *testing.T) {
	f := newFile(Config{Dir: t.TempDir()})
	if err := os.MkdirAll(filepath.Join(f.Path()+versionExtension, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(State{ResourceVersion: "1"}, slices.Values(pods(0))); err == nil {
		_, _, unread := read(f)
		t.Errorf("Write() = nil, Read() = %v; want an error of Write", unread)
	}
}

// TestWriteFailsIfTheFileIsADirectory shows that the failed Write leaves no file behind.
func TestWriteFailsIfTheFileIsADirectory(t *testing.T) {
	f := newFile(Config{Dir: t.TempDir()})
	if err := os.Mkdir(f.Path(), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(State{ResourceVersion: "1"}, slices.Values(pods(0))); err == nil {
		t.Error("Write() = nil, want an error")
	}
	if left, err := filepath.Glob(f.Path() + "*"); err != nil || len(left) != 1 {
		t.Errorf("the directory has %q, %v; want only the directory of the test", left, err)
	}
}
