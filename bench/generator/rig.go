// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const (
	rootModule  = "github.com/informer-gen/informer-gen"
	benchModule = rootModule + "/bench"
	peers       = "k8s.io/code-generator/cmd/"
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
	here, err := goCommand(ctx, "", os.Environ(), "list", "-m", "-f", "{{.Dir}}", benchModule)
	if err != nil {
		return nil, fmt.Errorf("looking for the folder of this program, which must be run in the repository: %w", err)
	}
	root := filepath.Dir(here)
	for _, dir := range []string{root, here} { // everything after this is without the network
		if _, err := goCommand(ctx, dir, append(os.Environ(), "GOWORK=off", "GOFLAGS="), "mod", "download"); err != nil {
			return nil, fmt.Errorf("downloading the modules that the generators need: %w", err)
		}
	}
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
		if err := layOut(here, r.module(s), modulePath(s)); err != nil {
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
