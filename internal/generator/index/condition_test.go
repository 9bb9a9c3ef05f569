// SPDX-License-Identifier: Apache-2.0

package index

import (
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/informer-gen/informer-gen/internal/generator/jsonpath"
)

// text formats a condition, with " around quoted literals.
func (c comparison) text() string {
	operator, lit := "==", c.literal.text
	if c.not {
		operator = "!="
	}
	if c.literal.quoted {
		lit = strconv.Quote(lit)
	}
	return pathText(c.path) + operator + lit
}

// pathText formats a path, with " around keys.
func pathText(segments []jsonpath.Segment) string {
	var b strings.Builder
	for _, s := range segments {
		b.WriteString("." + s.Name)
		for _, l := range s.Selectors {
			b.WriteString(map[jsonpath.SelectorKind]string{
				jsonpath.Each: "[*]", jsonpath.Keys: "[keys]", jsonpath.Entry: "[" + strconv.Quote(l.Key) + "]",
			}[l.Kind])
		}
	}
	return b.String()
}

func conditionsText(all []comparison) string {
	var texts []string
	for _, c := range all {
		texts = append(texts, c.text())
	}
	return strings.Join(texts, " && ")
}

func TestParseConditions(t *testing.T) {
	for text, want := range map[string]string{
		".a==b":                         ".a==b",
		" .a == b ":                     ".a==b",
		".a!=null&&.b.c==-1":            ".a!=null && .b.c==-1",
		`.a=="x && y"&&.b!='it\'s "\\'`: `.a=="x && y" && .b!="it's \"\\"`,
		".a['b c']==k8s.io/x:1":         `.a["b c"]==k8s.io/x:1`,
		`.a["]=="]==""`:                 `.a["]=="]==""`,
		".ä==ö":                         ".ä==ö",
		"":                              "0: the condition is empty: write one like .spec.suspend==false",
		".a":                            "0: .a alone isn't a condition: compare it, as in .a==true or .a!=null",
		".a&&.b==1":                     "0: .a alone isn't a condition: compare it, as in .a==true or .a!=null",
		"!.a":                           "0: unexpected !: write .a==false",
		".a=true":                       "2: unexpected =: write == to compare",
		".a===true":                     "2: unexpected ===: write ==",
		".a>1":                          "2: unexpected >: a condition compares with == or !=; for anything else use func with a function that returns the keys",
		".a <= 1":                       "3: unexpected <: a condition compares with == or !=; for anything else use func with a function that returns the keys",
		".a 1":                          "3: == or != is missing after .a",
		".a==":                          `4: a value is missing after ==: write "" for empty text`,
		".a!= && .b==1":                 `5: a value is missing after !=: write "" for empty text`,
		".a==1 &&":                      "8: a condition is missing after &&",
		".a==1 && b==1":                 "9: a condition begins with the path to a value, did you mean .b?",
		"true==.a":                      "0: a condition begins with the path to a value, did you mean .true?",
		".a==1 & .b==1":                 "6: unexpected &: write && between conditions",
		".a==1 || .b==1":                "6: all conditions must hold, there is no or: declare an index for each side, or use func with a function that returns the keys",
		".a==1 or .b==1":                "6: all conditions must hold, there is no or: declare an index for each side, or use func with a function that returns the keys",
		".a==1 and .b==1":               "6: unexpected and: write && between conditions",
		"(.a==1)":                       "0: unexpected (: all conditions must hold, so there is nothing to group",
		".a==.b":                        "4: two fields can't be compared: use func with a function that returns the keys",
		".a==two words":                 "8: unexpected 'w' after the condition .a==two: write && between conditions, and quotes around text that isn't one word",
		".a==[1]":                       "4: unexpected '[': put text other than a single word in quotes",
		".a==”":                         "4: " + jsonpath.CurlyMessage,
		".a[”]==1":                      "3: " + jsonpath.CurlyMessage,
		".a=='open":                     "4: the quote isn't closed",
		".a['b==1":                      "3: the quote isn't closed",
		".a..b==1":                      "3: a field name is missing after the dot",
		".a]==1":                        "2: unexpected ']' in the path: write a dot before a field, and [*] after a list",
	} {
		all, problem := parseConditions(text)
		got := conditionsText(all)
		if problem != nil {
			got = strconv.Itoa(problem.Offset) + ": " + problem.Message
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

func FuzzParseConditions(f *testing.F) {
	for _, text := range []string{
		".spec.suspend==false", `.a['b && c']!="d && e" && .f == null`, ".a==''", `.a=="\u00e9"`, ".a==x&&.b!=-1 ", ".a", "!.a", ".a = b", ".a==b c", ".a<1",
		".a==b|", ".a==\xff", "&&", ".a==1&&", ".a===1", "(.a==1)",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all, problem := parseConditions(text)
		if problem != nil {
			if problem.Offset < 0 || problem.Offset > len(text) {
				t.Errorf("%q: offset %d", text, problem.Offset)
			}
			if utf8.ValidString(text) && (problem.Message == "" || !utf8.ValidString(problem.Message)) {
				t.Errorf("%q: message %q", text, problem.Message)
			}
			return
		}
		end := 0
		for _, c := range all {
			if c.offset < end || c.literal.offset <= c.offset || c.after < c.literal.offset || c.after > len(text) || c.after != c.literal.after {
				t.Fatalf("%q: %+v", text, c)
			}
			if first, last := c.path[0], c.path[len(c.path)-1]; first.Offset != c.offset+1 || last.After > c.literal.offset {
				t.Errorf("%q: the path of the condition at %d is from %d to %d", text, c.offset, first.Offset, last.After)
			}
			end = c.after
		}
		if strings.Trim(text[end:], " \t") != "" {
			t.Errorf("parseConditions(%q) ignored %q", text, text[end:])
		}
		again := conditionsText(all)
		same, problem := parseConditions(again)
		if problem != nil {
			t.Fatalf("%q was read as %q, which is wrong: %s", text, again, problem.Message)
		}
		if conditionsText(same) != again {
			t.Errorf("%q was read as %q, and that as %q", text, again, conditionsText(same))
		}
	})
}
