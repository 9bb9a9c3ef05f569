// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// environment returns the environment of all programs: without the workspace and the network, and
// with their own cache folder apart from the go command's.
func environment(ctx context.Context, temp string) ([]string, error) {
	caches, err := goCommand(ctx, "", os.Environ(), "env", "GOCACHE", "GOMODCACHE")
	if err != nil {
		return nil, err
	}
	build, modules, _ := strings.Cut(caches, "\n")
	return append(os.Environ(), "GOCACHE="+build, "GOMODCACHE="+modules, "GOWORK=off", "GOFLAGS=", "GOPROXY=off",
		"GOTOOLCHAIN=local", "XDG_CACHE_HOME="+filepath.Join(temp, "cache")), nil
}

func goCommand(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	if err != nil {
		return "", fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

func layOut(here, dir, path string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	data, err := os.ReadFile(filepath.Join(here, "go.mod"))
	if err != nil {
		return err
	}
	if data, err = rewrite(data, here, path); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), data, 0o644); err != nil {
		return err
	}
	sums, err := os.ReadFile(filepath.Join(here, "go.sum"))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o644)
}

// rewrite changes the path of here's go.mod. Replacements by folders keep their targets.
func rewrite(data []byte, here, path string) ([]byte, error) {
	file, err := modfile.Parse("go.mod", data, nil)
	if err != nil {
		return nil, err
	}
	err = file.AddModuleStmt(path)
	for _, r := range slices.Clone(file.Replace) {
		err = errors.Join(err, file.AddReplace(r.Old.Path, r.Old.Version, filepath.Join(here, r.New.Path), ""))
	}
	if err != nil {
		return nil, err
	}
	return file.Format()
}

// withTypes returns the import paths of those packages of k8s.io/api, which is in dir, that have a
// file types.go.
func withTypes(dir string) ([]string, error) {
	var packages []string
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != "types.go" {
			return err
		}
		rel, err := filepath.Rel(dir, filepath.Dir(name))
		packages = append(packages, "k8s.io/api/"+filepath.ToSlash(rel))
		return err
	})
	if err == nil && len(packages) == 0 {
		err = fmt.Errorf("there are no types in %s", dir)
	}
	return packages, err
}
