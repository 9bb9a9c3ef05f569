// SPDX-License-Identifier: Apache-2.0

//go:build unix && !solaris && !illumos && !aix

package generator

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// lock waits until no other run writes to the output folder, which it makes, and keeps others from doing so until unlock is
// called. On file systems without locks it does nothing.
func (f Files) lock() (unlock func(), err error) {
	switch info, err := os.Stat(f.Root); {
	case err == nil && !info.IsDir():
		return func() {}, nil // which reading it says
	case errors.Is(err, fs.ErrNotExist) && len(f.Files) == 0:
		return func() {}, nil // there is nothing to remove
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(f.Root, 0o755); err != nil {
		return nil, fmt.Errorf("making the output folder: %w", err)
	}
	folder, err := os.Open(f.Root)
	if err != nil {
		return nil, fmt.Errorf("opening the output folder: %w", err)
	}
	for {
		// The lock belongs to the open file: closing it lets go, and so does the end of the process.
		if err := syscall.Flock(int(folder.Fd()), syscall.LOCK_EX); err != syscall.EINTR {
			return func() { _ = folder.Close() }, nil
		}
	}
}
