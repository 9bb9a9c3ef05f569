// SPDX-License-Identifier: Apache-2.0

package index

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/informer-gen/informer-gen/internal/generator/jsonpath"
)

// A condition compares the value at a path with a literal. An object must meet all conditions of a
// list joined by &&:
//
//	.spec.suspend==false && .status.phase!="Done, and gone" && .spec.deadline!=null

type comparison struct {
	offset, after int // where the condition begins and ends in the text
	path          []jsonpath.Segment
	not           bool
	literal       literal
}

type literal struct {
	text          string // without quotes
	quoted        bool
	offset, after int
}

func parseConditions(text string) ([]comparison, *jsonpath.Error) {
	if problem := jsonpath.CheckText(text); problem != nil {
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
			return nil, jsonpath.Errorf(i, "unexpected &: write && between conditions")
		case rest[0] == '|', strings.HasPrefix(rest, "or "):
			return nil, jsonpath.Errorf(i, "all conditions must hold, there is no or: declare an index for each side, or use func with a function that returns the keys")
		case strings.HasPrefix(rest, "and "):
			return nil, jsonpath.Errorf(i, "unexpected and: write && between conditions")
		default:
			r, _ := utf8.DecodeRuneInString(rest)
			return nil, jsonpath.Errorf(i, "unexpected %q after the condition %s: write && between conditions, and quotes around text that isn't one word", r, text[c.offset:c.after])
		}
	}
}

func skipBlanks(text string, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t') {
		i++
	}
	return i
}

func parseComparison(text string, start int) (c comparison, problem *jsonpath.Error) {
	c.offset = start
	rest := text[start:]
	switch {
	case rest == "" && start == 0:
		return c, jsonpath.Errorf(start, "the condition is empty: write one like .spec.suspend==false")
	case rest == "":
		return c, jsonpath.Errorf(start, "a condition is missing after &&")
	case rest[0] == '!':
		return c, jsonpath.Errorf(start, "unexpected !: write %s==false", jsonpath.FirstWord(rest[1:]))
	case rest[0] == '(':
		return c, jsonpath.Errorf(start, "unexpected (: all conditions must hold, so there is nothing to group")
	}
	var end int
	if c.path, end, problem = jsonpath.Prefix(text, start); problem != nil {
		if rest[0] != '.' {
			problem.Message = "a condition begins with the path to a value" + strings.TrimPrefix(problem.Message, "a path begins with a dot")
		}
		return c, problem
	}
	path := text[start:end]
	i := skipBlanks(text, end)
	rest = text[i:]
	switch {
	case strings.HasPrefix(rest, "==="):
		return c, jsonpath.Errorf(i, "unexpected ===: write ==")
	case strings.HasPrefix(rest, "=="):
	case strings.HasPrefix(rest, "!="):
		c.not = true
	case strings.HasPrefix(rest, "="):
		return c, jsonpath.Errorf(i, "unexpected =: write == to compare")
	case rest == "", strings.HasPrefix(rest, "&&"):
		return c, jsonpath.Errorf(start, "%s alone isn't a condition: compare it, as in %[1]s==true or %[1]s!=null", path)
	case rest[0] == '<' || rest[0] == '>' || rest[0] == '~':
		return c, jsonpath.Errorf(i, "unexpected %c: a condition compares with == or !=; for anything else use func with a function that returns the keys", rest[0])
	case i == end:
		return c, jsonpath.Unexpected(text, i)
	default:
		return c, jsonpath.Errorf(i, "== or != is missing after %s", path)
	}
	if c.literal, problem = parseLiteral(text, skipBlanks(text, i+len("==")), rest[:len("==")]); problem != nil {
		return c, problem
	}
	c.after = c.literal.after
	return c, nil
}

// parseLiteral parses the literal at offset start of text, after an operator.
func parseLiteral(text string, start int, operator string) (l literal, problem *jsonpath.Error) {
	l.offset = start
	rest := text[start:]
	switch {
	case rest == "", strings.HasPrefix(rest, "&&"):
		return l, jsonpath.Errorf(start, `a value is missing after %s: write "" for empty text`, operator)
	case rest[0] == '\'' || rest[0] == '"':
		l.quoted = true
		l.text, l.after, problem = jsonpath.Unquote(text, start)
		return l, problem
	case jsonpath.IsCurly(rest):
		return l, jsonpath.Errorf(start, jsonpath.CurlyMessage)
	case rest[0] == '.':
		return l, jsonpath.Errorf(start, "two fields can't be compared: use func with a function that returns the keys")
	}
	l.after = len(text)
	if i := strings.IndexFunc(rest, func(r rune) bool { return !wordRune(r) }); i >= 0 {
		l.after = start + i
	}
	l.text = text[start:l.after]
	if l.text == "" {
		r, _ := utf8.DecodeRuneInString(rest)
		return l, jsonpath.Errorf(start, "unexpected %q: put text other than a single word in quotes", r)
	}
	return l, nil
}

func wordRune(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_./:+@*", r))
}
