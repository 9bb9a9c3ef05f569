// SPDX-License-Identifier: Apache-2.0

// Package output knows what is in an output folder: which files are the generator's and which are
// the user's. It writes a run's files there, compares them with what is there, and reads what users
// add.
package output

import (
	"fmt"
	"os"

	"github.com/informer-gen/informer-gen/internal/generator/model"
)

// Folder is an output folder with the files that it is to have, fully rendered: Write puts them on
// disk, Diff returns what Write would change.
//
// The Go files in Root and below its folders informers, listers and projections that carry our
// header belong to the generator, in whichever layout it has written them. Files of others there
// are neither changed nor removed, nor is anything in other folders.
type Folder struct {
	// Root is the output folder. It need not exist.
	Root string
	// Name is what texts call Root, with slashes, for example "generated"; "" stands for Root
	// itself.
	Name string
	// Files are the files below Root. Each needs a path of its own, of a Go file in Root or below
	// one of these folders; otherwise Write and Diff fail.
	Files []model.File
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
// Runs side by side with the same files are safe. Of runs with different files, the output may mix;
// the next run puts it right.
func (f Folder) Write() (Report, error) {
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

// Existing returns the files of the output folder root that carry our header, by path, with the
// import path of the API package that each of them came from; it is "" for files that come from all
// of them. A folder that doesn't exist has none.
func Existing(root string) (map[string]string, error) {
	disk, err := scan(root)
	if err != nil {
		return nil, fmt.Errorf("reading the output folder %s: %w", root, err)
	}
	files := map[string]string{}
	for name, content := range disk.ours {
		files[name], _ = headerOf(content)
	}
	return files, nil
}

// Subfolders returns the names of the folders that the grouped layout has in an output folder. It
// has all of its files in them, the layout Single in the output folder itself.
func Subfolders() []string { return []string{"informers", "listers", "projections"} }
