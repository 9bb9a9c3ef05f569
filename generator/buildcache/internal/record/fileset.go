// SPDX-License-Identifier: Apache-2.0

package record

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
)

// FileSet is a set of files on disk: those that a folder or a name stands for.
type FileSet struct {
	Reach Reach
	// Path is absolute.
	Path string
	// Endings are for Folder and Below.
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

// Reach is the choice of a FileSet: which files it has, and what counts about them.
type Reach string

const (
	// File is the content of a file. That there is none is a content too.
	File Reach = "file"
	// Folder is the names and contents of the files right in a folder that have one of the Endings.
	// A folder that isn't there is an empty one.
	Folder Reach = "folder"
	// Package is the names and contents of the Go files right in a folder, tests apart.
	Package Reach = "package"
	// Below is the names of everything in a folder and below it, and the contents of all files
	// there. With Endings, it is the names and contents of the files that have one of them, and
	// folders that begin with a dot don't count.
	Below Reach = "below"
	// Tree is the names and contents of the Go files, tests apart, in a folder and below it, as far
	// as "..." in a pattern of the go command goes: not into other modules, vendor, testdata, or
	// folders that begin with a dot or underscore.
	Tree Reach = "tree"
)

// Sum is a hash of a file's content.
type Sum [sha256.Size]byte

// id is what makes two sets the same one.
func (s FileSet) id() string {
	return fmt.Sprintf("%s %q %q %q", s.Reach, s.Path, s.Endings, s.Except)
}

// look returns a hash of all that counts about the set. If since isn't zero, moved is what may
// have changed after that and after the run has read it, or "".
func (s FileSet) look(since time.Time) (hash, moved string, err error) {
	l := look{FileSet: s, since: since, hash: sha256.New()}
	switch s.Reach {
	case File:
		err = l.file(s.Path)
	case Folder:
		err = l.folder(s.Path, s.endsRight)
	case Package:
		err = l.folder(s.Path, isSource)
	case Below:
		err = l.below()
	case Tree:
		err = l.tree()
	default:
		err = fmt.Errorf("a set of files that reaches %q", s.Reach)
	}
	if l.moved == "" && len(l.met) < len(s.Seen) && !since.IsZero() && s.Reach != Tree {
		l.moved = s.Path // something that the run has seen is gone
	}
	return hex.EncodeToString(l.hash.Sum(nil)), l.moved, err
}

// endsRight reports whether a name has one of the endings.
func (s FileSet) endsRight(name string) bool {
	return slices.ContainsFunc(s.Endings, func(ending string) bool { return strings.HasSuffix(name, ending) })
}

// isSource reports whether a file may belong to a package that others import.
func isSource(name string) bool {
	return strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go")
}
