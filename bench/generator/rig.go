// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/informer-gen/informer-gen/bench/harness"
)

const (
	rootModule  = "github.com/informer-gen/informer-gen"
	benchModule = rootModule + "/bench"
	peers       = "k8s.io/code-generator/cmd/"
	generated   = "generated"
)

type rig struct {
	temp     string   // removed by close
	packages []string // of k8s.io/api with types
	env      []string
	warmedUp map[string]bool // set after the uncounted first run, by benchmark and side
	runs     int             // of compile
}

func newRig(ctx context.Context) (_ *rig, err error) {
	temp, err := os.MkdirTemp("", "bench-generator-")
	if err != nil {
		return nil, err
	}
	if temp, err = filepath.EvalSymlinks(temp); err != nil {
		return nil, err
	}
	r := &rig{temp: temp, warmedUp: map[string]bool{}}
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
	for _, dir := range []string{root, here} { // everything later runs without the network
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
	dir, err := goCommand(ctx, here, r.env, "list", "-m", "-f", "{{.Dir}}", "k8s.io/api")
	if err != nil {
		return nil, err
	}
	r.packages, err = withTypes(dir)
	return r, err
}

func (r *rig) close() {
	if r != nil {
		_ = os.RemoveAll(r.temp)
	}
}

// once makes one run of a side, and one more before the first.
func (r *rig) once(ctx context.Context, bench string, s harness.Side) (harness.Outcome, error) {
	run := r.generate
	if bench == "compile" {
		run = r.compile
	}
	if name := bench + string(s); !r.warmedUp[name] {
		r.warmedUp[name] = true
		if bench == "compile" {
			if _, err := r.generate(ctx, s); err != nil {
				return harness.Outcome{}, err
			}
		}
		if _, err := run(ctx, s); err != nil {
			return harness.Outcome{}, err
		}
	}
	u, err := run(ctx, s)
	return harness.Outcome{Values: map[string]float64{harness.WallTime: float64(u.wall), harness.CPUTime: float64(u.cpu)}}, err
}

func (r *rig) module(s harness.Side) string {
	return filepath.Join(r.temp, filepath.Base(modulePath(s)))
}

func modulePath(s harness.Side) string {
	if s == harness.Ours {
		return "bench.example/ours"
	}
	return "bench.example/theirs"
}

type usage struct{ wall, cpu time.Duration }

func (r *rig) generate(ctx context.Context, s harness.Side) (total usage, err error) {
	if err := os.RemoveAll(filepath.Join(r.module(s), generated)); err != nil {
		return usage{}, err
	}
	for _, call := range r.programs(s) {
		u, err := r.run(ctx, s, call)
		if err != nil {
			return usage{}, err
		}
		total.wall, total.cpu = total.wall+u.wall, total.cpu+u.cpu
	}
	return total, nil
}

func (r *rig) run(ctx context.Context, s harness.Side, call []string) (usage, error) {
	cmd := exec.CommandContext(ctx, call[0], call[1:]...)
	cmd.Dir, cmd.Env = r.module(s), r.env
	begun := time.Now()
	output, err := cmd.CombinedOutput()
	if err != nil {
		return usage{}, fmt.Errorf("running %s in %s: %w\n%.2000s", call[0], cmd.Dir, err, output)
	}
	return usage{time.Since(begun), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}, nil
}

func (r *rig) programs(s harness.Side) [][]string {
	call := func(name string, args ...string) []string {
		return slices.Concat([]string{filepath.Join(r.temp, "bin", name)}, args, r.packages)
	}
	if s == harness.Ours {
		return [][]string{call("ours")}
	}
	output := func(name string) []string {
		return []string{
			"--go-header-file", r.licence(), "--plural-exceptions", "Endpoints:Endpoints",
			"--output-dir", filepath.Join(r.module(s), generated, name), "--output-pkg", modulePath(s) + "/" + generated + "/" + name,
		}
	}
	return [][]string{
		call("lister-gen", output("listers")...),
		call("informer-gen", append(output("informers"), "--single-directory",
			"--versioned-clientset-package", "k8s.io/client-go/kubernetes",
			"--listers-package", modulePath(s)+"/"+generated+"/listers")...),
	}
}

func (r *rig) licence() string { return filepath.Join(r.temp, "licence.txt") }

// compile compiles a side's generated packages, and their imports missing from the build cache.
func (r *rig) compile(ctx context.Context, s harness.Side) (usage, error) {
	r.runs++
	if err := touch(filepath.Join(r.module(s), generated), r.runs); err != nil {
		return usage{}, err
	}
	return r.run(ctx, s, []string{"go", "build", "./" + generated + "/..."})
}

const compiled = "\n// Compiled in run "

func touch(dir string, run int) error {
	return filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".go") {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		before, _, _ := strings.Cut(string(text), compiled)
		return os.WriteFile(name, fmt.Appendf(nil, "%s%s%d of process %d\n", before, compiled, run, os.Getpid()), 0o644)
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
