// SPDX-License-Identifier: Apache-2.0

// Package fields finds out which fields of cached API objects a program reads: objects from
// listers, event handlers and indexes. Its caches need not keep the other fields.
//
// [Find] reports no field too few, as far as code can be followed, and names the places where an
// object leaves such code.
package fields

import (
	"cmp"
	"context"
	"errors"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/fields/internal/flow"
	"github.com/informer-gen/informer-gen/internal/generator/load"
)

// Config selects the program to analyze. Its fields are those of [load.Config].
type Config struct {
	Dir string
	// Patterns match packages whose functions run: those of a command, or of a controller.
	Patterns []string
	Env      []string
	Tags     []string
}

// Report describes a program's use of cached objects.
type Report struct {
	// Packages counts the packages matched by the patterns, Followed the analyzed ones.
	Packages, Followed int
	// Kinds are sorted by package and name.
	Kinds []*Kind
	// Unknown are uses of objects of an undetermined kind, perhaps any of the kinds, sorted by path
	// and place.
	Unknown []Use
}

// Kind is a kind of objects a program gets from a cache.
type Kind struct {
	// Package is the import path of the type's package, Name its name there.
	Package, Name string
	// From are the places where the program gets objects, sorted.
	From []token.Position
	// Uses are sorted by path and place.
	Uses []Use
	// Own means that a user can write markers above the type: its module belongs to the program.
	Own bool
	// Projected means that the kind itself is a projection.
	Projected bool

	typ *types.Named
}

// Use is a place where a program uses a part of an object.
type Use struct {
	// Path locates the part in the object like an index's field: [*] behind a list or a map,
	// ['key'] and [keys] behind a map. "" is the whole object.
	Path string
	How  How
	// Why says where the whole part goes, if How isn't Read or Present.
	Why string
	Pos token.Position

	field string // for a projection; "" for the whole object
	own   bool   // in a module of the program
}

// How is the way in which a program uses a part of an object.
type How = flow.How

// The ways of use; package flow documents them.
const (
	Read        = flow.Read
	Present     = flow.Present
	Whole       = flow.Whole
	Recursive   = flow.Recursive
	WrittenBack = flow.WrittenBack
	Unfollowed  = flow.Unfollowed
)

// Find reads the program of cfg and returns its uses of cached objects. File names are relative to
// cfg.Dir if that is shorter; those of other modules begin with the import path.
//
// The error is a [diag.List] if a package can't be found, or if one of the program's own doesn't
// compile, or both knows objects and uses C. If ctx ends first, the error is its cause.
func Find(ctx context.Context, cfg Config) (*Report, error) {
	fset := token.NewFileSet()
	program := flow.New(fset)
	code, err := load.Bodies(ctx, fset, load.Config{Dir: cfg.Dir, Patterns: cfg.Patterns, Env: cfg.Env, Tags: cfg.Tags}, followed, program.Add)
	var wrong diag.List
	if errors.As(err, &wrong) {
		return nil, wrong.Relative(cfg.Dir)
	}
	if err != nil {
		return nil, err
	}
	if wrong := usesC(code); len(wrong) > 0 {
		return nil, wrong.Relative(cfg.Dir)
	}
	places := newPlaces(cfg.Dir, code)
	found := program.Find()
	report := &Report{Unknown: places.uses(found.Unknown)}
	own := map[string]bool{} // by import path
	modules := map[string]bool{}
	for _, p := range code.Packages {
		modules[p.Module] = modules[p.Module] || p.Root || p.Main
	}
	for _, p := range code.Packages {
		own[p.Path] = modules[p.Module]
		if p.Root {
			report.Packages++
		}
		if p.Bodies {
			report.Followed++
		}
	}
	for _, k := range found.Kinds {
		name := k.Type.Obj()
		kind := &Kind{Package: name.Pkg().Path(), Name: name.Name(), Uses: places.uses(k.Uses), typ: k.Type}
		kind.Own, kind.Projected = own[kind.Package], isProjection(k.Type)
		for _, pos := range k.From {
			kind.From = append(kind.From, places.position(pos))
		}
		slices.SortFunc(kind.From, comparePositions)
		kind.From = slices.Compact(kind.From)
		report.Kinds = append(report.Kinds, kind)
	}
	return report, nil
}

type places struct {
	dir  string
	fset *token.FileSet
	// in holds the import paths of packages outside main modules, by folder.
	in map[string]string
}

func newPlaces(dir string, code *load.Code) *places {
	p := &places{dir: dir, fset: code.Fset, in: map[string]string{}}
	for _, of := range code.Packages {
		if !of.Main && of.Dir != "" {
			p.in[of.Dir] = of.Path
		}
	}
	return p
}

func (p *places) position(pos token.Pos) token.Position {
	position := p.fset.Position(pos)
	position.Offset = 0
	if in, ok := p.in[filepath.Dir(position.Filename)]; ok {
		position.Filename = path.Join(in, filepath.Base(position.Filename))
	} else {
		position.Filename = filepath.ToSlash(diag.ShortPath(p.dir, position.Filename))
	}
	return position
}

func (p *places) own(pos token.Pos) bool {
	_, foreign := p.in[filepath.Dir(p.fset.Position(pos).Filename)]
	return !foreign
}

// uses drops a check for a part's presence if something in the part is used.
func (p *places) uses(found []flow.Use) []Use {
	var uses []Use
	for _, u := range found {
		implied := u.How == Present && slices.ContainsFunc(found, func(other flow.Use) bool {
			return other.Path != u.Path && other.How != Present && within(other.Path, u.Path)
		})
		if !implied {
			uses = append(uses, Use{u.Path, u.How, u.Why, p.position(u.Pos), u.Field, p.own(u.Pos)})
		}
	}
	sortUses(uses)
	return slices.Compact(uses)
}

func sortUses(uses []Use) {
	slices.SortFunc(uses, func(a, b Use) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), comparePositions(a.Pos, b.Pos), strings.Compare(string(a.How)+a.Why, string(b.How)+b.Why))
	})
}

func within(path, part string) bool {
	rest, ok := strings.CutPrefix(path, part)
	return ok && (part == "" || rest == "" || rest[0] == '.' || rest[0] == '[')
}
