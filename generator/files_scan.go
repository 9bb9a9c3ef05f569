// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/templates"
)

// existing returns the files of the output folder root that carry our header, by path, with the import path of the API
// package that each of them came from; it is "" for files that come from all of them. A folder that doesn't exist has
// none.
func existing(root string) (map[string]string, error) {
	disk, err := scan(root)
	if err != nil {
		return nil, fmt.Errorf("reading the output folder %s: %w", root, err)
	}
	files := map[string]string{}
	for name, content := range disk.ours {
		if !isTemp(path.Base(name)) {
			files[name], _ = header(content)
		}
	}
	return files, nil
}

// disk is what is in an output folder.
type disk struct {
	ours   map[string][]byte      // content of our files, by path
	others map[string]fs.FileMode // everything else, by path
}

// scan reads the folders of root that we write to.
func scan(root string) (disk, error) {
	d := disk{ours: map[string][]byte{}, others: map[string]fs.FileMode{}}
	switch info, err := os.Stat(root); {
	case errors.Is(err, fs.ErrNotExist):
		return d, nil
	case err != nil:
		return d, err
	case !info.IsDir():
		return d, errors.New("it is not a folder")
	}
	for _, top := range ourFolders {
		err := filepath.WalkDir(filepath.Join(root, top), func(name string, entry fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
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
		if err != nil {
			return d, err
		}
	}
	return d, nil
}

func (d disk) add(rel, name string, entry fs.DirEntry) error {
	// A link may lead out of the output folder: whoever made it owns it.
	if !entry.Type().IsRegular() || !strings.HasSuffix(rel, ".go") && !isTemp(entry.Name()) {
		d.others[rel] = entry.Type()
		return nil
	}
	content, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if _, ours := header(content); !ours {
		d.others[rel] = entry.Type()
		return nil
	}
	d.ours[rel] = content
	return nil
}

// foreign says which path is in the way of a file, and why it can't be overwritten; why is "" if nothing is.
func (d disk) foreign(name string) (at, why string) {
	if mode, ok := d.others[name]; ok {
		switch {
		case mode.IsDir():
			return name, "a folder is in the way; remove or rename it"
		case mode.IsRegular():
			return name, fmt.Sprintf("a file without the line %q is in the way, so it is not ours to overwrite; remove or rename it",
				templates.Header)
		}
		return name, "something that is no regular file is in the way; remove or rename it"
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		mode, others := d.others[dir]
		_, ours := d.ours[dir]
		switch {
		case others && mode&fs.ModeSymlink != 0:
			return dir, "a link stands in the place of a folder, and what it leads to may be someone else's; remove or rename it"
		case ours, others && !mode.IsDir():
			return dir, "something that is no folder is in the way; remove or rename it"
		}
	}
	return "", ""
}

// ourFolders are the folders below an output folder that we write to.
var ourFolders = []string{"informers", "listers"}

// ourFolder says whether name is a clean path below one of them.
func ourFolder(name string) bool {
	top, rest, _ := strings.Cut(name, "/")
	return slices.Contains(ourFolders, top) && rest != "" && path.Clean(name) == name
}

// tempName is the name under which a file is written before it gets its own, another one in each process. Go ignores
// it, for its dot.
func tempName(name string) string { return fmt.Sprintf("%s%d-%s", tempPrefix, os.Getpid(), name) }

func isTemp(name string) bool { return strings.HasPrefix(name, tempPrefix) }

const tempPrefix = ".informer-gen-"

// header says whether a file carries our header, and which package it came from. What ends a line doesn't matter: a
// checkout may have changed it.
func header(content []byte) (source string, ours bool) {
	for line := range bytes.Lines(content) {
		text := strings.TrimRight(string(line), "\r\n")
		switch {
		case strings.HasPrefix(text, "package "):
			return source, ours
		case text == templates.Header:
			ours = true
		case ours && source == "" && strings.HasPrefix(text, templates.SourcePrefix):
			source = strings.TrimPrefix(text, templates.SourcePrefix)
		}
	}
	return source, ours
}
