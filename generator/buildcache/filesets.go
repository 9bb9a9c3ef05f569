// SPDX-License-Identifier: Apache-2.0

package buildcache

import (
	"bytes"
	"crypto/sha256"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/generator"
	"github.com/informer-gen/informer-gen/generator/buildcache/internal/record"
	"github.com/informer-gen/informer-gen/generator/config"
	"github.com/informer-gen/informer-gen/generator/output"
)

// early are the files that a run with cfg depends on in any case.
func early(cfg generator.Config) []record.FileSet {
	dir, err := cfg.RealDir()
	if err != nil {
		return nil
	}
	out := cfg.Output
	if out != "" && !filepath.IsAbs(out) {
		out = filepath.Join(dir, filepath.FromSlash(out))
	}
	var sets []record.FileSet
	for _, up := range append(upwards(dir), upwards(out)...) {
		for _, name := range []string{config.FileName, "go.mod", "go.sum", "go.work", "go.work.sum"} {
			sets = append(sets, record.FileSet{Reach: record.File, Path: filepath.Join(up, name)})
		}
	}
	return sets
}

// upwards are dir and the folders above it; none if dir is empty.
func upwards(dir string) []string {
	var dirs []string
	for dir != "" {
		dirs = append(dirs, dir)
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	return dirs
}

// fileSets are all files that the run has depended on, and those that it has written.
func fileSets(f generator.Files) []record.FileSet {
	var sets []record.FileSet
	files := slices.Clone(f.Inputs.Packages.Files)
	for _, up := range upwards(f.Root) { // its module
		files = append(files, filepath.Join(up, "go.mod"))
	}
	for _, name := range f.Inputs.Configured {
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			sets = append(sets, record.FileSet{Reach: record.Below, Path: name, Endings: f.Inputs.Endings})
		} else {
			files = append(files, name)
		}
	}
	for _, up := range upwards(f.Inputs.Dir) { // its module and its configuration
		files = append(files, filepath.Join(up, config.FileName), filepath.Join(up, "go.mod"), filepath.Join(up, "go.work"))
	}
	slices.Sort(files)
	for _, name := range slices.Compact(files) {
		sets = append(sets, record.FileSet{Reach: record.File, Path: name})
		// that there is a vendor folder counts, too
		if folder, base := filepath.Split(name); base == "modules.txt" {
			sets = append(sets, record.FileSet{Reach: record.Folder, Path: filepath.Dir(filepath.Clean(folder)), Endings: []string{"vendor"}})
		}
	}

	root := f.Root
	if resolved, err := filepath.EvalSymlinks(root); err == nil {
		root = resolved
	}
	sets = append(sets, outputs(f, root)...)
	for dir, contents := range f.Inputs.Packages.Folders {
		if dir != root {
			sets = append(sets, record.FileSet{Reach: record.Package, Path: dir, Seen: sums(contents)})
		}
	}
	except := []string{root}
	for _, folder := range output.Subfolders() {
		except = append(except, filepath.Join(root, folder), filepath.Join(root, folder)+"/...")
	}
	for _, tree := range f.Inputs.Packages.Trees {
		seen := map[string]record.Sum{}
		for dir, contents := range f.Inputs.Packages.Folders {
			if rel, err := filepath.Rel(tree, dir); err == nil {
				for name, sum := range contents {
					seen[filepath.ToSlash(filepath.Join(rel, name))] = sum
				}
			}
		}
		sets = append(sets, record.FileSet{Reach: record.Tree, Path: tree, Seen: seen, Except: except})
	}
	return sets
}

// outputs are the files that Write has written, and what else is where they are.
func outputs(f generator.Files, root string) []record.FileSet {
	top := record.FileSet{Reach: record.Folder, Path: root, Endings: []string{".go"}, Written: true, Seen: map[string]record.Sum{}}
	sets := []record.FileSet{top}
	for _, folder := range output.Subfolders() {
		sets = append(sets, record.FileSet{Reach: record.Below, Path: filepath.Join(root, folder), Written: true, Seen: map[string]record.Sum{}})
	}
	for _, file := range f.Files {
		sum := record.Sum(sha256.Sum256(bytes.ReplaceAll(file.Content, []byte("\r\n"), []byte("\n"))))
		folder, rest, nested := strings.Cut(file.Path, "/")
		if !nested {
			top.Seen[file.Path] = sum
			continue
		}
		sets[1+slices.Index(output.Subfolders(), folder)].Seen[rest] = sum
	}
	return sets
}

func sums(contents map[string][sha256.Size]byte) map[string]record.Sum {
	all := make(map[string]record.Sum, len(contents))
	for name, sum := range contents {
		all[name] = sum
	}
	return all
}
