// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"bytes"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// inputs decides on the patterns: the folder in which the layout has its API types, if they all lie
// there, else as little of the module as has them all.
func (p *Project) inputs() {
	folders := p.Folders
	if len(folders) == 0 {
		for _, f := range p.packages {
			folders = append(folders, f.name)
		}
		p.Discover = len(folders) > 0
	}
	var candidates []string
	switch p.Layout {
	case Kubebuilder:
		candidates = []string{"api", "apis"}
	case CodeGenerator:
		candidates = []string{"pkg/apis", "apis"}
	}
	for _, candidate := range candidates {
		if !p.isFolder(candidate) {
			continue
		}
		if !slices.ContainsFunc(folders, func(name string) bool { return !below(name, candidate) }) {
			p.Inputs = []string{"./" + candidate + "/..."}
			return
		}
	}
	tops := map[string]bool{}
	for _, name := range folders {
		top, _, nested := strings.Cut(name, "/")
		if name == "." || !nested && len(folders) == 1 {
			break
		}
		tops[top] = true
	}
	if len(tops) == 1 {
		for top := range tops {
			p.Inputs = []string{"./" + top + "/..."}
		}
		return
	}
	p.Inputs = []string{"./..."}
}

// below reports whether the folder name is dir or lies in it.
func below(name, dir string) bool { return name == dir || strings.HasPrefix(name, dir+"/") }

// script returns the name of the script that runs code-generator.
func (p *Project) script() string {
	for _, name := range []string{"hack/update-codegen.sh", "hack/update-codegen", "hack/generate-groups.sh", "hack/codegen.sh"} {
		data, err := os.ReadFile(filepath.Join(p.Dir, filepath.FromSlash(name)))
		if err == nil && (bytes.Contains(data, []byte("code-generator")) || bytes.Contains(data, []byte("informer-gen")) || bytes.Contains(data, []byte("kube_codegen"))) {
			return name
		}
	}
	return ""
}

// The flags of code-generator that can be taken over, with = or a blank before the value.
var (
	headerFlag  = regexp.MustCompile(`--(?:boilerplate|go-header-file)[= ]\s*("[^"]*"|'[^']*'|(?:\$\([^)]*\)|\S)+)`)
	pluralsFlag = regexp.MustCompile(`--plural-exceptions[= ]\s*("[^"]*"|'[^']*'|(?:\$\([^)]*\)|\S)+)`)
)

// readScript takes over what the script says about the header and about plurals.
func (p *Project) readScript() error {
	if p.Script == "" {
		return nil
	}
	data, err := os.ReadFile(filepath.Join(p.Dir, filepath.FromSlash(p.Script)))
	if err != nil {
		return fmt.Errorf("reading the script that runs code-generator: %w", err)
	}
	// Lines that end with \ go on.
	text := strings.ReplaceAll(string(unixLines(data)), "\\\n", " ")
	for _, match := range headerFlag.FindAllStringSubmatch(text, -1) {
		if name := p.fileOf(strings.Trim(match[1], `"'`)); name != "" && p.Header == "" {
			p.Header = name
		}
	}
	for _, match := range pluralsFlag.FindAllStringSubmatch(text, -1) {
		for exception := range strings.SplitSeq(strings.Trim(match[1], `"'`), ",") {
			kind, plural, ok := strings.Cut(strings.TrimSpace(exception), ":")
			if !ok || !isName.MatchString(kind) || !isName.MatchString(plural) {
				continue
			}
			if p.Plurals == nil {
				p.Plurals = map[string]string{}
			}
			p.Plurals[kind] = plural
		}
	}
	return nil
}

var isName = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)

// fileOf finds the file that a path in a script means, whatever the variables in front of it stand
// for; "" if there is no such file.
func (p *Project) fileOf(text string) string {
	for rest := text; rest != ""; {
		if !strings.Contains(rest, "$") && !filepath.IsAbs(rest) && filepath.IsLocal(rest) && p.exists(rest) {
			return filepath.ToSlash(filepath.Clean(rest))
		}
		_, after, ok := strings.Cut(rest, "/")
		if !ok {
			return ""
		}
		rest = after
	}
	return ""
}

// readHeader reads the licence. One that holds more than comments isn't taken.
func (p *Project) readHeader(year string) error {
	if p.Header == "" {
		return nil
	}
	data, err := os.ReadFile(filepath.Join(p.Dir, filepath.FromSlash(p.Header)))
	if errors.Is(err, fs.ErrNotExist) {
		p.Header = ""
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the licence header: %w", err)
	}
	data = unixLines(data)
	if len(bytes.TrimSpace(data)) == 0 {
		p.Header = ""
		return nil
	}
	if yearWord.Match(data) {
		p.HeaderYear = year
		data = yearWord.ReplaceAll(data, []byte(year))
	}
	// With nothing but comments, the first package clause is the one added here.
	text := string(data) + "\npackage p\n"
	if file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.PackageClauseOnly); err != nil || file.Name.Name != "p" {
		p.Notes = append(p.Notes, p.Header+" has more than comments in it, so it is no header.")
		p.Header, p.HeaderYear = "", ""
		return nil
	}
	p.header = data
	return nil
}

// unixLines takes back what a checkout on Windows may have done to a file.
func unixLines(data []byte) []byte { return bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")) }

var yearWord = regexp.MustCompile(`\bYEAR\b`)
