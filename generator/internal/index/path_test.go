// SPDX-License-Identifier: Apache-2.0

package index

import (
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// text writes a path from its parts, with " around keys.
func (s segment) text() string {
	text := "." + s.name
	for _, l := range s.looks {
		switch l.kind {
		case lookEach:
			text += "[*]"
		case lookKeys:
			text += "[keys]"
		case lookEntry:
			text += "[" + strconv.Quote(l.key) + "]"
		}
	}
	return text
}

func pathText(segments []segment) string {
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
		segments, problem := parsePath(text)
		if problem != nil {
			checkProblem(t, text, problem)
			return
		}
		checkSegments(t, text, segments, 0, len(text))
		// What was read, written down, is read as the same.
		again := pathText(segments)
		same, problem := parsePath(again)
		if problem != nil {
			t.Fatalf("%q was read as %q, which is wrong: %s", text, again, problem.message)
		}
		if pathText(same) != again {
			t.Errorf("%q was read as %q, and that as %q", text, again, pathText(same))
		}
	})
}

func checkProblem(t *testing.T, text string, problem *textError) {
	t.Helper()
	if problem.offset < 0 || problem.offset > len(text) {
		t.Errorf("%q: offset %d", text, problem.offset)
	}
	if utf8.ValidString(text) && (problem.message == "" || !utf8.ValidString(problem.message)) {
		t.Errorf("%q: message %q", text, problem.message)
	}
}

// checkSegments checks that the parts of a path lie side by side from start to end.
func checkSegments(t *testing.T, text string, segments []segment, start, end int) {
	t.Helper()
	at := start
	for _, s := range segments {
		if s.offset != at+1 || text[at] != '.' || !strings.HasPrefix(text[s.offset:], s.name) || s.name == "" {
			t.Errorf("%q: segment %q at %d", text, s.name, s.offset)
		}
		at = s.offset + len(s.name)
		for _, l := range s.looks {
			if l.offset != at || text[l.offset] != '[' || text[l.after-1] != ']' {
				t.Errorf("%q: brackets from %d to %d", text, l.offset, l.after)
			}
			at = l.after
		}
		if s.after != at {
			t.Errorf("%q: segment %q ends at %d", text, s.name, s.after)
		}
	}
	if at != end {
		t.Errorf("%q: the path ends at %d, not %d", text, at, end)
	}
}
