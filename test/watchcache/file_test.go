// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// section is a part of the file: requests that are sent at the same time.
type section struct {
	name      string
	exchanges []*exchange
}

// exchange is a request and its answer.
type exchange struct {
	method, target string // target is a path and a query, with the names of versions and tokens
	accept         string
	answer         string // one line; "" if it is not known
}

// line is a request as it stands in the file.
func (e *exchange) line() string {
	line := e.method + " " + e.target
	if e.accept != "" {
		line += " | Accept: " + e.accept
	}
	return line
}

const answersFile = "testdata/answers.txt"

func readSections(t *testing.T) (sections []*section) {
	t.Helper()
	content, err := os.ReadFile(answersFile)
	if err != nil {
		t.Fatal(err)
	}
	var now *section
	for n, line := range strings.Split(string(content), "\n") {
		name, isSection := strings.CutPrefix(line, "== ")
		answer, isAnswer := strings.CutPrefix(line, "\t")
		switch {
		case line == "", strings.HasPrefix(line, "#"):
		case isSection:
			now = &section{name: name}
			sections = append(sections, now)
		case now == nil, isAnswer && len(now.exchanges) == 0:
			t.Fatalf("%s:%d: a request has no section, or an answer no request", answersFile, n+1)
		case isAnswer:
			now.exchanges[len(now.exchanges)-1].answer = answer
		default:
			request, accept, _ := strings.Cut(line, " | Accept: ")
			method, target, _ := strings.Cut(request, " ")
			now.exchanges = append(now.exchanges, &exchange{method: method, target: target, accept: accept})
		}
	}
	return sections
}

func writeSections(t *testing.T, sections []*section) {
	t.Helper()
	var b strings.Builder
	b.WriteString("# SPDX-License-Identifier: Apache-2.0\n# Written by go test -update; the package documentation explains the form.\n")
	for _, s := range sections {
		fmt.Fprintf(&b, "\n== %s\n", s.name)
		for _, e := range s.exchanges {
			fmt.Fprintf(&b, "%s\n\t%s\n", e.line(), e.answer)
		}
	}
	if err := os.WriteFile(answersFile, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
