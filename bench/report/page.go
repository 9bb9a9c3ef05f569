// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"os"
	"strings"
)

// Where the text of a page begins and ends.
const (
	tableBegin = "<!-- bench -->\n"
	markerEnd  = "<!-- /bench -->\n"
)

// Page is a file that shows a table between two markers.
type Page struct {
	path                string
	before, text, after string // the markers are outside of text
}

// OpenPage reads the file at path. It fails if the file or a marker in it is missing.
func OpenPage(path string) (*Page, error) { return openPage(path, tableBegin) }

func openPage(path, begin string) (*Page, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w; run it in the root of the repository", err)
	}
	return cutPage(path, string(content), begin)
}

// cutPage is the page at path with that content.
func cutPage(path, content, begin string) (*Page, error) {
	before, rest, ok := strings.Cut(content, begin)
	if !ok {
		return nil, fmt.Errorf("%s has no line %s", path, strings.TrimSpace(begin))
	}
	text, after, ok := strings.Cut(rest, markerEnd)
	if !ok {
		return nil, fmt.Errorf("%s has no line %s after %s", path, strings.TrimSpace(markerEnd), strings.TrimSpace(begin))
	}
	return &Page{path, before + begin, text, markerEnd + after}, nil
}

// with returns the page's content with another text.
func (p *Page) with(text string) string { return p.before + text + p.after }

// Write puts a text between the markers of the file.
func (p *Page) Write(text string) error {
	return os.WriteFile(p.path, []byte(p.with(text)), 0o644)
}
