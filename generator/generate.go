// SPDX-License-Identifier: Apache-2.0

// Package generator turns Go packages with marked API types into informers, listers and indexes.
//
// Generate does all of it and returns Files, which can be written, or compared with what is on disk. Its steps are load
// (packages and types), marker (comments), this package (the model of what is generated) and templates (Go text). Only
// Files.Write changes the disk.
package generator

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/informer-gen/informer-gen/generator/diag"
	"github.com/informer-gen/informer-gen/generator/load"
	"github.com/informer-gen/informer-gen/templates"
)

// Config says what to generate, and where. The zero Config reads all packages of the module that the process works in
// and writes beside its go.mod.
type Config struct {
	// Dir is the folder that everything else is relative to; empty means the working directory of the process.
	Dir string
	// Patterns are the go command's patterns for the packages to read: import paths, folders, "./...". None is "./..."
	// from the root of the module that Dir lies in.
	Patterns []string
	// Output is the output folder; empty means DefaultOutput beside go.mod. It must lie in a module, which determines its
	// import path.
	Output string
	// Prune allows a run whose patterns leave out packages that have files in the output; these files become stale.
	Prune bool
	// KeepGoing generates for the types that compile even if others don't. Files of types that are left out become stale,
	// unless all types are left out.
	KeepGoing bool
	// Env is the environment of the go command; nil is that of the process.
	Env []string
	// Warn may be nil. It is called for each warning, in order, on the caller's goroutine, before Generate returns.
	Warn func(diag.Diagnostic)
}

// ErrNothing says that no package has a type that something can be generated for.
var ErrNothing = errors.New("no type to generate for")

// Generate reads the packages of cfg and returns all files to be written for them, or an error. It writes nothing itself,
// and the go command is the only program that it runs.
//
// If the content of the packages is wrong, the error is a diag.List of everything that is wrong, warnings included, with
// file names relative to cfg.Dir. If nothing is wrong but there is nothing to generate, it wraps ErrNothing, unless earlier
// runs have left files in the output and no warning could be the reason: then Files is empty and those files are stale.
// If ctx is done first, the error is the context's cause.
func Generate(ctx context.Context, cfg Config) (Files, error) {
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return Files{}, fmt.Errorf("finding the working directory: %w", err)
	}
	// The go command names files by their real paths.
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	main, err := findModule(dir)
	if err != nil && (cfg.Output == "" || len(cfg.Patterns) == 0) { // the root of a workspace need not be a module
		return Files{}, err
	}
	to, err := findTarget(dir, cfg.Output, main)
	if err != nil {
		return Files{}, err
	}
	loading := load.Config{Dir: dir, Patterns: cfg.Patterns, Env: cfg.Env, Skip: to.owns}
	if len(cfg.Patterns) == 0 {
		loading.Dir, loading.Patterns = main.dir, []string{"./..."}
	}
	program, err := load.Load(ctx, loading)
	if err != nil {
		var list diag.List
		if errors.As(err, &list) {
			return Files{}, list.Relative(dir)
		}
		return Files{}, err
	}
	if !cfg.Prune {
		if err := covered(ctx, loading, to, program.Roots); err != nil {
			return Files{}, err
		}
	}
	rendered, findings, err := render(program, program.Roots, to, cfg.KeepGoing)
	findings = findings.Relative(dir)
	if errors.Is(err, errWrong) {
		return Files{}, findings
	}
	if cfg.Warn != nil {
		for _, warning := range findings { // before any other error, which one of them may explain
			cfg.Warn(warning)
		}
	}
	if errors.Is(err, ErrNothing) && len(findings) == 0 {
		stale, scanErr := existing(to.dir)
		if scanErr != nil {
			return Files{}, scanErr
		}
		if len(stale) > 0 {
			err = nil
		}
	}
	if err != nil {
		return Files{}, err
	}
	return Files{Root: to.dir, Name: filepath.ToSlash(diag.ShortPath(dir, to.dir)), Files: rendered}, nil
}

// errWrong says that there are errors among the findings.
var errWrong = errors.New("the input is wrong")

// render returns what is to be written to the output for the roots, or why nothing is.
func render(program *load.Program, roots []*load.Package, to target, keepGoing bool) ([]templates.File, diag.List, error) {
	r := resolver{fset: program.Fset, importPath: to.importPath, keepGoing: keepGoing, expansions: to.expansions}
	out, findings := r.resolve(program, roots)
	if errs, _ := findings.Split(); len(errs) > 0 {
		return nil, findings, errWrong
	}
	if len(out.Groups) == 0 {
		return nil, findings, nothing(roots)
	}
	files, err := templates.Render(out)
	return files, findings, err
}

// nothing says why there is nothing to generate.
func nothing(roots []*load.Package) error {
	in := fmt.Sprintf("the %d packages that were read", len(roots))
	switch len(roots) {
	case 0:
		return fmt.Errorf("%w: the patterns match no package outside of the output", ErrNothing)
	case 1:
		in = "package " + roots[0].Path
	}
	return fmt.Errorf("%w: in %s, no type with metav1.ObjectMeta and the verbs list and watch has +genclient or +kubebuilder:object:root=true above it", ErrNothing, in)
}
