// SPDX-License-Identifier: Apache-2.0

package output

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/internal/generator/model"
)

func (f Folder) check() error {
	var errs []error
	seen := map[string]bool{}
	for _, file := range f.Files {
		if !ourPath(file.Path) || seen[file.Path] {
			errs = append(errs, fmt.Errorf("%q: a generated file needs its own path, in the output folder or below %s", file.Path, strings.Join(Subfolders(), ", ")))
		}
		seen[file.Path] = true
	}
	return errors.Join(errs...)
}

func (f Folder) name() string {
	if f.Name != "" {
		return f.Name
	}
	return f.Root
}

type status int

const (
	missing status = iota
	same
	differs
)

type plan struct {
	files     []plannedFile     // sorted by path
	stale     map[string][]byte // our files on disk but not in files, with their content
	temporary []string          // temporary files of interrupted runs
}

type plannedFile struct {
	model.File
	status status
	old    []byte // content on disk, if it differs
}

func (p plan) paths(s status) []string {
	var paths []string
	for _, f := range p.files {
		if f.status == s {
			paths = append(paths, f.Path)
		}
	}
	return paths
}

// plan reads the output folder. It fails if something foreign is in the way.
func (f Folder) plan() (plan, error) {
	if err := f.check(); err != nil {
		return plan{}, err
	}
	disk, err := scan(f.Root)
	if err != nil {
		return plan{}, fmt.Errorf("reading the output folder %s: %w", f.name(), err)
	}
	p := plan{stale: map[string][]byte{}, temporary: slices.Sorted(maps.Keys(disk.temporary))}
	var errs []error
	blocked := map[string]bool{}
	wanted := map[string]bool{}
	for _, file := range f.Files {
		wanted[file.Path] = true
		next := plannedFile{File: file}
		if at, why := disk.obstacle(file.Path); why != "" {
			if !blocked[at] {
				errs = append(errs, fmt.Errorf("%s: %s", path.Join(f.name(), at), why))
			}
			blocked[at] = true
		} else if old, ok := disk.ours[file.Path]; ok {
			next.status = same
			if !bytes.Equal(old, file.Content) && !bytes.Equal(old, checkedOut(file.Content)) {
				next.status, next.old = differs, old
			}
		}
		p.files = append(p.files, next)
	}
	if err := errors.Join(errs...); err != nil {
		return plan{}, err
	}
	slices.SortFunc(p.files, func(a, b plannedFile) int { return strings.Compare(a.Path, b.Path) })
	for name, content := range disk.ours {
		if !wanted[name] {
			p.stale[name] = content
		}
	}
	return p, nil
}

// checkedOut returns content as git checks it out with Windows line endings.
func checkedOut(content []byte) []byte {
	return bytes.ReplaceAll(content, []byte("\n"), []byte("\r\n"))
}
