// SPDX-License-Identifier: Apache-2.0

package output

import (
	"bytes"
	"errors"
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/internal/generator/model"
)

type disk struct {
	ours      map[string][]byte      // content of our files, by path
	temporary map[string]bool        // temporary files, by path
	others    map[string]fs.FileMode // everything else, by path
}

func scan(root string) (disk, error) {
	d := disk{ours: map[string][]byte{}, temporary: map[string]bool{}, others: map[string]fs.FileMode{}}
	switch info, err := os.Stat(root); {
	case errors.Is(err, fs.ErrNotExist):
		return d, nil
	case err != nil:
		return d, err
	case !info.IsDir():
		return d, errors.New("it is not a folder")
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		return d, err
	}
	for _, entry := range entries {
		if entry.IsDir() && slices.Contains(Subfolders(), entry.Name()) {
			err = d.addFolder(root, entry.Name())
		} else {
			err = d.add(entry.Name(), filepath.Join(root, entry.Name()), entry)
		}
		if err != nil {
			return d, err
		}
	}
	return d, nil
}

func (d disk) addFolder(root, top string) error {
	return filepath.WalkDir(filepath.Join(root, top), func(name string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a concurrent run has removed it
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		return d.add(filepath.ToSlash(rel), name, entry)
	})
}

func (d disk) add(rel, name string, entry fs.DirEntry) error {
	// A link may lead out of the output folder: it belongs to whoever made it.
	if !entry.Type().IsRegular() || !strings.HasSuffix(rel, ".go") {
		d.others[rel] = entry.Type()
		return nil
	}
	if isTemp(entry.Name()) {
		d.temporary[rel] = true
		return nil
	}
	content, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // a concurrent run has removed it
	}
	if err != nil {
		return err
	}
	if _, ours := headerOf(content); !ours {
		d.others[rel] = entry.Type()
		return nil
	}
	d.ours[rel] = content
	return nil
}

// obstacle returns the path that is in the way of a file, and why it can't be overwritten; why is
// "" if there is none.
func (d disk) obstacle(name string) (at, why string) {
	if mode, ok := d.others[name]; ok {
		switch {
		case mode.IsDir():
			return name, "a folder is in the way; remove or rename it"
		case mode.IsRegular():
			return name, fmt.Sprintf("a file without the line %q is in the way, so it isn't overwritten; remove or rename it",
				model.HeaderLine)
		}
		return name, "something other than a regular file is in the way; remove or rename it"
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		mode, others := d.others[dir]
		_, ours := d.ours[dir]
		switch {
		case others && mode&fs.ModeSymlink != 0:
			return dir, "a link takes the place of a folder, and its target may belong to others; remove or rename it"
		case ours, others && !mode.IsDir():
			return dir, "something other than a folder is in the way; remove or rename it"
		}
	}
	return "", ""
}

func ourPath(name string) bool {
	top, rest, nested := strings.Cut(name, "/")
	if path.Clean(name) != name || !strings.HasSuffix(name, ".go") {
		return false
	}
	return !nested || slices.Contains(Subfolders(), top) && rest != ""
}

// headerOf reports whether a file carries our header, and which package it came from. Both are line
// comments before the package clause. Line endings don't matter: a checkout may have changed them.
func headerOf(content []byte) (source string, ours bool) {
	if !bytes.Contains(content, []byte(model.HeaderLine)) {
		return "", false
	}
	var scan scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(content))
	scan.Init(file, content, nil, scanner.ScanComments)
	for {
		_, kind, text := scan.Scan()
		if kind != token.COMMENT {
			return source, ours
		}
		rest, isSource := strings.CutPrefix(text, model.SourcePrefix)
		switch {
		case text == model.HeaderLine:
			ours = true
		case ours && isSource && source == "":
			source = rest
		}
	}
}
