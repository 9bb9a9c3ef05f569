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
)

// boilerplate is the licence file of both kubebuilder and code-generator.
const boilerplate = "hack/boilerplate.go.txt"

// readHeader reads the licence. It ignores a file with more than comments in it.
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
	// If text has only comments, its first package clause is the one added here.
	text := string(data) + "\npackage p\n"
	if file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.PackageClauseOnly); err != nil || file.Name.Name != "p" {
		p.Notes = append(p.Notes, p.Header+" has more than comments in it, so it isn't used as header.")
		p.Header, p.HeaderYear = "", ""
		return nil
	}
	p.header = data
	return nil
}

var yearWord = regexp.MustCompile(`\bYEAR\b`)

// unixLines undoes a checkout's conversion to Windows line endings.
func unixLines(data []byte) []byte { return bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")) }
