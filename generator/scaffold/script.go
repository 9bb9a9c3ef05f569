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
