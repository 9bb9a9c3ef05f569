// SPDX-License-Identifier: Apache-2.0

// Package crd reads the parts of CustomResourceDefinitions that informers need.
package crd

import (
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/internal/diag"
)

// Definition is a CustomResourceDefinition.
type Definition struct {
	Pos                        token.Position
	Group, Kind, Plural, Scope Value
	Versions                   []Version
}

// Version is a version of a Definition.
type Version struct {
	Name   Value
	Served bool
}

// Value is a text of the definition, with its position.
type Value struct {
	Text string
	Pos  token.Position
}

// Read reads the CustomResourceDefinitions in a file, or in the YAML and JSON files below a folder.
// It ignores other objects. The name must be absolute; names in positions are absolute, too.
func Read(name string) ([]Definition, diag.List) {
	var report diag.List
	files, err := filesOf(name)
	if err != nil {
		report.Add(diag.Diagnostic{Message: "reading CustomResourceDefinitions: " + err.Error()})
		return nil, report
	}
	var definitions []Definition
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			report.Add(diag.Diagnostic{Message: "reading CustomResourceDefinitions: " + err.Error()})
			continue
		}
		definitions = append(definitions, parse(file, data, &report)...)
	}
	if len(definitions) == 0 && len(report) == 0 {
		report.Add(diag.Diagnostic{
			Pos:     token.Position{Filename: name},
			Message: "no CustomResourceDefinition found: name the folder that controller-gen writes them to, or their files",
		})
	}
	return definitions, report
}

var extensions = []string{".yaml", ".yml", ".json"}

// filesOf returns name itself if it is a file, and the files below it if it is a folder. It skips
// folders that begin with a dot.
func filesOf(name string) ([]string, error) {
	info, err := os.Stat(name)
	if err != nil || !info.IsDir() {
		return []string{name}, err
	}
	var files []string
	err = fs.WalkDir(os.DirFS(name), ".", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && file != "." && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case !entry.IsDir() && slices.Contains(extensions, path.Ext(file)):
			files = append(files, filepath.Join(name, filepath.FromSlash(file)))
		}
		return nil
	})
	return files, err
}
