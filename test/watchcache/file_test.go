// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
)

// section is a part of a file. The requests of a section in answers.txt are sent at the same time.
type section struct {
	name      string
	exchanges []*exchange
}

// exchange is a request and its answer, each a line. A request is METHOD TARGET and, after bars,
// fields of the header, and a body that begins with a quote or a bracket. In the files of
// deviations, a section's name comes first.
type exchange struct{ request, answer string }

// parts returns the parts of a request. The target and the body still have names of versions and
// tokens.
func (e *exchange) parts() (method, target, body string, header http.Header) {
	parts := strings.Split(e.request, " | ")
	method, target, _ = strings.Cut(parts[0], " ")
	header = http.Header{}
	for _, part := range parts[1:] {
		if strings.ContainsRune(`{["`, rune(part[0])) {
			body = part
			continue
		}
		name, value, _ := strings.Cut(part, ": ")
		header.Set(name, value)
	}
	return method, target, body, header
}

func readSections(t *testing.T, file string) (sections []*section) {
	t.Helper()
	content, err := os.ReadFile(file)
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
			t.Fatalf("%s:%d: a request without a section, or an answer without a request", file, n+1)
		case isAnswer:
			now.exchanges[len(now.exchanges)-1].answer = answer
		default:
			now.exchanges = append(now.exchanges, &exchange{request: line})
		}
	}
	return sections
}

func writeSections(t *testing.T, file string, sections []*section) {
	t.Helper()
	var b strings.Builder
	b.WriteString("# SPDX-License-Identifier: Apache-2.0\n# Written by go test -update; the package documentation explains the form.\n")
	for _, s := range sections {
		fmt.Fprintf(&b, "\n== %s\n", s.name)
		for _, e := range s.exchanges {
			fmt.Fprintf(&b, "%s\n\t%s\n", e.request, e.answer)
		}
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// deviations are the handler's answers that differ from the API server's, in a section for each
// reason.
type deviations struct {
	file     string
	sections []*section
	met      map[string]bool // by request
}

// notExplained is the reason of new deviations.
const notExplained = "not explained"

func readDeviations(t *testing.T, file string) *deviations {
	t.Helper()
	return &deviations{file, readSections(t, file), map[string]bool{}}
}

// compare reports an answer of the handler that equals neither the API server's nor the file's.
// With -update it writes the answer into the file.
func (d *deviations) compare(t *testing.T, in *section, e *exchange, got string) {
	t.Helper()
	if got == e.answer {
		return // if the file has a deviation, end reports it
	}
	request := in.name + ": " + e.request
	d.met[request] = true
	if known := d.find(request); known != nil {
		if got != known.answer && !*update {
			t.Errorf("%s\n got  %s\n want %s\n from the API server %s", request, got, known.answer, e.answer)
		}
		known.answer = got
		return
	}
	t.Errorf("%s\n got  %s\n want %s", request, got, e.answer)
	if last := len(d.sections) - 1; last < 0 || d.sections[last].name != notExplained {
		d.sections = append(d.sections, &section{name: notExplained})
	}
	last := d.sections[len(d.sections)-1]
	last.exchanges = append(last.exchanges, &exchange{request, got})
}

// find returns the deviation of a request, or nil.
func (d *deviations) find(request string) *exchange {
	for _, s := range d.sections {
		for _, known := range s.exchanges {
			if known.request == request {
				return known
			}
		}
	}
	return nil
}

// answer returns the handler's expected answer: the deviation, or the API server's answer.
func (d *deviations) answer(in *section, e *exchange) string {
	if known := d.find(in.name + ": " + e.request); known != nil {
		return known.answer
	}
	return e.answer
}

// end reports the deviations that did not occur.
func (d *deviations) end(t *testing.T) {
	t.Helper()
	for _, s := range d.sections {
		var met []*exchange
		for _, known := range s.exchanges {
			if d.met[known.request] {
				met = append(met, known)
			} else if !*update {
				t.Errorf("%s: the handler answers as the API server does: remove the deviation", known.request)
			}
		}
		s.exchanges = met
	}
	if *update {
		writeSections(t, d.file, d.sections)
	}
}
