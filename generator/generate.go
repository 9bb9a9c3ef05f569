// SPDX-License-Identifier: Apache-2.0

// Package generator turns Go packages with marked API types into informers, listers and indexes.
//
// [Generate] runs every step and returns [Files]; [Inspect] explains the decisions. The steps live
// below internal/generator, in this order:
//
//   - this package reads the configuration and finds the output folder;
//   - load finds packages, their syntax and their types;
//   - resolve parses comments with marker/syntax, selects types and names everything;
//   - index follows the field paths of indexes through Go types;
//   - model holds the decisions;
//   - templates render the model as Go files;
//   - output compares and writes them.
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

// Config says what to generate, and where. A field overrides the configuration file; an unset field
// (empty or nil) takes the file's value or else its own default, which is false for a *bool.
//
// File and folder names are relative to Dir; those in the configuration file are relative to its
// own folder.
type Config struct {
	// Dir is the base of relative names. The default is the working directory of the process.
	Dir string
	// File is the configuration file. Empty means informer-gen.yaml in Dir or the nearest folder
	// above it, up to the one with go.mod (or go.work, if Dir lies in no module); it may be
	// missing. NoFile means no configuration file.
	File string
	// Patterns are the go command's patterns for the packages to read: import paths, folders,
	// "./...". The default is "./..." from the root of the module around the configuration file or,
	// without one, around Dir.
	Patterns []string
	// Output is the output folder. The default is DefaultOutput beside the go.mod of that module.
	// The folder must lie in a module, which determines its import path.
	Output string
	// Layout arranges files and packages. The default is Grouped.
	Layout Layout
	// Controllers adds the methods that create controllers to informers.
	Controllers *bool
	// ApplyConfigurations generates types for server-side apply that send the set fields only, zero
	// values included.
	ApplyConfigurations *bool
	// Header is a file with comments for the top of each generated file.
	Header string
	// HeaderYear replaces the word YEAR in the header. There is no default, so that files don't
	// change with the clock.
	HeaderYear string
	// Tags are build tags for the go command.
	Tags []string
	// CRDs are YAML files with CustomResourceDefinitions, or folders of such files. Group, scope
	// and plural of the kinds are checked against them.
	CRDs []string
	// Discover selects all types with metav1.TypeMeta and metav1.ObjectMeta in packages without
	// marked types.
	Discover *bool
	// Plurals maps kinds to their Go plurals where the rules give the wrong one. These entries are
	// added to those of the configuration file.
	Plurals map[string]string
	// Prune allows patterns to leave out packages that have files in the output. Those files become
	// stale, and Write removes stale files.
	Prune *bool
	// KeepGoing generates for the types that compile even if others don't. Files of the others
	// become stale, unless no type compiles.
	KeepGoing *bool
	// AllowEmpty makes a run with nothing to generate succeed; files of earlier runs become stale.
	AllowEmpty *bool
	// Env is the environment of the go command; nil means that of the process.
	Env []string
	// Warn, if not nil, is called for each warning, in order, on the caller's goroutine, before
	// Generate returns.
	Warn func(Finding)
}

// NoFile as Config.File disables the configuration file.
const NoFile = "none"

// Layout names an arrangement of the output.
type Layout string

const (
	// Grouped has a folder for each group and version, below informers and listers.
	Grouped Layout = "grouped"
	// Single puts all files into the output folder, as one package whose factory has the kinds as
	// its own methods.
	Single Layout = "single"
)

// Finding is an error or a warning, with its position, the marker and the allowed values.
type Finding = diag.Diagnostic

// Findings is an error that lists every problem of an input.
type Findings = diag.List

// Files is the rendered output of one run: Write puts it on disk, Diff shows the changes that Write
// would make. Generate makes Name relative to Config.Dir where that is shorter.
type Files struct {
	output.Folder
}

// ErrNothing means that no package has a type to generate for.
var ErrNothing = errors.New("no type to generate for")

// Generate reads the packages of cfg and returns the files to write for them. It writes nothing
// itself and runs no program except the go command.
//
// If the configuration or a package is wrong, the error is [Findings] with every error and warning,
// and file names relative to cfg.Dir; a finding without a file is about cfg itself. If ctx is done
// first, the error is the context's cause.
//
// If nothing is wrong but there is nothing to generate, the error wraps [ErrNothing], unless
// AllowEmpty is set, or earlier runs have left files in the output and there are no warnings; then
// Files holds no files, and those of earlier runs are stale.
func Generate(ctx context.Context, cfg Config) (Files, error) {
	s, program, findings, err := cfg.read(ctx)
	if err != nil {
		return Files{}, err
	}
	if !s.prune {
		if err := checkCovered(ctx, s.loading, s.target, program.Roots); err != nil {
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
		if missing := skew.Find(s.target.goMod); missing != nil {
			findings.Add(diag.Diagnostic{Pos: token.Position{Filename: s.target.goMod, Line: missing.Line}, Warning: true, Message: missing.Why()})
		}
	}
	findings = findings.Sorted().Relative(s.dir)
	if errors.Is(err, errWrong) {
		return Files{}, findings
	}
	if cfg.Warn != nil {
		for _, warning := range findings { // before any other error, which a warning may explain
			cfg.Warn(warning)
		}
	}
	if errors.Is(err, ErrNothing) && len(findings) == 0 {
		stale, scanErr := output.Existing(s.target.dir)
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
		Folder: output.Folder{Root: s.target.dir, Name: filepath.ToSlash(diag.ShortPath(s.dir, s.target.dir)), Files: rendered},
	}, nil
}

// Check returns the errors in the configuration file, and in the files that it or cfg names. It
// runs no program and reads no package.
func (cfg Config) Check() diag.List {
	s, findings := cfg.settings()
	errs, _ := findings.Relative(s.dir).Split()
	return errs
}

var errWrong = errors.New("the input is wrong")

// read reads the configuration and loads the packages. The findings are warnings.
func (cfg Config) read(ctx context.Context) (settings, *load.Program, diag.List, error) {
	s, findings := cfg.settings()
	if errs, _ := findings.Split(); len(errs) > 0 {
		return s, nil, nil, findings.Relative(s.dir)
	}
	program, err := load.Load(ctx, s.loading)
	var list diag.List
	if errors.As(err, &list) {
		err = append(findings, s.locate(list)...).Sorted().Relative(s.dir)
	}
	return s, program, findings, err
}

// resolve builds the model for the packages.
func (s settings) resolve(ctx context.Context, program *load.Program, roots []*load.Package) (resolve.Result, error) {
	result, err := resolve.Resolve(ctx, resolve.Input{
		Program: program, Roots: roots, Dir: s.dir, Output: index.Output{ImportPath: s.target.importPath, Has: s.target.contains}, Layout: s.target.layout,
		File: s.file, Partial: s.partial, Discover: s.discover, ApplyConfigurations: s.apply, KeepGoing: s.keepGoing,
		Plurals: s.plurals, CRDs: s.crds, Declared: s.target.handwrittenNames,
	})
	if err != nil {
		return result, err
	}
	result.Output.Package, result.Output.Header, result.Output.Controllers = s.target.pkg, s.header, s.controllers
	return result, nil
}
