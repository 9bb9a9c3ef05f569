// SPDX-License-Identifier: Apache-2.0

package output

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
)

// write writes all new content to temporary files, and then renames them.
func (p plan) write(root *os.Root, report *Report) error {
	s := staged{root: root, folders: map[string]*os.Root{}, temporary: map[string]string{}}
	defer s.discard()
	for _, f := range p.files {
		if f.status != same {
			if err := s.stage(f); err != nil {
				return fmt.Errorf("%s: %w", f.Path, err)
			}
		}
	}
	for _, f := range p.files {
		if f.status == same {
			continue
		}
		if err := s.publish(f); err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
		if f.status == missing {
			report.Created = append(report.Created, f.Path)
		} else {
			report.Changed = append(report.Changed, f.Path)
		}
	}
	return nil
}

// staged are the files on disk under temporary names.
type staged struct {
	root      *os.Root
	folders   map[string]*os.Root
	temporary map[string]string // names in the folder, by path, of files not yet renamed
}

func (s staged) stage(f plannedFile) error {
	dir, name := path.Split(f.Path)
	dir = path.Clean(dir)
	if s.folders[dir] == nil {
		folder, err := openFolder(s.root, dir)
		if err != nil {
			return err
		}
		s.folders[dir] = folder
	}
	s.temporary[f.Path] = tempName(name)
	return s.folders[dir].WriteFile(tempName(name), f.Content, 0o644)
}

func (s staged) publish(f plannedFile) error {
	folder, temp := s.folders[path.Dir(f.Path)], s.temporary[f.Path]
	err := folder.Rename(temp, path.Base(f.Path))
	for range maxConcurrent {
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
		// A concurrent run has mistaken the temporary file for an interrupted run's.
		if err := folder.WriteFile(temp, f.Content, 0o644); err != nil {
			return err
		}
		err = folder.Rename(temp, path.Base(f.Path))
	}
	if err == nil {
		delete(s.temporary, f.Path)
	}
	return err
}

// maxConcurrent is the number of concurrent runs that a run tolerates. Each removes the temporary
// files of the others once.
const maxConcurrent = 10

func (s staged) discard() {
	for name, temp := range s.temporary {
		_ = s.folders[path.Dir(name)].Remove(temp) // the error that led here matters more
	}
	for _, folder := range s.folders {
		_ = folder.Close()
	}
}

func openFolder(root *os.Root, dir string) (*os.Root, error) {
	if err := root.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return root.OpenRoot(dir)
}

// tempName returns the temporary name of a file, different in each process. Its dot makes Go ignore
// the file.
func tempName(name string) string { return fmt.Sprintf(".informer-gen-%d-%s", os.Getpid(), name) }

// isTemp reports whether a file has one of our temporary names. Its content may be incomplete.
func isTemp(name string) bool { return temporary.MatchString(name) }

var temporary = regexp.MustCompile(`^\.informer-gen-[0-9]+-.+\.go$`)

func (p plan) remove(root *os.Root, report *Report) error {
	folders := map[string]bool{}
	removing := func(name string) error {
		if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			folders[dir] = true
		}
		return nil
	}
	for _, name := range p.temporary {
		if err := removing(name); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.stale)) {
		if p.alias(root, name) {
			continue
		}
		if err := removing(name); err != nil {
			return err
		}
		report.Removed = append(report.Removed, name)
	}
	// Deepest first: a folder sorts before its content.
	for _, dir := range slices.Backward(slices.Sorted(maps.Keys(folders))) {
		entries, err := fs.ReadDir(root.FS(), dir)
		if err != nil || len(entries) > 0 {
			continue
		}
		if err := root.Remove(dir); err != nil {
			return err
		}
	}
	return nil
}

// alias reports whether a stale name leads to a file just written. On some file systems, names that
// differ only in case do.
func (p plan) alias(root *os.Root, stale string) bool {
	for _, f := range p.files {
		if !strings.EqualFold(f.Path, stale) {
			continue
		}
		old, err := root.Stat(stale)
		if err != nil {
			return false
		}
		written, err := root.Stat(f.Path)
		if err == nil && os.SameFile(old, written) {
			return true
		}
	}
	return false
}
