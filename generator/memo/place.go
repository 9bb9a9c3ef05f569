// SPDX-License-Identifier: Apache-2.0

package memo

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
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

// Kind says what counts about a Place.
type Kind string

const (
	// File is the content of a file. That there is none is a content too.
	File Kind = "file"
	// Folder is the names and contents of the files right in a folder that have one of the Endings.
	// A folder that isn't there is an empty one.
	Folder Kind = "folder"
	// Package is the names and contents of the Go files right in a folder, tests apart.
	Package Kind = "package"
	// Below is the names of everything in a folder and below it, and the contents of all files
	// there. With Endings, it is the names and contents of the files that have one of them, and
	// folders that begin with a dot don't count.
	Below Kind = "below"
	// Tree is the names and contents of the Go files, tests apart, in a folder and below it, as far
	// as "..." in a pattern of the go command goes: not into other modules, vendor, testdata, or
	// folders that begin with a dot or underscore.
	Tree Kind = "tree"
)

// Place is a place on disk.
type Place struct {
	Kind Kind
	// Path is absolute.
	Path string
	// Endings are for a Folder and for Below.
	Endings []string `json:",omitempty"`
	// Except are folders that don't count for a Tree; "/..." behind a name stands for all folders
	// below it.
	Except []string `json:",omitempty"`
	// Written means that the run has written the contents, in which Windows' line breaks count as
	// others do.
	Written bool `json:",omitempty"`
	// Seen are the contents that the run has read or written, by the names of files relative to
	// Path, with slashes. What isn't in it may have changed since, unless its time says otherwise.
	// What is in it must still be there, except in a Tree.
	Seen map[string]Sum `json:"-"`
}

// Sum is a hash of a file's content.
type Sum [sha256.Size]byte

// id is what makes two places the same one.
func (p Place) id() string {
	return fmt.Sprintf("%s %q %q %q", p.Kind, p.Path, p.Endings, p.Except)
}

// look returns a hash of all that counts about the place. If since isn't zero, moved is what may
// have changed after that and after the run has read it, or "".
func (p Place) look(since time.Time) (found, moved string, err error) {
	l := look{Place: p, since: since, hash: sha256.New()}
	switch p.Kind {
	case File:
		err = l.file(p.Path)
	case Folder:
		err = l.folder(p.Path, p.endsRight)
	case Package:
		err = l.folder(p.Path, isSource)
	case Below:
		err = l.below()
	case Tree:
		err = l.tree()
	default:
		err = fmt.Errorf("a place of the kind %q", p.Kind)
	}
	if l.moved == "" && len(l.met) < len(p.Seen) && !since.IsZero() && p.Kind != Tree {
		l.moved = p.Path // something that the run has seen is gone
	}
	return hex.EncodeToString(l.hash.Sum(nil)), l.moved, err
}

// endsRight reports whether a name has one of the endings.
func (p Place) endsRight(name string) bool {
	return slices.ContainsFunc(p.Endings, func(ending string) bool { return strings.HasSuffix(name, ending) })
}

// isSource reports whether a file may belong to a package that others import.
func isSource(name string) bool {
	return strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go")
}

// look is one look at a place.
type look struct {
	Place
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
