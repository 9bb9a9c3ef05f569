// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/mod/modfile"

	"github.com/informer-gen/informer-gen/generator"
)

func (p *Project) module(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("finding the working directory: %w", err)
	}
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	p.cwd = dir
	for d := dir; ; d = filepath.Dir(d) {
		name := filepath.Join(d, "go.mod")
		data, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			if filepath.Dir(d) == d {
				return fmt.Errorf("%s isn't in a Go module: there is no go.mod in it or above it; run go mod init first", dir)
			}
			continue
		}
		if err != nil {
			return fmt.Errorf("looking for the module of %s: %w", dir, err)
		}
		file, err := modfile.ParseLax(name, data, nil)
		if err != nil {
			return fmt.Errorf("reading go.mod: %w", err)
		}
		if file.Module == nil {
			return fmt.Errorf("%s has no module path", name)
		}
		p.Dir, p.Module = d, file.Module.Mod.Path
		if file.Go != nil {
			p.Go = file.Go.Version
		}
		p.requires = map[string]bool{}
		for _, r := range file.Require {
			p.requires[r.Mod.Path] = true
			if r.Mod.Path == "k8s.io/apimachinery" {
				p.kubernetes = r.Mod.Version
			}
		}
		full, err := modfile.Parse(name, data, nil)
		hasTool := func(path string) bool {
			return err == nil && slices.ContainsFunc(full.Tool, func(t *modfile.Tool) bool { return t.Path == path })
		}
		p.HasTool, p.HasControllerGen, p.HasDevserver = hasTool(Tool), hasTool(ControllerGen), hasTool(Devserver)
		return nil
	}
}

func (p *Project) exists(name string) bool {
	info, err := os.Stat(filepath.Join(p.Dir, filepath.FromSlash(name)))
	return err == nil && info.Mode().IsRegular()
}

func (p *Project) isFolder(name string) bool {
	info, err := os.Stat(filepath.Join(p.Dir, filepath.FromSlash(name)))
	return err == nil && info.IsDir()
}

// crdFolders are the usual folders of CustomResourceDefinitions; the first with any is taken.
var crdFolders = []string{"config/crd/bases", "config/crd", "config/crds", "deploy/crds", "crds"}

func (p *Project) hasCRDs(name string) bool {
	return p.isFolder(name) && len(generator.Config{Dir: p.Dir, File: generator.NoFile, CRDs: []string{name}}.Check()) == 0
}
