// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"bytes"
	"errors"
	"fmt"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/module"

	"github.com/informer-gen/informer-gen/generator"
	"github.com/informer-gen/informer-gen/internal/generator/config"
)

// ErrExists means that the configuration file exists already.
var ErrExists = errors.New("it already exists")

// Written lists the work of [Project.Write]. Names are relative to the project's folder.
type Written struct {
	// Config is the configuration file; empty if it was there, and has all that the controller
	// needs.
	Config string
	// Generate is the file that received go:generate lines; empty if one had them already.
	Generate string
	// Program are the files of the program.
	Program []string
}

// Write writes the configuration file, the go:generate lines and, with a Controller, its program.
// Without force, it never overwrites a configuration file: it then writes nothing and returns an
// error that wraps [ErrExists]. For a Controller, it adds a line to that file instead. It never
// overwrites a file of a program: it then writes nothing.
func (p *Project) Write(force bool) (Written, error) {
	var written Written
	name := filepath.Join(p.Dir, config.FileName)
	old, err := os.ReadFile(name)
	switch {
	case err == nil && !force && p.Controller == nil:
		return written, fmt.Errorf("writing %s: %w; edit it, or use --force to replace it", name, ErrExists)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return written, fmt.Errorf("looking for %s: %w", name, err)
	}
	if err := p.check(); err != nil {
		return written, err
	}
	writeConfig := p.writeConfig
	written.Config = config.FileName
	if err == nil && !force {
		changed, err := withControllers(old)
		if err != nil {
			return Written{}, err
		}
		if bytes.Equal(changed, old) {
			written.Config = ""
		}
		writeConfig = func(name string) error { return os.WriteFile(name, changed, 0o644) }
	}
	var files []file
	if p.Controller != nil {
		if files, err = p.controllerFiles(); err == nil {
			err = p.checkNew(files)
		}
		if err != nil {
			return Written{}, err
		}
	}
	generate, content, err := p.generateFile()
	if err != nil {
		return Written{}, err
	}
	if written.Config != "" {
		if err := writeConfig(name); err != nil {
			return Written{}, fmt.Errorf("writing the configuration: %w", err)
		}
	}
	if generate != "" {
		if err := os.WriteFile(filepath.Join(p.Dir, generate), content, 0o644); err != nil {
			return written, fmt.Errorf("writing the go:generate line: %w", err)
		}
		written.Generate = generate
	}
	if err := p.writeFiles(files); err != nil {
		return written, fmt.Errorf("writing the program: %w", err)
	}
	for _, f := range files {
		written.Program = append(written.Program, f.name)
	}
	return written, nil
}

// writeConfig writes the configuration file, omitting settings that the generator rejects: a remark
// says why.
func (p *Project) writeConfig(name string) error {
	if err := os.WriteFile(name, p.Config(), 0o644); err != nil {
		return err
	}
	problems := generator.Config{Dir: p.Dir}.Check()
	if len(problems) == 0 {
		return nil
	}
	toCome := p.Controller != nil && p.Controller.definesCRDs
	for _, d := range problems {
		switch {
		case p.Header != "" && (d.Marker == "header" || d.Pos.Filename == p.Header):
			p.Notes = append(p.Notes, p.Header+" isn't used as header: "+oneLine(d))
			p.Header, p.HeaderYear = "", ""
		case len(p.CRDs) > 0 && !toCome:
			p.Notes = append(p.Notes, "Nothing is checked against "+p.CRDs[0]+": "+oneLine(d))
			p.CRDs = nil
		}
	}
	return os.WriteFile(name, p.Config(), 0o644)
}

const generateLine = "//go:generate go tool informer-gen\n"

// generateFile returns the file beside go.mod for the missing go:generate lines, and its new
// content; no name if none is missing.
func (p *Project) generateFile() (name string, content []byte, err error) {
	lines := p.Controller.generateLines(p)
	if p.Generate == "" {
		lines += generateLine
	}
	if lines == "" {
		return "", nil, nil
	}
	name = "generate.go"
	if path.Dir(p.Generate) == "." && p.Generate != "" {
		name = p.Generate
	}
	old, err := os.ReadFile(filepath.Join(p.Dir, name))
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", nil, fmt.Errorf("reading %s: %w", name, err)
	case err == nil && bytes.Contains(old, []byte(lines)):
		return "", nil, nil
	case err == nil && name == p.Generate: // informer-gen's line comes last
		var before []byte
		for line := range bytes.Lines(old) {
			if hasGenerateLine(line) {
				break
			}
			before = append(before, line...)
		}
		return name, slices.Concat(before, []byte(lines), old[len(before):]), nil
	case err == nil:
		if !bytes.HasSuffix(old, []byte("\n")) {
			old = append(old, '\n')
		}
		return name, append(old, "\n"+lines...), nil
	}
	var b bytes.Buffer
	if header := bytes.TrimSpace(buildLine.ReplaceAll(p.header, nil)); len(header) > 0 {
		b.Write(header)
		b.WriteString("\n\n")
	}
	fmt.Fprintf(&b, "package %s\n\n%s", p.packageName(), lines)
	return name, b.Bytes(), nil
}

// buildLine matches a build constraint, which is meant for generated files: with it, go generate
// would ignore this file.
var buildLine = regexp.MustCompile(`(?m)^//(go:build| \+build) .*$`)

var notAlphanumeric = regexp.MustCompile(`[^a-z0-9]`)

// packageName returns the name of the package beside go.mod, or a likely one.
func (p *Project) packageName() string {
	if p.rootName != "" {
		return p.rootName
	}
	prefix, _, ok := module.SplitPathVersion(p.Module)
	if !ok {
		prefix = p.Module
	}
	name := notAlphanumeric.ReplaceAllString(strings.ToLower(strings.TrimPrefix(path.Base(prefix), "go-")), "")
	if name == "" || name[0] >= '0' && name[0] <= '9' || token.IsKeyword(name) || name == "main" {
		name = "p" + name
	}
	return name
}
