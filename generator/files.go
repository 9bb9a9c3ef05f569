// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/generator/model"
)

// Files is what one run would write, fully rendered: Write puts it on disk, Diff says what Write
// would do.
//
// The Go files in Root and below its folders informers and listers that carry our header belong to
// the generator, in whichever layout it has written them. Files of others there are neither changed
// nor removed, nor is anything in other folders.
type Files struct {
	// Root is the output folder. It need not exist.
	Root string
	// Name is what texts call Root, with slashes, for example "generated"; "" stands for Root
	// itself. Generate makes it relative to Config.Dir where that is shorter.
	Name string
	// Files are the files below Root. Each needs a path of its own, of a Go file in Root or below
	// informers or listers; otherwise Write and Diff fail.
	Files []model.File

	read *read // what Generate has made them from; nil if they come from elsewhere
}

// Report says what Write did. Its paths are relative to the output folder, have slashes, and are
// sorted.
type Report struct {
	// Created and Changed were written, Unchanged had the right content and were not touched,
	// Removed were stale.
	Created, Changed, Unchanged, Removed []string
}

// Write makes the output folder equal to f: it writes the files that are missing or differ, removes
// those of ours that f doesn't have, and then the folders that this leaves empty (the output folder
// stays). Files that are right are not touched, even if a checkout has given all their lines
// Windows line endings.
//
// It writes nothing and returns all reasons, joined, when something that isn't ours is in the way
// of a file, or if what is there can't be read. New content goes to temporary files first, so that
// a run that fails or is interrupted before all of it is on disk leaves the old files as they were;
// the next run removes what is left of it. If renaming or removing fails, the Report says what had
// been done.
//
// Runs of one user side by side write one after the other, so that the output is that of one of
// them. For that there is a lock file in the user's cache folder; without such a folder they may
// mix.
func (f Files) Write() (Report, error) {
	defer lock()()
	plan, err := f.plan()
	if err != nil {
		return Report{}, err
	}
	var report Report
	report.Unchanged = plan.paths(same)
	if len(plan.paths(missing))+len(plan.paths(differs))+len(plan.stale)+len(plan.left) == 0 {
		return report, nil
	}
	if err := os.MkdirAll(f.Root, 0o755); err != nil {
		return report, fmt.Errorf("making the output folder: %w", err)
	}
	root, err := os.OpenRoot(f.Root)
	if err != nil {
		return report, fmt.Errorf("opening the output folder: %w", err)
	}
	defer root.Close()
	if err := plan.write(root, &report); err != nil {
		return report, fmt.Errorf("writing below %s: %w", f.name(), err)
	}
	if err := plan.remove(root, &report); err != nil {
		return report, fmt.Errorf("removing what is stale below %s: %w", f.name(), err)
	}
	return report, nil
}

// --- private from here ---

// check returns which files have no path of their own in a place of ours.
func (f Files) check() error {
	var errs []error
	seen := map[string]bool{}
	for _, file := range f.Files {
		if !ourPlace(file.Path) || seen[file.Path] {
			errs = append(errs, fmt.Errorf("%q: a generated file needs a path of its own, in the output folder or below informers or listers", file.Path))
		}
		seen[file.Path] = true
	}
	return errors.Join(errs...)
}

func (f Files) name() string {
	if f.Name != "" {
		return f.Name
	}
	return f.Root
}

// state is what stands in the place of a file.
type state int

const (
	missing state = iota
	same
	differs
)

// plan compares the files with what is on disk.
type plan struct {
	files []planned         // sorted by path
	stale map[string][]byte // our files that are not in files, with their content
	left  []string          // temporary files of runs that were interrupted
}

type planned struct {
	model.File
	state state
	old   []byte // what is on disk, if it differs
}

func (p plan) paths(s state) []string {
	var paths []string
	for _, f := range p.files {
		if f.state == s {
			paths = append(paths, f.Path)
		}
	}
	return paths
}

// plan reads the output folder. It fails if anything that isn't ours is in the way.
func (f Files) plan() (plan, error) {
	if err := f.check(); err != nil {
		return plan{}, err
	}
	disk, err := scan(f.Root)
	if err != nil {
		return plan{}, fmt.Errorf("reading the output folder %s: %w", f.name(), err)
	}
	p := plan{stale: map[string][]byte{}, left: slices.Sorted(maps.Keys(disk.left))}
	var errs []error
	blocked := map[string]bool{}
	wanted := map[string]bool{}
	for _, file := range f.Files {
		wanted[file.Path] = true
		next := planned{File: file}
		if at, why := disk.foreign(file.Path); why != "" {
			if !blocked[at] {
				errs = append(errs, fmt.Errorf("%s: %s", path.Join(f.name(), at), why))
			}
			blocked[at] = true
		} else if old, ok := disk.ours[file.Path]; ok {
			next.state = same
			if !bytes.Equal(old, file.Content) && !bytes.Equal(old, checkedOut(file.Content)) {
				next.state, next.old = differs, old
			}
		}
		p.files = append(p.files, next)
	}
	if err := errors.Join(errs...); err != nil {
		return plan{}, err
	}
	slices.SortFunc(p.files, func(a, b planned) int { return strings.Compare(a.Path, b.Path) })
	for name, content := range disk.ours {
		if !wanted[name] {
			p.stale[name] = content
		}
	}
	return p, nil
}

// checkedOut is what git makes of content where it is told to use Windows line endings.
func checkedOut(content []byte) []byte {
	return bytes.ReplaceAll(content, []byte("\n"), []byte("\r\n"))
}
