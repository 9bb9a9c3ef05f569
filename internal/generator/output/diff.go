// SPDX-License-Identifier: Apache-2.0

package output

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// ChangeKind is the way in which a file on disk differs from a run's output.
type ChangeKind int

const (
	// Missing files are absent.
	Missing ChangeKind = iota + 1
	// Changed files have other content.
	Changed
	// Stale files carry our header, but a run would not write them.
	Stale
)

// String returns "missing", "changed" or "stale".
func (k ChangeKind) String() string {
	switch k {
	case Missing:
		return "missing"
	case Changed:
		return "changed"
	case Stale:
		return "stale"
	}
	return fmt.Sprintf("ChangeKind(%d)", int(k))
}

// Change is a difference between one file on disk and a run's output.
type Change struct {
	Kind ChangeKind
	// Path begins with the name of the output folder and has slashes.
	Path string
	// Old is the content on disk, nil if Missing. New is the run's output, nil if Stale.
	Old, New []byte
}

// Diff returns the changes Write would make, sorted by path, and writes nothing; nil if there are
// none. It fails as Write does when something foreign is in the way.
func (f Folder) Diff() ([]Change, error) {
	plan, err := f.plan()
	if err != nil {
		return nil, err
	}
	var changes []Change
	for _, file := range plan.files {
		name := path.Join(f.name(), file.Path)
		switch file.status {
		case missing:
			changes = append(changes, Change{Kind: Missing, Path: name, New: file.Content})
		case differs:
			changes = append(changes, Change{Kind: Changed, Path: name, Old: file.old, New: file.Content})
		}
	}
	for name, content := range plan.stale {
		changes = append(changes, Change{Kind: Stale, Path: path.Join(f.name(), name), Old: content})
	}
	slices.SortFunc(changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return changes, nil
}

// Unified returns the changes as one unified diff. "patch -p1" and "git apply" accept it in the
// folder the paths are relative to, unless paths lead out of it. A line with the kind of the
// change, such as "stale: generated/listers/….go", precedes the diff of each file.
func Unified(changes []Change) []byte {
	var buf bytes.Buffer
	for _, c := range changes {
		oldName, newName := "a/"+c.Path, "b/"+c.Path
		switch c.Kind {
		case Missing:
			oldName = "/dev/null"
		case Stale:
			newName = "/dev/null"
		}
		fmt.Fprintf(&buf, "%s: %s\n", c.Kind, c.Path)
		text := diff.Diff(oldName, c.Old, newName, c.New)
		// The first line repeats the names in a format only for Plan 9's tools.
		if _, rest, ok := bytes.Cut(text, []byte("\n")); ok {
			buf.Write(rest)
		}
	}
	return buf.Bytes()
}
