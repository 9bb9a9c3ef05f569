// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

func (arg Arg) described() string {
	var remarks []string
	switch {
	case arg.Required:
		remarks = append(remarks, "required")
	case arg.Instead:
		remarks = append(remarks, "instead of the previous one")
	}
	if arg.List {
		remarks = append(remarks, "several values")
	}
	if arg.Empty {
		remarks = append(remarks, "may be empty")
	}
	if len(remarks) == 0 {
		return arg.Doc
	}
	return arg.Doc + " (" + strings.Join(remarks, ", ") + ")"
}

func (arg Arg) label() string { return arg.Name + "=" }

func (t Target) where() string {
	if t == Package {
		return "for a package: in any comment of any of its files"
	}
	return "for a type: in its doc comment or in the comment one blank line above it"
}

// WriteText describes markers for a terminal.
func WriteText(w io.Writer, list []*Definition) error {
	var b strings.Builder
	for i, d := range list {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s\n", d.Usage())
		wrapped(&b, "    ", upper(d.Doc)+".")
		wrapped(&b, "    ", upper(d.Target.where())+".")
		for _, arg := range d.Args {
			text := arg.described()
			if len(arg.Allowed) > 0 {
				text += "; allowed: " + strings.Join(arg.Allowed, ", ")
			}
			wrapped(&b, fmt.Sprintf("      %-14s ", arg.label()), text)
		}
		for _, example := range d.Examples() {
			fmt.Fprintf(&b, "    %s\n", example)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// wrapped writes text in lines of at most 110 letters, the first one behind prefix, the others
// behind as many blanks.
func wrapped(b *strings.Builder, prefix, text string) {
	const width = 110
	line := prefix
	for i, word := range strings.Fields(text) {
		if i > 0 && len(line)+1+len(word) > width {
			b.WriteString(line + "\n")
			line = strings.Repeat(" ", len(prefix))
		} else if i > 0 {
			line += " "
		}
		line += word
	}
	b.WriteString(line + "\n")
}

// MarshalJSON implements json.Marshaler. Empty members are omitted, except name, target, doc and
// examples:
//
//	name       string  with "+"
//	target     string  "type" or "package"
//	doc        string
//	arguments  array of {name, doc, required, list, mayBeEmpty, allowed}; the value right behind
//	           "=" has no name
//	examples   array of strings, which are comments
func (d *Definition) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Name      string   `json:"name"`
		Target    Target   `json:"target"`
		Doc       string   `json:"doc"`
		Arguments []Arg    `json:"arguments,omitempty"`
		Examples  []string `json:"examples"`
	}{"+" + d.Name, d.Target, d.Doc, d.Args, d.Examples()})
}

// upper returns text with its first letter in upper case; that letter must be ASCII.
func upper(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
