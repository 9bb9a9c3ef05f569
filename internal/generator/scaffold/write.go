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
	"strings"

	"golang.org/x/mod/module"

	"github.com/informer-gen/informer-gen/generator"
	"github.com/informer-gen/informer-gen/internal/generator/config"
)

// ErrExists means that the configuration file exists already.
var ErrExists = errors.New("it already exists")

// Written lists the work of [Project.Write]. Names are relative to the project's folder.
type Written struct {
	// Config is the configuration file.
	Config string
	// Generate is the file that received the go:generate line; empty if one had it already.
	Generate string
}

// Write writes the configuration file and the go:generate line. Without force, it never overwrites
// a configuration file: it then writes nothing and returns an error that wraps [ErrExists].
func (p *Project) Write(force bool) (Written, error) {
	name := filepath.Join(p.Dir, config.FileName)
	if _, err := os.Lstat(name); err == nil && !force {
		return Written{}, fmt.Errorf("writing %s: %w; edit it, or use --force to replace it", name, ErrExists)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Written{}, fmt.Errorf("looking for %s: %w", name, err)
	}
	if err := p.check(); err != nil {
		return Written{}, err
	}
	written := Written{Config: config.FileName}
	var content []byte
	if p.Generate == "" {
		var err error
		if written.Generate, content, err = p.generateFile(); err != nil {
			return Written{}, err
		}
	}
	if err := p.writeConfig(name); err != nil {
		return Written{}, fmt.Errorf("writing the configuration: %w", err)
	}
	if written.Generate != "" {
		if err := os.WriteFile(filepath.Join(p.Dir, written.Generate), content, 0o644); err != nil {
			return Written{Config: config.FileName}, fmt.Errorf("writing the go:generate line: %w", err)
		}
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
	for _, d := range problems {
		switch {
		case p.Header != "" && (d.Marker == "header" || d.Pos.Filename == p.Header):
			p.Notes = append(p.Notes, p.Header+" isn't used as header: "+oneLine(d))
			p.Header, p.HeaderYear = "", ""
		case len(p.CRDs) > 0:
			p.Notes = append(p.Notes, "Nothing is checked against "+p.CRDs[0]+": "+oneLine(d))
			p.CRDs = nil
		}
	}
	return os.WriteFile(name, p.Config(), 0o644)
}

const generateLine = "//go:generate go tool informer-gen\n"

// generateFile returns the file beside go.mod for the go:generate line, and its new content.
func (p *Project) generateFile() (name string, content []byte, err error) {
	name = "generate.go"
	old, err := os.ReadFile(filepath.Join(p.Dir, name))
	if err == nil {
		if !bytes.HasSuffix(old, []byte("\n")) {
			old = append(old, '\n')
		}
		return name, append(old, "\n"+generateLine...), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", nil, fmt.Errorf("reading %s: %w", name, err)
	}
	var b bytes.Buffer
	if header := bytes.TrimSpace(buildLine.ReplaceAll(p.header, nil)); len(header) > 0 {
		b.Write(header)
		b.WriteString("\n\n")
	}
	fmt.Fprintf(&b, "package %s\n\n%s", p.packageName(), generateLine)
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
