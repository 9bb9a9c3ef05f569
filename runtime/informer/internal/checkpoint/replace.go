// SPDX-License-Identifier: Apache-2.0

package checkpoint

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// tempSuffix ends the names of files being written.
const tempSuffix = ".tmp"

// staleAge is the age from which a temporary file counts as left behind by a process that ended.
const staleAge = time.Minute

// replace calls write to write a file, puts it into its place, and returns its size.
func replace(path string, write func(io.Writer) error) (size int64, err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return 0, err
	}
	sweep(path)
	file, err := os.CreateTemp(dir, filepath.Base(path)+".*"+tempSuffix) // 0600
	if err != nil {
		return 0, err
	}
	if size, err = fill(file, write); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return 0, fmt.Errorf("%w%s", err, alsoFailed(os.Remove(file.Name())))
	}
	return size, syncDir(dir)
}

func alsoFailed(err error) string {
	if err != nil {
		return "; and then: " + err.Error()
	}
	return ""
}

// fill writes a file, with its magic and its checksum, syncs it and closes it.
func fill(file *os.File, write func(io.Writer) error) (size int64, err error) {
	w := &writer{file: file}
	if _, err = io.WriteString(w, magic); err == nil {
		err = write(w)
	}
	if err == nil {
		err = w.end()
	}
	if err == nil {
		err = file.Sync()
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	return w.size, err
}

// syncDir makes a rename in a directory last. Windows can't sync directories, and doesn't need to.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if closeErr := d.Close(); err == nil {
		err = closeErr
	}
	return err
}

// sweep removes temporary files left behind by processes that ended while writing.
func sweep(path string) {
	dir, name := filepath.Split(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // writing the file will fail too
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), name+".") || !strings.HasSuffix(e.Name(), tempSuffix) {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > staleAge {
			_ = os.Remove(filepath.Join(dir, e.Name())) // another process may have removed it
		}
	}
}
