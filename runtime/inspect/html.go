// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"html"
	"strings"
	"unicode"
)

// The page is put together by these functions, not by package html/template: that calls methods by
// name, so the linker would keep all exported methods of a program's types.

// markup is escaped HTML. Only the functions below make it from text.
type markup string

// attribute is an escaped attribute, after a blank.
type attribute string

// literal is a name of an element, an attribute or a class. Untyped constants become literals
// without a conversion, so the compiler keeps other texts out.
type literal string

// part is an attribute of an element, or its content.
type part interface{ isPart() }

func (markup) isPart()    {}
func (attribute) isPart() {}

// el returns an element. Its attributes come before its content, in the order of parts.
func el(name literal, parts ...part) markup {
	var attributes, content strings.Builder
	for _, p := range parts {
		switch p := p.(type) {
		case attribute:
			attributes.WriteString(string(p))
		case markup:
			content.WriteString(string(p))
		}
	}
	return markup("<" + string(name) + attributes.String() + ">" + content.String() + "</" + string(name) + ">")
}

// void returns an element that HTML defines without content, such as input.
func void(name literal, attributes ...attribute) markup {
	text := "<" + string(name)
	for _, a := range attributes {
		text += string(a)
	}
	return markup(text + "/>")
}

func attr(name literal, value string) attribute {
	return attribute(" " + string(name) + `="` + escape(value) + `"`)
}

func class(names literal) attribute { return attr("class", string(names)) }

func text(s string) markup { return markup(escape(s)) }

// escape also replaces characters that XML forbids, such as NUL.
func escape(s string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || r == 0xFFFE || r == 0xFFFF {
			return unicode.ReplacementChar
		}
		return r
	}, s))
}

// join returns the pieces that are not empty, with a separator between them.
func join(separator markup, pieces ...markup) (all markup) {
	for _, piece := range pieces {
		if all != "" && piece != "" {
			all += separator
		}
		all += piece
	}
	return all
}
