// SPDX-License-Identifier: Apache-2.0

package syntax

import "strings"

func hasBracket(s string) bool { return strings.ContainsAny(s, "[{\"`'") }

// blanks may surround names and values. Other white space is part of them.
const blanks = " \t"

type part struct {
	text  string
	start int
}

// split cuts s at each separator outside quotes and brackets.
func split(s string, separator byte) []part {
	var parts []part
	start, depth := 0, 0
	unquoted(s, func(i int) bool {
		switch c := s[i]; {
		case c == '[' || c == '{':
			depth++
		case (c == ']' || c == '}') && depth > 0:
			depth--
		case c == separator && depth == 0:
			parts = append(parts, part{s[start:i], start})
			start = i + 1
		}
		return true
	})
	return append(parts, part{s[start:], start})
}

// withoutTrailingComment cuts " // …" and " # …" outside quotes.
func withoutTrailingComment(s string) string {
	end := len(s)
	unquoted(s, func(i int) bool {
		if (s[i] == ' ' || s[i] == '\t') && (strings.HasPrefix(s[i+1:], "//") || strings.HasPrefix(s[i+1:], "#")) {
			end = i
		}
		return end == len(s)
	})
	return strings.TrimRight(s[:end], blanks)
}

// unquoted visits the bytes of s outside quotes, until visit returns false.
func unquoted(s string, visit func(i int) bool) {
	quote := byte(0)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quote != 0:
			if c == '\\' && quote != '`' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '"' || c == '`' || c == '\'' && beginsValue(s[:i]):
			quote = c
		case !visit(i):
			return
		}
	}
}

// beginsValue reports whether a quoted value may begin behind before. Elsewhere a ' is an
// apostrophe.
func beginsValue(before string) bool {
	before = strings.TrimRight(before, blanks)
	return before != "" && strings.IndexByte("=[{,;", before[len(before)-1]) >= 0
}
