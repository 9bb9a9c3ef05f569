// SPDX-License-Identifier: Apache-2.0

package jsonpath

import (
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// text formats a segment, with " around keys.
func (s Segment) text() string {
	text := "." + s.Name
	for _, l := range s.Selectors {
		switch l.Kind {
		case Each:
			text += "[*]"
		case Keys:
			text += "[keys]"
		case Entry:
			text += "[" + strconv.Quote(l.Key) + "]"
		}
	}
	return text
}

func pathText(segments []Segment) string {
	var b strings.Builder
	for _, s := range segments {
		b.WriteString(s.text())
	}
	return b.String()
}

func FuzzParsePath(f *testing.F) {
	for _, path := range []string{
		".spec.nodeName", ".spec.containers[*].image", ".a[*]", ".a[*][*]", ".a['b'].c", `.a["b\u00e9"][keys]`, `.a['b\'\\'][*]`, ".a['b", ".a['b'", ".a[key]",
		".a[0]", "..", ".a[", ".a]b", "", ".ä[*].ö", ".a[]", `.a['\.']`, `.a['\x']`, `.a["\x"]`, ".a b", ".a;.b", "a.b",
	} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, text string) {
		segments, problem := Parse(text)
		if problem != nil {
			checkProblem(t, text, problem)
			return
		}
		checkSegments(t, text, segments, 0, len(text))
		// Parsing the formatted path gives the same path.
		again := pathText(segments)
		same, problem := Parse(again)
		if problem != nil {
			t.Fatalf("%q was read as %q, which is wrong: %s", text, again, problem.Message)
		}
		if pathText(same) != again {
			t.Errorf("%q was read as %q, and that as %q", text, again, pathText(same))
		}
	})
}

func checkProblem(t *testing.T, text string, problem *Error) {
	t.Helper()
	if problem.Offset < 0 || problem.Offset > len(text) {
		t.Errorf("%q: offset %d", text, problem.Offset)
	}
	if utf8.ValidString(text) && (problem.Message == "" || !utf8.ValidString(problem.Message)) {
		t.Errorf("%q: message %q", text, problem.Message)
	}
}

// checkSegments checks that segments and selectors are adjacent from start to end.
func checkSegments(t *testing.T, text string, segments []Segment, start, end int) {
	t.Helper()
	at := start
	for _, s := range segments {
		if s.Offset != at+1 || text[at] != '.' || !strings.HasPrefix(text[s.Offset:], s.Name) || s.Name == "" {
			t.Errorf("%q: segment %q at %d", text, s.Name, s.Offset)
		}
		at = s.Offset + len(s.Name)
		for _, l := range s.Selectors {
			if l.Offset != at || text[l.Offset] != '[' || text[l.After-1] != ']' {
				t.Errorf("%q: brackets from %d to %d", text, l.Offset, l.After)
			}
			at = l.After
		}
		if s.After != at {
			t.Errorf("%q: segment %q ends at %d", text, s.Name, s.After)
		}
	}
	if at != end {
		t.Errorf("%q: the path ends at %d, not %d", text, at, end)
	}
}
