// SPDX-License-Identifier: Apache-2.0

package index

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A condition compares the value at a path with a literal. Several are joined by &&, and all must
// hold:
//
//	.spec.suspend==false && .status.phase!="Done, and gone" && .spec.deadline!=null

// comparison is a condition as it is written.
type comparison struct {
	offset, after int // of the condition in the text, and behind it
	path          []segment
	not           bool
	literal       literal
}

// literal is what a value is compared with.
type literal struct {
	text          string // without quotes
	quoted        bool
	offset, after int
}

// parseConditions reads conditions.
func parseConditions(text string) ([]comparison, *textError) {
	if problem := unprintable(text); problem != nil {
		return nil, problem
	}
	var all []comparison
	i := skipBlanks(text, 0)
	for {
		c, problem := parseComparison(text, i)
		if problem != nil {
			return nil, problem
		}
		all = append(all, c)
		i = skipBlanks(text, c.after)
		rest := text[i:]
		switch {
		case rest == "":
			return all, nil
		case strings.HasPrefix(rest, "&&"):
			i = skipBlanks(text, i+len("&&"))
		case strings.HasPrefix(rest, "&"):
			return nil, textErrorf(i, "unexpected &: write && between conditions")
		case rest[0] == '|', strings.HasPrefix(rest, "or "):
			return nil, textErrorf(i, "all conditions must hold, there is no or: declare an index for each side, or use func with a function that returns the keys")
		case strings.HasPrefix(rest, "and "):
			return nil, textErrorf(i, "unexpected and: write && between conditions")
		default:
			r, _ := utf8.DecodeRuneInString(rest)
			return nil, textErrorf(i, "unexpected %q behind the condition %s: write && between conditions, and quotes around text that is no word", r, text[c.offset:c.after])
		}
	}
}

func skipBlanks(text string, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t') {
		i++
	}
	return i
}

// parseComparison reads the condition that begins at an offset of text.
func parseComparison(text string, start int) (c comparison, problem *textError) {
	c.offset = start
	rest := text[start:]
	switch {
	case rest == "" && start == 0:
		return c, textErrorf(start, "the condition is empty: write one like .spec.suspend==false")
	case rest == "":
		return c, textErrorf(start, "a condition is missing behind &&")
	case rest[0] == '!':
		return c, textErrorf(start, "unexpected !: write %s==false", firstWord(rest[1:]))
	case rest[0] == '(':
		return c, textErrorf(start, "unexpected (: all conditions must hold, so that there is nothing to group")
	}
	var end int
	if c.path, end, problem = pathPrefix(text, start); problem != nil {
		if rest[0] != '.' {
			problem.message = "a condition begins with the path to a value" + strings.TrimPrefix(problem.message, "a path begins with a dot")
		}
		return c, problem
	}
	path := text[start:end]
	i := skipBlanks(text, end)
	rest = text[i:]
	switch {
	case strings.HasPrefix(rest, "==="):
		return c, textErrorf(i, "unexpected ===: write ==")
	case strings.HasPrefix(rest, "=="):
	case strings.HasPrefix(rest, "!="):
		c.not = true
	case strings.HasPrefix(rest, "="):
		return c, textErrorf(i, "unexpected =: write == to compare")
	case rest == "", strings.HasPrefix(rest, "&&"):
		return c, textErrorf(start, "%s alone is no condition: compare it, as in %[1]s==true or %[1]s!=null", path)
	case rest[0] == '<' || rest[0] == '>' || rest[0] == '~':
		return c, textErrorf(i, "unexpected %c: a condition compares with == or !=; for anything else use func with a function that returns the keys", rest[0])
	case i == end:
		return c, unexpected(text, i)
	default:
		return c, textErrorf(i, "== or != is missing behind %s", path)
	}
	if c.literal, problem = parseLiteral(text, skipBlanks(text, i+len("==")), rest[:len("==")]); problem != nil {
		return c, problem
	}
	c.after = c.literal.after
	return c, nil
}

// parseLiteral reads the literal that begins at an offset of text, behind an operator.
func parseLiteral(text string, start int, operator string) (l literal, problem *textError) {
	l.offset = start
	rest := text[start:]
	switch {
	case rest == "", strings.HasPrefix(rest, "&&"):
		return l, textErrorf(start, `a value is missing behind %s: write "" for empty text`, operator)
	case rest[0] == '\'' || rest[0] == '"':
		l.quoted = true
		l.text, l.after, problem = unquote(text, start)
		return l, problem
	case curly(rest):
		return l, textErrorf(start, curlyMessage)
	case rest[0] == '.':
		return l, textErrorf(start, "two fields can't be compared: use func with a function that returns the keys")
	}
	l.after = len(text)
	if i := strings.IndexFunc(rest, func(r rune) bool { return !wordRune(r) }); i >= 0 {
		l.after = start + i
	}
	l.text = text[start:l.after]
	if l.text == "" {
		r, _ := utf8.DecodeRuneInString(rest)
		return l, textErrorf(start, "unexpected %q: text other than a word stands in quotes", r)
	}
	return l, nil
}

// wordRune reports whether r can be part of a literal without quotes.
func wordRune(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_./:+@*", r))
}
