// SPDX-License-Identifier: Apache-2.0

// Package generator turns Go packages with marked API types into informers, listers and indexes.
//
// [Generate] does all of it and returns [Files], which can be written, or compared with what is on
// disk; [Inspect] says why. Its parts are below internal/generator, in the order of their work:
//
//   - this package reads the configuration and decides where the output goes;
//   - load finds packages, their syntax and their types;
//   - resolve reads the comments by marker/syntax, selects types and decides their names;
//   - index follows the paths of their indexes through Go types;
//   - model holds what was decided;
//   - templates make Go files of the model;
//   - output compares and writes them. Only Write of [Files] changes the disk.
package generator

import (
	"context"
	"errors"
	"go/token"
	"path/filepath"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/index"
	"github.com/informer-gen/informer-gen/internal/generator/load"
	"github.com/informer-gen/informer-gen/internal/generator/output"
	"github.com/informer-gen/informer-gen/internal/generator/resolve"
	"github.com/informer-gen/informer-gen/internal/generator/skew"
)

// Config is what to generate, and where. The zero Config follows the configuration file. If there
// is none, it reads all packages of the module that the process works in, and writes beside its
// go.mod.
//
// Whatever is set here takes the place of what the configuration file says about it. Names of files
// and folders are relative to Dir; those in the configuration file are relative to its own folder.
type Config struct {
	// Dir is the folder that everything else is relative to; empty means the working directory of
	// the process.
	Dir string
	// File is the configuration file. Empty means config.FileName in Dir or the nearest folder
	// above it that has one, up to the one with go.mod (or go.work, if Dir lies in no module);
	// there need not be any. NoFile means that none is read.
	File string
	// Patterns are the go command's patterns for the packages to read: import paths, folders,
	// "./...". If there are none, those of the configuration file count or, without these, "./..."
	// from the root of the module that the configuration file, or else Dir, lies in.
	Patterns []string
	// Output is the output folder; empty means what the configuration file says, else DefaultOutput
	// beside the go.mod of that module. It must lie in a module, which determines its import path.
	Output string
	// Layout says how files and packages are laid out; empty means what the configuration file
	// says, else Grouped.
	Layout Layout
	// Controllers gives informers the methods that controllers are made with; nil means what the
	// configuration file says, else false.
	Controllers *bool
	// Header is a file with comments that stand on top of each generated file; empty means the one
	// that the configuration file names, else none.
	Header string
	// HeaderYear takes the place of the word YEAR in the header, for example "2026"; empty means
	// what the configuration file says. There is no other default, so that files don't change with
	// the clock.
	HeaderYear string
	// Tags are build tags for the go command. If there are none, those of the configuration file
	// count.
	Tags []string
	// CRDs are YAML files with CustomResourceDefinitions, or folders of such files, which group,
	// scope and plural of the kinds are checked against. If there are none, those of the
	// configuration file count.
	CRDs []string
	// Discover selects all types with metav1.TypeMeta and metav1.ObjectMeta in packages in which no
	// type is marked; nil means what the configuration file says, else false.
	Discover *bool
	// Plurals are the plurals in Go by kind, for those where the rules give the wrong one; may be
	// nil. They are added to those of the configuration file.
	Plurals map[string]string
	// Prune allows a run whose patterns leave out packages that have files in the output. These
	// files become stale, and Write removes stale files. Nil means what the configuration file
	// says, else false.
	Prune *bool
	// KeepGoing generates for the types that compile even if others don't. Files of types that are
	// left out become stale, unless all types are left out. Nil means what the configuration file
	// says, else false.
	KeepGoing *bool
	// AllowEmpty makes a run without anything to generate succeed: what earlier runs have left
	// becomes stale. Nil means what the configuration file says, else false.
	AllowEmpty *bool
	// Env is the environment of the go command; nil is that of the process.
	Env []string
	// Warn may be nil. It is called for each warning, in order, on the caller's goroutine, before
	// Generate returns.
	Warn func(Finding)
}

// NoFile as Config.File means that no configuration file is read.
const NoFile = "none"

// Layout is the name of a way in which the output is laid out.
type Layout string

const (
	// Grouped has a folder for each group and version, below informers and listers.
	Grouped Layout = "grouped"
	// Single has all files in the output folder itself, as one package, with the kinds right on the
	// factory.
	Single Layout = "single"
)

// Finding is an error or a warning, with its position, the marker, and the values that would have
// been right.
type Finding = diag.Diagnostic

// Findings is an error that holds everything that is wrong with an input.
type Findings = diag.List

// Files is what one run would write, fully rendered: Write puts it on disk, Diff returns what Write
// would change. Generate makes the Name relative to Config.Dir where that is shorter.
type Files struct {
	output.Folder
}

// ErrNothing means that no package has a type that something can be generated for.
var ErrNothing = errors.New("no type to generate for")

// Generate reads the packages of cfg and returns all files to be written for them, or an error. It
// writes nothing itself, and the go command is the only program that it runs.
//
// If the configuration or the content of the packages is wrong, the error is [Findings] of
// everything that is wrong, warnings included, with file names relative to cfg.Dir; a finding
// without a file is about cfg itself. If ctx is done first, the error is the context's cause.
//
// If nothing is wrong but there is nothing to generate, the error wraps [ErrNothing]. There is no
// error in two cases: AllowEmpty is set, or earlier runs have left files in the output and there
// are no warnings, one of which might say why nothing was found. Then Files has no files, and those
// of earlier runs are stale.
func Generate(ctx context.Context, cfg Config) (Files, error) {
	s, program, findings, err := cfg.read(ctx)
	if err != nil {
		return Files{}, err
	}
	if !s.prune {
		if err := covered(ctx, s.loading, s.to, program.Roots); err != nil {
			return Files{}, err
		}
	}
	result, err := s.resolve(ctx, program, program.Roots)
	if err != nil {
		return Files{}, err
	}
	findings = append(findings, result.Findings...)
	rendered, err := s.render(result, program.Roots)
	if len(rendered) > 0 {
		if missing := skew.Find(s.to.goMod); missing != nil {
			findings.Add(diag.Diagnostic{Pos: token.Position{Filename: s.to.goMod, Line: missing.Line}, Warning: true, Message: missing.Why()})
		}
	}
	findings = findings.Sorted().Relative(s.dir)
	if errors.Is(err, errWrong) {
		return Files{}, findings
	}
	if cfg.Warn != nil {
		for _, warning := range findings { // before any other error, which one of them may explain
			cfg.Warn(warning)
		}
	}
	if errors.Is(err, ErrNothing) && len(findings) == 0 {
		stale, scanErr := output.Existing(s.to.dir)
		if scanErr != nil {
			return Files{}, scanErr
		}
		if len(stale) > 0 {
			err = nil
		}
	}
	if errors.Is(err, ErrNothing) && s.allowEmpty {
		err = nil
	}
	if err != nil {
		return Files{}, err
	}
	return Files{
		Folder: output.Folder{Root: s.to.dir, Name: filepath.ToSlash(diag.ShortPath(s.dir, s.to.dir)), Files: rendered},
	}, nil
}

// Check returns the errors in the configuration file, and in the files that it or cfg names. It
// runs no other program and looks at no package.
func (cfg Config) Check() diag.List {
	s, findings := cfg.settings()
	errs, _ := findings.Relative(s.dir).Split()
	return errs
}

// errWrong means that there are errors among the findings.
var errWrong = errors.New("the input is wrong")

// read reads the configuration and loads the packages. What is wrong is the error; the findings are
// warnings.
func (cfg Config) read(ctx context.Context) (settings, *load.Program, diag.List, error) {
	s, findings := cfg.settings()
	if errs, _ := findings.Split(); len(errs) > 0 {
		return s, nil, nil, findings.Relative(s.dir)
	}
	program, err := load.Load(ctx, s.loading)
	var list diag.List
	if errors.As(err, &list) {
		err = append(findings, s.located(list)...).Sorted().Relative(s.dir)
	}
	return s, program, findings, err
}

// resolve turns the packages into a model by the settings. If ctx ends first, the error is its
// cause.
func (s settings) resolve(ctx context.Context, program *load.Program, roots []*load.Package) (resolve.Result, error) {
	result, err := resolve.Resolve(ctx, resolve.Input{
		Program: program, Roots: roots, Dir: s.dir, Output: index.Output{ImportPath: s.to.importPath, Has: s.to.has}, Layout: s.to.layout,
		File: s.file, Partial: s.partial, Discover: s.discover, KeepGoing: s.keepGoing,
		Plurals: s.plurals, CRDs: s.crds, Declared: s.to.declared,
	})
	if err != nil {
		return result, err
	}
	result.Output.Package, result.Output.Header, result.Output.Controllers = s.to.pkg, s.header, s.controllers
	return result, nil
}
