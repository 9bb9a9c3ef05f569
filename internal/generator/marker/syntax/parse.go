// SPDX-License-Identifier: Apache-2.0

// Package syntax reads markers from comments and describes them.
//
// [Scan] finds the marker lines of a file, [Parse] turns them into the structs of package marker,
// and [On] reports misplaced ones.
//
// A marker is a line of its own in a comment. It has a name and, after "=", a value or named
// arguments; a single argument may also stand behind a colon:
//
//	+genclient
//	+genclient:onlyVerbs=get,list,watch
//	+groupName=samples.example.com          // what follows a blank and // or # is a comment
//	+kubebuilder:resource:path=gizmos,scope=Cluster
package syntax

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/gengo/v2/codetags"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/marker"
)

// Parse turns lines into markers, in order. It skips other tools' markers. A wrong marker is left
// out and added to report: an unknown name below "informer:" or "genclient:", a forbidden argument
// or value, a missing argument. A name close to one of ours is a warning.
func Parse(lines []Line, report *diag.List) []marker.Marker {
	var markers []marker.Marker
	for _, line := range lines {
		if m := parseLine(line, report); m != nil {
			markers = append(markers, m)
		}
	}
	return markers
}

// On returns the markers that describe target, and reports the others as misplaced: as errors if
// they are the generator's own, else as warnings. where completes the sentence "… has no effect …".
func On(target Target, markers []marker.Marker, where string, report *diag.List) []marker.Marker {
	var right []marker.Marker
	for _, m := range markers {
		if DefinitionOf(m).Target == target {
			right = append(right, m)
			continue
		}
		at := m.Where()
		report.Add(diag.Diagnostic{
			Pos: at.Pos, Marker: at.Name,
			Message: "has no effect " + where + ": a " + string(DefinitionOf(m).Target) + "'s markers belong " + rightPlace(DefinitionOf(m).Target),
			Warning: !strings.HasPrefix(at.Name, "+informer:"),
		})
	}
	return right
}

func rightPlace(target Target) string {
	if target == Package {
		return "in a comment outside of types and functions"
	}
	return "in the type's doc comment or in the comment one blank line above it"
}

func parseLine(line Line, report *diag.List) marker.Marker {
	text := withoutTrailingComment(line.Text)
	if trimmed := strings.TrimLeft(text, blanks); trimmed != text {
		report.Add(diag.Diagnostic{
			Pos: line.Pos, Marker: "+" + nameOf(trimmed), Message: "remove the blank between + and the name: write +" + trimmed,
			Warning: !strings.HasPrefix(trimmed, "informer:"),
		})
		return nil
	}
	name := nameOf(text)
	d, firstArg := lookup(name)
	if d == nil {
		unknown(line, name, report)
		return nil
	}
	at := marker.At{Name: "+" + d.Name, Pos: line.Pos}
	p := argParser{line: line, definition: d, at: at, report: report}

	tag, err := codetags.Parse(text, codetags.RawValues(true))
	if err != nil || len(tag.Args) > 0 {
		p.fail(line.at(len(name)), "unexpected "+strconv.Quote(text[len(name):])+" after the name; write "+d.Usage(), nil)
		return nil
	}
	value, hasValue := text[len(name):], tag.ValueType != codetags.ValueTypeNone
	offset := len(name)
	if i := strings.IndexByte(value, '='); i >= 0 {
		hasValue = true
		value, offset = value[i+1:], offset+i+1
	}

	m := d.newMarker()
	setAt(m, at)
	if len(d.Args) == 0 {
		if hasValue {
			p.fail(line.at(offset), "takes no value; write "+d.Usage(), nil)
			return nil
		}
		return m
	}
	if !p.args(m, firstArg, value, offset, hasValue) {
		return nil
	}
	return m
}

func nameOf(text string) string {
	if i := strings.IndexFunc(text, func(r rune) bool { return !nameRune(r) }); i >= 0 {
		return text[:i]
	}
	return text
}

func nameRune(r rune) bool {
	return r == ':' || r == '_' || r == '-' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// unknown reports names of no known tool.
func unknown(line Line, name string, report *diag.List) {
	base, _, _ := cutLast(name)
	space, _, _ := strings.Cut(name, ":")
	ours := space == "informer" || space == "genclient"
	if !ours && (slices.Contains(foreign, name) || space == "kubebuilder" && slices.Contains(foreign, base)) {
		return
	}
	d := diag.Diagnostic{Pos: line.Pos, Marker: "+" + name, Message: "unknown marker"}
	if now, ok := renamed[name]; ok {
		d.Message = "is now written +" + now
		d.Warning = !strings.Contains(line.Text, "=")
		report.Add(d)
		return
	}
	near, isNear := closest(name, space)
	if space != "k8s" && (!isNear || strings.HasPrefix(base, "informer:")) {
		if n, ok := closest(base, space); ok && base != name && base != space {
			near, isNear = n, true
			d.Marker = "+" + base // the last part is the name of an argument
		}
	}
	switch {
	case ours:
		for _, definition := range definitions {
			if strings.HasPrefix(definition.Name, space) {
				d.Allowed = append(d.Allowed, "+"+definition.Name)
			}
		}
	case !isNear:
		return
	case !strings.HasPrefix(near, "informer:"):
		d.Warning = true
	}
	if isNear {
		d.Message += ", did you mean +" + near + "?"
	}
	report.Add(d)
}

// closest returns the likely intended name, among ours and the tags of Kubernetes' generators. It
// compares only names with nearly the same part before the colon: most lines are other tools' and
// must cost little.
func closest(name, space string) (string, bool) {
	if space == "" || space == "k8s" && !strings.Contains(name, "-gen") {
		return "", false
	}
	var candidates []string
	consider := func(candidate string) {
		theirs, _, _ := strings.Cut(candidate, ":")
		if n := len(theirs) - len(space); -3 <= n && n <= 3 && (theirs[0] == space[0] || theirs[len(theirs)-1] == space[len(space)-1]) {
			candidates = append(candidates, candidate)
		}
	}
	for _, d := range definitions {
		consider(d.Name)
	}
	for _, name := range foreign {
		if strings.HasPrefix(name, "k8s:") {
			consider(name)
		}
	}
	return diag.Closest(name, candidates)
}
