// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"context"
	"go/token"
	"path/filepath"

	"github.com/informer-gen/informer-gen/internal/diag"
)

// Inspection tells what Generate would do with each type, and why. File names are relative to
// Config.Dir where that makes them shorter.
type Inspection struct {
	// Config is the name of the configuration file; empty without one.
	Config string
	// Output is the name of the output folder, with slashes.
	Output string
	// Packages are the import paths of all packages read, sorted.
	Packages []string
	// Types are all exported types with a marker or metav1.ObjectMeta, in the order of packages and
	// positions.
	Types []InspectedType
	// Findings are sorted. If one of them is an error, Generate would fail.
	Findings Findings
}

// InspectedType is a type, with the decision to generate for it or not.
type InspectedType struct {
	// Package is the import path of the type's package.
	Package string
	// Name is the type's name in Go, which is its kind.
	Name string
	Pos  token.Position
	// Generated means that the type gets an informer.
	Generated bool
	// Reason explains Generated, and where that was decided.
	Reason Fact
	// Advice tells how to get the type generated; "" if that is unknown.
	Advice string

	// The rest is set only if Generated. An undecided group or version has neither Text nor From;
	// the core group has only a From.
	Group, GroupGoName, Version Fact
	Scope, Resource, Plural     Fact
	Indexes                     []InspectedIndex
	// Accessor is the expression for the informer and the lister, for example
	// "factory.Shop().V1().Widgets()".
	Accessor string
	// Files are the generated files of this type alone, relative to Output; nil if there are
	// errors.
	Files []string
}

// Fact is a decision, as its Text, and the source of it. From is a marker's name with its "+", a
// key of the configuration file, a flag with its "--", or a rule in words. Pos is the place of the
// source; not valid for flags and rules.
type Fact struct {
	Text string
	From string
	Pos  token.Position
}

// InspectedIndex is an index of a type.
type InspectedIndex struct {
	Name string
	// Key is the Go type of the keys.
	Key string
	// Of is the source of the keys, for example "field .spec.nodeName".
	Of string
	// Namespaced means that keys count within a namespace.
	Namespaced bool
	Pos        token.Position
}

// Inspect makes the decisions of Generate and returns them. It writes nothing, doesn't call Warn,
// and doesn't check the files of earlier runs.
//
// Errors in packages are Findings of the Inspection and don't fail the call. The error is
// [Findings] if the configuration is wrong, else that of the go command; if ctx is done first, it
// is the context's cause.
func Inspect(ctx context.Context, cfg Config) (Inspection, error) {
	s, program, findings, err := cfg.read(ctx)
	if err != nil {
		return Inspection{}, err
	}
	result, err := s.resolve(ctx, program, program.Roots)
	if err != nil {
		return Inspection{}, err
	}
	findings = append(findings, result.Findings...).Sorted()
	files, err := renderValid(result)
	if err != nil {
		return Inspection{}, err
	}
	i := Inspection{
		Output:   filepath.ToSlash(diag.ShortPath(s.dir, s.target.dir)),
		Findings: findings.Relative(s.dir),
	}
	if s.file != nil {
		i.Config = diag.ShortPath(s.dir, s.file.Name)
	}
	for _, root := range program.Roots {
		i.Packages = append(i.Packages, root.Path)
	}
	for _, of := range result.Types {
		t := inspected(of)
		for _, f := range files {
			if isFileOf(f.Path, f.Source, of) {
				t.Files = append(t.Files, f.Path)
			}
		}
		if t.Generated {
			t.Accessor = accessor(t, s.target.layout)
		}
		t.makeRelative(s.dir)
		i.Types = append(i.Types, t)
	}
	return i, nil
}
