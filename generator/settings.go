// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/config"
	"github.com/informer-gen/informer-gen/internal/generator/crd"
	"github.com/informer-gen/informer-gen/internal/generator/load"
	"github.com/informer-gen/informer-gen/internal/generator/marker"
	"github.com/informer-gen/informer-gen/internal/generator/model"
	"github.com/informer-gen/informer-gen/internal/generator/names"
	"github.com/informer-gen/informer-gen/internal/generator/resolve"
)

// settings is a Config merged with its configuration file.
type settings struct {
	dir     string       // absolute, links resolved
	file    *config.File // nil without a configuration file
	inputs  []setting
	loading load.Config
	target  target
	header  string // as model.Output.Header
	plurals map[string]resolve.Fact
	crds    []crd.Definition

	controllers, apply, discover, prune, keepGoing, allowEmpty bool
	// partial means that Config, not the configuration file, names the packages.
	partial bool
}

// locate gives each finding without a file the position of the longest input it mentions.
func (s settings) locate(findings diag.List) diag.List {
	findings = slices.Clone(findings)
	for i, d := range findings {
		best := setting{}
		for _, input := range s.inputs {
			if d.Pos.Filename == "" && input.pos.IsValid() && len(input.text) > len(best.text) && strings.Contains(d.Message, input.text) {
				best = input
				findings[i].Pos, findings[i].Marker = input.pos, input.key
			}
		}
	}
	return findings
}

// settings reads the configuration file and the files it names. The result is unusable if one of
// the findings is an error.
func (cfg Config) settings() (settings, diag.List) {
	dir, err := realDir(cfg.Dir)
	if err != nil {
		return settings{}, findingsOf(err)
	}
	s := settings{dir: dir}
	main, mainErr := findModule(dir)
	fileName, err := cfg.file(dir, main)
	if err != nil {
		return s, findingsOf(err)
	}
	file, fileDir := &config.File{}, dir
	if fileName != "" {
		if s.file, err = config.Read(fileName); err != nil {
			return s, findingsOf(err)
		}
		file, fileDir = s.file, filepath.Dir(fileName)
		if of, err := findModule(fileDir); err == nil {
			main, mainErr = of, nil
		}
	}
	scalar := func(flag, key string, value marker.Value) setting {
		if flag != "" {
			return setting{text: flag, dir: dir}
		}
		return setting{text: value.Text, dir: fileDir, key: key, pos: value.Pos}
	}
	list := func(flags []string, key string, values []marker.Value) []setting {
		var all []setting
		for _, flag := range flags {
			all = append(all, setting{text: flag, dir: dir})
		}
		for _, value := range values {
			if len(flags) == 0 {
				all = append(all, setting{text: value.Text, dir: fileDir, key: key, pos: value.Pos})
			}
		}
		return all
	}

	output, inputs := scalar(cfg.Output, "output", file.Output), list(cfg.Patterns, "inputs", file.Inputs)
	// the root of a workspace need not be a module
	if mainErr != nil && (!output.isSet() || len(inputs) == 0) {
		return s, findingsOf(mainErr)
	}
	s.loading = load.Config{Dir: main.dir, Patterns: []string{"./..."}, Env: cfg.Env}
	if len(inputs) > 0 {
		s.loading.Dir, s.loading.Patterns = inputs[0].dir, texts(inputs)
	}
	s.inputs, s.partial = inputs, len(cfg.Patterns) > 0
	tags := list(cfg.Tags, "tags", file.Tags)
	s.loading.Tags = texts(tags)
	s.controllers = boolSetting(cfg.Controllers, file.Controllers)
	s.apply = boolSetting(cfg.ApplyConfigurations, file.Apply)
	s.discover = boolSetting(cfg.Discover, file.Discover)
	s.prune = boolSetting(cfg.Prune, file.Prune)
	s.keepGoing = boolSetting(cfg.KeepGoing, file.KeepGoing)
	s.allowEmpty = boolSetting(cfg.AllowEmpty, file.AllowEmpty)

	var report diag.List
	layout, err := layoutOf(scalar(string(cfg.Layout), "layout", file.Layout).text)
	if err != nil {
		report.Add(diag.Diagnostic{Message: err.Error()})
	}
	if s.target, err = findTarget(dir, output, main, layout); err != nil {
		report.Add(output.finding(err.Error()))
	}
	s.loading.Skip = s.target.owns
	for _, input := range inputs {
		input.checkFolder(&report)
	}
	for _, tag := range tags {
		if !buildTag.MatchString(tag.text) {
			report.Add(tag.finding(fmt.Sprintf("%q isn't a build tag: use letters, digits, _ and dots", tag.text)))
		}
	}
	s.header = s.readHeader(scalar(cfg.Header, "header", file.Header), scalar(cfg.HeaderYear, "headerYear", file.HeaderYear), &report)
	s.plurals = pluralsOf(cfg.Plurals, file.Plurals, &report)
	for _, name := range list(cfg.CRDs, "crds", file.CRDs) {
		s.addCRDs(name, &report)
	}
	return s, report.Sorted()
}

// file returns the name of the configuration file, or "" without one.
func (cfg Config) file(dir string, main goModule) (string, error) {
	switch {
	case cfg.File == NoFile:
		return "", nil
	case cfg.File != "":
		name := setting{text: cfg.File, dir: dir}.path()
		folder, err := realDir(filepath.Dir(name))
		return filepath.Join(folder, filepath.Base(name)), err
	}
	top := main.dir
	if top == "" {
		top = workspaceOf(dir)
	}
	return config.Find(dir, top)
}

var buildTag = regexp.MustCompile(`^[\pL\pN_.]+$`)

func findingsOf(err error) diag.List {
	var list diag.List
	if errors.As(err, &list) {
		return list
	}
	return diag.List{{Message: err.Error()}}
}

func boolSetting(flag *bool, value marker.Value) bool {
	if flag != nil {
		return *flag
	}
	return config.True(value)
}

func layoutOf(name string) (model.Layout, error) {
	switch Layout(name) {
	case "", Grouped:
		return model.Grouped, nil
	case Single:
		return model.Single, nil
	}
	allowed := []string{string(Grouped), string(Single)}
	return model.Grouped, fmt.Errorf("layout %q isn't known%s (allowed: %s)", name, diag.DidYouMean(name, allowed), strings.Join(allowed, ", "))
}

func (s *settings) addCRDs(name setting, report *diag.List) {
	definitions, wrong := crd.Read(name.path())
	for _, d := range wrong {
		if d.Pos.Filename == "" {
			d = name.finding(d.Message)
		}
		report.Add(d)
	}
	s.crds = append(s.crds, definitions...)
}

// pluralsOf merges the plurals; those of Config override the configuration file.
func pluralsOf(flags map[string]string, entries []config.Entry, report *diag.List) map[string]resolve.Fact {
	plurals := map[string]resolve.Fact{}
	for _, entry := range entries {
		plurals[entry.Key.Text] = resolve.Fact{Text: entry.Value.Text, Pos: entry.Value.Pos, From: "plurals"}
	}
	for kind, plural := range flags {
		plurals[kind] = resolve.Fact{Text: plural, From: "--plural"}
	}
	for _, kind := range slices.Sorted(maps.Keys(plurals)) {
		plural := plurals[kind]
		for _, name := range []string{kind, plural.Text} {
			if !names.IsExported(name) {
				d := diag.Diagnostic{Pos: plural.Pos, Message: fmt.Sprintf("%q isn't an exported Go name%s", name, names.SuggestExported(name))}
				if plural.Pos.IsValid() {
					d.Marker = "plurals"
				} else {
					d.Message = fmt.Sprintf("the plural %s of %s: %s", plural.Text, kind, d.Message)
				}
				report.Add(d)
			}
		}
	}
	return plurals
}
