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
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

const (
	rootModule = "github.com/informer-gen/informer-gen"
	thisModule = rootModule + "/bench/generator"
	peers      = "k8s.io/code-generator/cmd/"
	// generated is the output folder of each side.
	generated = "generated"
)

// rig is what a run of the program needs: the generators, and a module for each side.
type rig struct {
	temp     string   // removed by close
	version  string   // of k8s.io/api
	packages []string // of k8s.io/api that have types
	env      []string
	runs     int // of compile
}

// newRig builds the generators and lays out the modules.
func newRig(ctx context.Context) (_ *rig, err error) {
	temp, err := os.MkdirTemp("", "bench-generator-")
	if err != nil {
		return nil, err
	}
	if temp, err = filepath.EvalSymlinks(temp); err != nil {
		return nil, err
	}
	r := &rig{temp: temp}
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	if r.env, err = environment(ctx, temp); err != nil {
		return nil, err
	}
	here, err := goCommand(ctx, "", os.Environ(), "list", "-f", "{{.Dir}}", thisModule)
	if err != nil {
		return nil, fmt.Errorf("looking for the folder of this program, which must be run in the repository: %w", err)
	}
	root := filepath.Join(here, "..", "..")
	for _, build := range []struct{ dir, output, pkg string }{
		{root, "ours", rootModule + "/cmd/informer-gen"},
		{here, "lister-gen", peers + "lister-gen"},
		{here, "informer-gen", peers + "informer-gen"},
	} {
		if _, err := goCommand(ctx, build.dir, r.env, "build", "-o", filepath.Join(temp, "bin", build.output), build.pkg); err != nil {
			return nil, err
		}
	}
	if err := os.WriteFile(r.licence(), []byte(licence), 0o644); err != nil {
		return nil, err
	}
	for _, s := range sides {
		if err := layOut(here, root, r.module(s), modulePath(s)); err != nil {
			return nil, err
		}
	}
	api, err := goCommand(ctx, here, r.env, "list", "-m", "-f", "{{.Version}} {{.Dir}}", "k8s.io/api")
	if err != nil {
		return nil, err
	}
	var dir string
	r.version, dir, _ = strings.Cut(api, " ")
	r.packages, err = withTypes(dir)
	return r, err
}

func (r *rig) close() { _ = os.RemoveAll(r.temp) } // in the folder for temporary files

// module is the folder of the module that a side generates into.
func (r *rig) module(s side) string { return filepath.Join(r.temp, filepath.Base(modulePath(s))) }

func modulePath(s side) string { return [...]string{"bench.example/ours", "bench.example/theirs"}[s] }

func (r *rig) licence() string { return filepath.Join(r.temp, "licence.txt") }

// clean removes what a side has generated.
func (r *rig) clean(s side) error { return os.RemoveAll(filepath.Join(r.module(s), generated)) }

// generate runs the generators of a side, in this order.
func (r *rig) generate(ctx context.Context, s side, env []string) (usage, error) {
	var total usage
	for _, p := range r.programs(s) {
		p.env = append(p.env, env...)
		u, err := p.run(ctx)
		if err != nil {
			return usage{}, err
		}
		total = total.then(u)
	}
	return total, nil
}

// programs are the calls that generate everything for a side.
func (r *rig) programs(s side) []program {
	dir := r.module(s)
	call := func(name string, args ...string) program {
		return program{dir: dir, env: slices.Clone(r.env), path: filepath.Join(r.temp, "bin", name), args: append(args, r.packages...)}
	}
	if s == ours {
		return []program{call("ours")}
	}
	output := func(name string) []string {
		return []string{
			"--go-header-file", r.licence(), "--plural-exceptions", "Endpoints:Endpoints",
			"--output-dir", filepath.Join(dir, generated, name), "--output-pkg", modulePath(s) + "/" + generated + "/" + name,
		}
	}
	return []program{
		call("lister-gen", output("listers")...),
		call("informer-gen", append(output("informers"), "--single-directory",
			"--versioned-clientset-package", "k8s.io/client-go/kubernetes",
			"--listers-package", modulePath(s)+"/"+generated+"/listers")...),
	}
}

// compile compiles the packages that a side has generated, and of what they import what isn't in
// the build cache.
func (r *rig) compile(ctx context.Context, s side) (usage, error) {
	r.runs++
	if err := touch(filepath.Join(r.module(s), generated), r.runs); err != nil {
		return usage{}, err
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		return usage{}, err
	}
	return program{dir: r.module(s), env: r.env, path: tool, args: []string{"build", "./" + generated + "/..."}}.run(ctx)
}

// environment is that of all programs: without the workspace and the network, and with a cache
// folder of their own apart from the go command's.
func environment(ctx context.Context, temp string) ([]string, error) {
	caches, err := goCommand(ctx, "", os.Environ(), "env", "GOCACHE", "GOMODCACHE")
	if err != nil {
		return nil, err
	}
	build, modules, _ := strings.Cut(caches, "\n")
	return append(os.Environ(), "GOCACHE="+build, "GOMODCACHE="+modules, "GOWORK=off", "GOFLAGS=", "GOPROXY=off",
		"GOTOOLCHAIN=local", "XDG_CACHE_HOME="+filepath.Join(temp, "cache")), nil
}

// goCommand runs the go command and returns what it prints.
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

// layOut makes a module with the requirements of this program's.
func layOut(here, root, dir, path string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	data, err := os.ReadFile(filepath.Join(here, "go.mod"))
	if err != nil {
		return err
	}
	if data, err = rewrite(data, root, path); err != nil {
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

// rewrite gives a go.mod another path and leads it to the module at root wherever it lies.
func rewrite(data []byte, root, path string) ([]byte, error) {
	file, err := modfile.Parse("go.mod", data, nil)
	if err != nil {
		return nil, err
	}
	err = errors.Join(file.AddModuleStmt(path), file.AddReplace(rootModule, "", root, ""))
	if err != nil {
		return nil, err
	}
	return file.Format()
}

// withTypes returns the import paths of the packages of k8s.io/api, which lies in dir, that have a
// file called types.go.
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

// counts are the sizes of an output.
type counts struct{ kinds, files, lines int }

var listerType = regexp.MustCompile(`(?m)^type (\w+)Lister interface`)

// count counts what is in a folder.
func count(dir string) (counts, error) {
	var n counts
	err := eachFile(dir, func(_ string, text []byte) error {
		n.files++
		n.lines += strings.Count(string(text), "\n")
		for _, match := range listerType.FindAllSubmatch(text, -1) {
			if kind := string(match[1]); kind == "Namespace" || !strings.HasSuffix(kind, "Namespace") {
				n.kinds++
			}
		}
		return nil
	})
	return n, err
}

// touch gives all Go files of a folder a last line that they have not had before.
func touch(dir string, run int) error {
	return eachFile(dir, func(name string, text []byte) error {
		before, _, _ := strings.Cut(string(text), compiled)
		return os.WriteFile(name, fmt.Appendf(nil, "%s%s%d of process %d\n", before, compiled, run, os.Getpid()), 0o644)
	})
}

const compiled = "\n// Compiled in run "

func eachFile(dir string, do func(name string, text []byte) error) error {
	return filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return do(name, text)
	})
}

const licence = `/*
Copyright The Kubernetes Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/
`
