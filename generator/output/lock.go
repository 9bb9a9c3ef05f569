// SPDX-License-Identifier: Apache-2.0

package output

import (
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// lock waits until no other run of the user writes, to whatever folder, and keeps others from doing
// so until unlock is called or the process ends. Writing takes a moment, so one lock will do. It
// does nothing where nothing can be locked: a file system may have no locks, and a user no cache
// folder.
//
// What is locked is a file in the user's cache folder. The output folder won't do: Windows locks
// files only, and a file there would be in the way of people and their version control.
func lock() (unlock func()) {
	cache, err := os.UserCacheDir()
	folder := filepath.Join(cache, "informer-gen")
	if err == nil {
		err = os.MkdirAll(folder, 0o755)
	}
	if err == nil {
		unlock, err = lockedfile.MutexAt(filepath.Join(folder, "lock")).Lock()
	}
	if err != nil {
		return func() {}
	}
	return unlock
}
