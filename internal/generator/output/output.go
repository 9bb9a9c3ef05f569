// SPDX-License-Identifier: Apache-2.0

// Package output tells the generator's files in an output folder from the user's. It writes a run's
// files, compares them with the folder, and reads the user's additions.
package output

import (
	"fmt"
	"os"

	"github.com/informer-gen/informer-gen/internal/generator/model"
)

// Folder is an output folder with its intended files, fully rendered.
//
// The Go files in Root, and below its folders of the [Subfolders], belong to the generator if they
// carry our header, whatever layout they were written in. Other files there, and other folders, are
// neither changed nor removed.
type Folder struct {
	// Root is the output folder. It need not exist.
	Root string
	// Name is the name of Root in messages, with slashes, for example "generated"; "" stands for
	// Root itself.
	Name string
	// Files are the files below Root. Each needs its own path, of a Go file in Root or below one of
	// the folders above; otherwise Write and Diff fail.
	Files []model.File
}

// Report lists the work of Write. Its paths are relative to the output folder, have slashes, and
// are sorted.
type Report struct {
	// Created and Changed were written, Unchanged were right and not touched, Removed were stale.
	Created, Changed, Unchanged, Removed []string
}

// Write makes the output folder equal to f: it writes missing and different files, removes our
// files that f lacks, and then removes folders this has emptied, except the output folder. It
// doesn't touch files that are right, even if a checkout converted their lines to Windows line
// endings.
//
// If something foreign is in the way, or the folder can't be read, Write writes nothing and returns
// all reasons, joined. New content goes to temporary files first, so a run that fails or is
// interrupted before all of it is on disk leaves the old files unchanged; the next run removes
// leftovers. If renaming or removing fails, the Report covers the work done so far.
//
// Concurrent runs with the same files are safe. Concurrent runs with different files may mix their
// output; the next run corrects it.
func (f Folder) Write() (Report, error) {
	plan, err := f.plan()
	if err != nil {
		return Report{}, err
	}
	var report Report
	report.Unchanged = plan.paths(same)
	if len(plan.paths(missing))+len(plan.paths(differs))+len(plan.stale)+len(plan.temporary) == 0 {
		return report, nil
	}
	if err := os.MkdirAll(f.Root, 0o755); err != nil {
		return report, fmt.Errorf("creating the output folder: %w", err)
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
		return report, fmt.Errorf("removing stale files below %s: %w", f.name(), err)
	}
	return report, nil
}

// Existing returns the files with our header in the output folder root: from their path to the
// import path of the API package each came from, "" for files made from all packages. A missing
// folder has none.
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

// Subfolders returns the names of the folders that hold all files of the grouped layout.
func Subfolders() []string {
	return []string{"applyconfigurations", "informers", "listers", "projections"}
}
