// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// script returns the name of the script that runs code-generator: one of the usual names, else the
// first of those whose flags can be taken over, or the first of all.
func (p *Project) script() string {
	for _, name := range []string{"hack/update-codegen.sh", "hack/update-codegen", "hack/generate-groups.sh", "hack/codegen.sh"} {
		data, err := os.ReadFile(filepath.Join(p.Dir, filepath.FromSlash(name)))
		if err == nil && (runsCodeGenerator(data) || bytes.Contains(data, []byte("informer-gen"))) {
			return name
		}
	}
	first := ""
	for _, name := range p.scripts {
		data, err := os.ReadFile(filepath.Join(p.Dir, filepath.FromSlash(name)))
		switch {
		case err != nil || !runsCodeGenerator(data):
		case headerFlag.Match(data) || pluralsFlag.Match(data):
			return name
		case first == "":
			first = name
		}
	}
	return first
}

// mayRunCodeGenerator reports whether a file is a script in a folder where projects have them.
func mayRunCodeGenerator(name string) bool {
	top, _, _ := strings.Cut(name, "/")
	switch top {
	case "hack", "build", "scripts", "contrib":
		return strings.HasSuffix(name, ".sh")
	}
	return name == "Makefile"
}

func runsCodeGenerator(script []byte) bool {
	for _, name := range []string{"code-generator", "kube_codegen", "lister-gen"} {
		if bytes.Contains(script, []byte(name)) {
			return true
		}
	}
	return false
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
		if name := p.fileOf(valueOf(match[1], text)); name != "" && p.Header == "" {
			p.Header = name
		}
	}
	for _, match := range pluralsFlag.FindAllStringSubmatch(text, -1) {
		for exception := range strings.SplitSeq(valueOf(match[1], text), ",") {
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

// valueOf returns a word of a script without quotes; of a variable that the script sets, its value.
func valueOf(word, script string) string {
	word = withoutQuotes(word)
	name := onlyVariable.FindStringSubmatch(word)
	if name == nil {
		return word
	}
	set := regexp.MustCompile(`(?m)^\s*(?:(?:export|local|readonly|declare -r)\s+)?` + name[1] + `\s*[:?]?=\s*(.+?)\s*$`).FindStringSubmatch(script)
	if set == nil {
		return word
	}
	return withoutQuotes(set[1])
}

func withoutQuotes(word string) string { return strings.NewReplacer(`"`, "", `'`, "").Replace(word) }

// onlyVariable is a word that is a variable of a shell or of make.
var onlyVariable = regexp.MustCompile(`^\$[{(]?(\w+)[})]?$`)

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
