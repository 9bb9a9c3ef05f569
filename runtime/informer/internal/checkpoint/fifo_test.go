// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin

package checkpoint

import (
	"errors"
	"os"
	"syscall"
	"testing"
)

// TestANamedPipeIsNotOpened: that would wait for a writer for ever, and the informer and its end
// with it.
func TestANamedPipeIsNotOpened(t *testing.T) {
	f := newFile(Config{Dir: t.TempDir()})
	write(t, f, "1", pods(2))
	if err := syscall.Mkfifo(f.Path()+versionExtension, 0o600); err != nil {
		t.Skip("no named pipes here: ", err)
	}
	if _, _, err := read(f); !errors.Is(err, errForeign) {
		t.Errorf("a pipe in the place of the version: %v", err)
	}
	if err := os.Remove(f.Path()); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(f.Path(), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := read(f); !errors.Is(err, errForeign) {
		t.Errorf("a pipe in the place of the file: %v", err)
	}
	write(t, f, "2", pods(2))
	if _, got, err := read(f); err != nil || got.ResourceVersion != "2" {
		t.Errorf("after a write in its place: %+v, %v", got, err)
	}
}
