// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin

package checkpoint

import (
	"errors"
	"os"
	"syscall"
	"testing"
)

// TestReadDoesNotOpenANamedPipe shows that Read refuses named pipes: opening one would wait for a
// writer, and so would the end of the informer.
func TestReadDoesNotOpenANamedPipe(t *testing.T) {
	f := newFile(Config{Dir: t.TempDir()})
	write(t, f, "1", pods(2))
	if err := syscall.Mkfifo(f.Path()+versionExtension, 0o600); err != nil {
		t.Skip("no named pipes here: ", err)
	}
	if _, _, err := read(f); !errors.Is(err, errNotCheckpoint) {
		t.Errorf("Read with a pipe as version file: %v", err)
	}
	if err := os.Remove(f.Path()); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(f.Path(), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := read(f); !errors.Is(err, errNotCheckpoint) {
		t.Errorf("Read of a pipe: %v", err)
	}
	write(t, f, "2", pods(2))
	if _, got, err := read(f); err != nil || got.ResourceVersion != "2" {
		t.Errorf("Read() after Write = %+v, %v", got, err)
	}
}
