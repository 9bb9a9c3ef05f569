// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/generator"
	"github.com/informer-gen/informer-gen/internal/diag"
)

// Use replaces the Inputs by packages matching the patterns. It runs the go command once, in the
// module, and examines their types. Packages and types of other modules, which can't be corrected,
// are left out if nothing can be generated for them: a remark says why. If nothing is left out, the
// patterns stay as they are.
//
// The error is the go command's, a [diag.List] from the generator if go.mod or go.sum lacks
// modules, or [generator.ErrNothing] if no package has a type to generate for.
func (p *Project) Use(ctx context.Context, patterns []string) error {
	patterns, err := p.fromRoot(patterns)
	if err != nil {
		return err
	}
	found, err := generator.Inspect(ctx, generator.Config{
		Dir: p.Dir, File: generator.NoFile, Patterns: patterns,
	})
	if err != nil {
		return err
	}
	errs, _ := found.Findings.Split()
	if i := slices.IndexFunc(errs, func(d diag.Diagnostic) bool { return d.Pos.Filename == "" }); i >= 0 {
		return errs[i : i+1] // no package is to blame
	}
	if missing := p.missingImports(errs); len(missing) > 0 {
		return missing
	}
	p.Inputs, p.Discover, p.Chosen = patterns, false, true
	p.LeftOut, p.required = nil, nil
	var kept, left []string
	for _, pkg := range found.Packages {
		types := slices.DeleteFunc(slices.Clone(found.Types), func(t generator.InspectedType) bool { return t.Package != pkg })
		if len(types) == 0 {
			continue
		}
		if pkg == p.Module || strings.HasPrefix(pkg, p.Module+"/") {
			kept = append(kept, pkg)
			continue
		}
		settings, why := exclude(pkg, types, errs)
		switch {
		case why != "":
			left = append(left, pkg+": "+why)
			continue
		case len(settings.Excluded) > 0:
			p.Packages = append(p.Packages, settings)
		}
		if slices.ContainsFunc(types, isGenerated) {
			kept = append(kept, pkg)
		}
	}
	if len(kept) == 0 {
		if len(left) > 0 {
			return fmt.Errorf("%w: nothing can be generated for any package that matches %s:\n\t%s",
				generator.ErrNothing, strings.Join(patterns, " "), strings.Join(left, "\n\t"))
		}
		return fmt.Errorf("%w: no type in the packages that match %s is marked with +genclient or +kubebuilder:object:root=true",
			generator.ErrNothing, strings.Join(patterns, " "))
	}
	if len(left) > 0 {
		p.Inputs = kept
		p.Notes = append(p.Notes, "All packages with API types that match "+strings.Join(patterns, " ")+", except")
		for _, text := range left {
			p.Notes = append(p.Notes, "  "+text)
		}
	}
	return nil
}

// fromRoot makes folder patterns relative to the folder of go.mod, where the configuration is.
func (p *Project) fromRoot(patterns []string) ([]string, error) {
	var all []string
	for _, pattern := range patterns {
		if pattern == "." || pattern == ".." || strings.HasPrefix(pattern, "./") || strings.HasPrefix(pattern, "../") {
			rel, err := filepath.Rel(p.Dir, filepath.Join(p.cwd, filepath.FromSlash(pattern)))
			if err != nil {
				return nil, fmt.Errorf("the pattern %s: %w", pattern, err)
			}
			pattern = "./" + filepath.ToSlash(rel)
		}
		all = append(all, pattern)
	}
	return all, nil
}

func isGenerated(t generator.InspectedType) bool { return t.Generated }

// exclude returns the types to leave out of a package. why is set to leave out all of it: none of
// its types can be generated, or an error isn't about one of them.
func exclude(pkg string, types []generator.InspectedType, errs diag.List) (settings Package, why string) {
	settings.Path = pkg
	wrong := map[string]string{} // by type
	var rest []string
	folders := map[string]bool{}
	for _, t := range types {
		folders[filepath.Dir(t.Pos.Filename)] = true
	}
	for _, d := range errs {
		if !folders[filepath.Dir(d.Pos.Filename)] {
			continue
		}
		about := slices.IndexFunc(types, func(t generator.InspectedType) bool {
			return t.Pos == d.Pos && strings.HasPrefix(d.Message, "type "+t.Name+" ")
		})
		if about < 0 {
			rest = append(rest, oneLine(d))
		} else if wrong[types[about].Name] == "" {
			wrong[types[about].Name] = oneLine(d)
		}
	}
	for _, t := range types {
		if reason := wrong[t.Name]; reason != "" {
			settings.Excluded = append(settings.Excluded, Excluded{t.Name, reason})
		}
	}
	switch {
	case len(rest) > 0:
		return Package{}, rest[0]
	case len(settings.Excluded) > 0 && !slices.ContainsFunc(types, isGenerated):
		return Package{}, settings.Excluded[0].Reason
	}
	return settings, ""
}

// oneLine returns a finding for a comment, without file names that differ between machines.
func oneLine(d diag.Diagnostic) string {
	text := strings.Join(strings.Fields(d.Message), " ")
	if d.Marker != "" {
		text = d.Marker + ": " + text
	}
	if d.Pos.Filename != "" {
		text += " (" + path.Base(filepath.ToSlash(d.Pos.Filename)) + ")"
	}
	return text
}

// missingImports returns the errors about imports from modules absent in go.mod. No package is to
// blame for those.
func (p *Project) missingImports(errs diag.List) diag.List {
	var missing diag.List
	for _, d := range errs {
		if !canBeAdded.MatchString(d.Message) {
			continue
		}
		if d.Pos.Filename != "" && !filepath.IsAbs(d.Pos.Filename) {
			d.Pos.Filename = p.Relative(d.Pos.Filename)
		}
		missing.Add(d)
	}
	return missing
}

var canBeAdded = regexp.MustCompile(`^could not import .*; to add it: go get `)
