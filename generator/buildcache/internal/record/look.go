// SPDX-License-Identifier: Apache-2.0

package record

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// look is one look at a set of files.
type look struct {
	FileSet
	since time.Time
	hash  hash.Hash
	moved string
	met   map[string]bool // of Seen
}

// file adds the content of a file.
func (l *look) file(name string) error {
	data, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fmt.Fprintf(l.hash, "%q is missing\n", name)
		return nil
	case err != nil:
		return err
	}
	if l.Written {
		data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	}
	content := Sum(sha256.Sum256(data))
	fmt.Fprintf(l.hash, "%q %x\n", name, content)
	if l.since.IsZero() {
		return nil
	}
	rel, err := filepath.Rel(l.Path, name)
	if err != nil {
		return err
	}
	rel = filepath.ToSlash(rel)
	seen, ok := l.Seen[rel]
	switch {
	case !ok:
		l.times(name)
	case seen != content:
		l.moved = name
	default:
		if l.met == nil {
			l.met = map[string]bool{}
		}
		l.met[rel] = true
	}
	return nil
}

// times finds out whether a file may have changed since.
func (l *look) times(name string) {
	info, err := os.Stat(name)
	if err != nil {
		l.moved = name
		return
	}
	at := info.ModTime()
	granularity := 20 * time.Millisecond // of the clock that kernels take such times from
	if at.Nanosecond() == 0 {
		granularity = 2 * time.Second // of file systems that keep seconds only
	}
	if at.Add(granularity).After(l.since) {
		l.moved = name
	}
}

// folder adds the files right in a folder whose names are wanted.
func (l *look) folder(dir string, wanted func(name string) bool) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, entry := range entries {
		name := filepath.Join(dir, entry.Name())
		switch {
		case !wanted(entry.Name()):
		case entry.IsDir():
			fmt.Fprintf(l.hash, "%q is a folder\n", name)
		default:
			if err := l.file(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// ending adds the files in a folder and below it that have one of the endings. The folder may be a
// link.
func (l *look) ending() error {
	return fs.WalkDir(os.DirFS(l.Path), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case name == "." && errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case entry.IsDir() && name != "." && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case entry.IsDir() || !l.endsRight(name):
			return nil
		}
		return l.file(filepath.Join(l.Path, filepath.FromSlash(name)))
	})
}

func (l *look) below() error {
	if len(l.Endings) > 0 {
		return l.ending()
	}
	return filepath.WalkDir(l.Path, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case name == l.Path && errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case entry.Type().IsRegular():
			return l.file(name)
		}
		fmt.Fprintf(l.hash, "%q is of type %v\n", name, entry.Type())
		return nil
	})
}

func (l *look) tree() error {
	return filepath.WalkDir(l.Path, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case name == l.Path && errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case !entry.IsDir():
			return nil
		case name != l.Path && !l.enters(name):
			return filepath.SkipDir
		case slices.Contains(l.Except, name):
			return nil
		}
		return l.folder(name, isSource)
	})
}

// enters reports whether a pattern goes into a folder below the one that it names.
func (l *look) enters(dir string) bool {
	base := filepath.Base(dir)
	if base == "vendor" || base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") ||
		slices.Contains(l.Except, filepath.Dir(dir)+"/...") {
		return false
	}
	_, err := os.Lstat(filepath.Join(dir, "go.mod"))
	return err != nil
}
