// SPDX-License-Identifier: Apache-2.0

package marker

import (
	"go/token"
	"slices"
	"strconv"
	"strings"

	"k8s.io/gengo/v2/codetags"

	"github.com/informer-gen/informer-gen/generator/diag"
)

// Parse turns lines into markers, in the lines' order. Lines that are no markers of ours are passed
// over; what is wrong is added to report, and the marker is left out: an unknown name below
// "informer:" or "genclient:", an argument or a value that isn't allowed, a missing argument. A
// name that is nearly one of ours is a warning.
func Parse(lines []Line, report *diag.List) []Marker {
	var markers []Marker
	for _, line := range lines {
		if m := parseLine(line, report); m != nil {
			markers = append(markers, m)
		}
	}
	return markers
}

// On returns the markers that describe target and reports the others as standing at the wrong
// place: as errors if they are the generator's own, as warnings if they aren't. where completes the
// sentence "… stands …".
func On(target Target, markers []Marker, where string, report *diag.List) []Marker {
	var right []Marker
	for _, m := range markers {
		if DefinitionOf(m).Target == target {
			right = append(right, m)
			continue
		}
		at := m.Place()
		report.Add(diag.Diagnostic{
			Pos: at.Pos, Marker: at.Name,
			Message: "stands " + where + " and describes nothing there; a " + string(DefinitionOf(m).Target) + "'s markers stand " + rightPlace(DefinitionOf(m).Target),
			Warning: !strings.HasPrefix(at.Name, "+informer:"),
		})
	}
	return right
}

func rightPlace(target Target) string {
	if target == Package {
		return "in a comment of the package's own"
	}
	return "in the type's doc comment or in the comment one blank line above it"
}

func parseLine(line Line, report *diag.List) Marker {
	text := withoutTrailingComment(line.Text)
	if trimmed := strings.TrimLeft(text, blanks); trimmed != text {
		report.Add(diag.Diagnostic{
			Pos: line.Pos, Marker: "+" + nameOf(trimmed), Message: "a blank stands between + and the name; write +" + trimmed,
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
	at := At{Name: "+" + d.Name, Pos: line.Pos}
	p := argParser{line: line, definition: d, at: at, report: report}

	tag, err := codetags.Parse(text, codetags.RawValues(true))
	if err != nil || len(tag.Args) > 0 {
		p.fail(line.at(len(name)), "unexpected "+strconv.Quote(text[len(name):])+" behind the name; write "+d.usage(), nil)
		return nil
	}
	value, hasValue := text[len(name):], tag.ValueType != codetags.ValueTypeNone
	offset := len(name)
	if i := strings.IndexByte(value, '='); i >= 0 {
		hasValue = true
		value, offset = value[i+1:], offset+i+1
	}

	m := d.newMarker()
	setPlace(m, at)
	if len(d.Args) == 0 {
		if hasValue {
			p.fail(line.at(offset), "takes no value; write "+d.usage(), nil)
			return nil
		}
		return m
	}
	if !p.args(m, firstArg, value, offset, hasValue) {
		return nil
	}
	return m
}

// nameOf is the name that the text of a marker begins with.
func nameOf(text string) string {
	if i := strings.IndexFunc(text, func(r rune) bool { return !nameRune(r) }); i >= 0 {
		return text[:i]
	}
	return text
}

func nameRune(r rune) bool {
	return r == ':' || r == '_' || r == '-' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// unknown reports names that no tool reads, as far as we can know that.
func unknown(line Line, name string, report *diag.List) {
	base, _, _ := cutLast(name)
	space, _, _ := strings.Cut(name, ":")
	ours := space == "informer" || space == "genclient"
	if !ours && (slices.Contains(foreign, name) || space == "kubebuilder" && slices.Contains(foreign, base)) {
		return
	}
	d := diag.Diagnostic{Pos: line.Pos, Marker: "+" + name, Message: "unknown marker"}
	if now, ok := retired[name]; ok {
		d.Message = "is written +" + now + " today"
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

// closest returns the name that is probably meant, among ours and the tags of Kubernetes'
// generators. Only names whose part before the colon is nearly right are compared in full: most
// lines are other tools' and must cost little.
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

// argParser reads the arguments of one marker.
type argParser struct {
	line       Line
	definition *Definition
	at         At
	report     *diag.List
}

func (p *argParser) fail(pos token.Position, message string, allowed []string) {
	p.report.Add(diag.Diagnostic{Pos: pos, Marker: p.at.Name, Message: message, Allowed: allowed})
}

// args fills the arguments of m from value, which starts at offset of the line.
func (p *argParser) args(m Marker, firstArg, value string, offset int, hasValue bool) bool {
	ok := true
	seen := map[string]bool{}
	set := func(arg Arg, text string, start int) {
		if seen[arg.Name] {
			p.fail(p.line.at(start), "argument "+arg.Name+" is given twice", nil)
			ok = false
			return
		}
		seen[arg.Name] = true
		values, valid := p.values(arg, text, start)
		if !valid {
			ok = false
			return
		}
		arg.store(m, values)
	}
	anonymous, hasAnonymous := p.definition.arg("")
	switch {
	case !hasValue && firstArg == "":
	case hasAnonymous && !p.definition.hasNamedArgs():
		set(anonymous, value, offset)
	default:
		for i, part := range split(value, ',') {
			start, name, text, named := offset+part.start, firstArg, part.text, i == 0 && firstArg != ""
			nameStart := start
			if named {
				nameStart = offset - 1 - len(firstArg)
				if !hasValue {
					nameStart++
				}
			} else if before, after, found := strings.Cut(part.text, "="); found && !hasBracket(before) {
				name, text, named = strings.Trim(before, blanks), after, true
				start += len(before) + 1
			} else {
				name = ""
			}
			if !named && i == 0 && hasAnonymous {
				set(anonymous, text, start)
				continue
			}
			arg, known := p.definition.arg(name)
			switch {
			case !named && strings.Trim(part.text, blanks) == "":
				p.fail(p.line.at(start), "an argument is missing at the comma", p.definition.argNames())
				ok = false
			case !named:
				message := strconv.Quote(part.text) + " is no argument: write name=value"
				if word := strings.Trim(part.text, blanks); slices.Contains(p.definition.argNames(), word) {
					message = "argument " + word + " has no value: write " + word + "=…"
				}
				p.fail(p.line.at(start), message, p.definition.argNames())
				ok = false
			case !known || name == "":
				p.fail(p.line.at(nameStart), "unknown argument "+name+diag.DidYouMean(name, p.definition.argNames()), p.definition.argNames())
				ok = false
			default:
				set(arg, text, start)
			}
		}
	}
	if !ok {
		return false
	}
	for _, arg := range p.definition.Args {
		if arg.Required && !seen[arg.Name] {
			message := "argument " + arg.Name + " is missing; write " + p.definition.usage()
			if arg.Name == "" {
				message = "the value is missing; write " + p.definition.usage()
			}
			p.fail(p.at.Pos, message, arg.Allowed)
			ok = false
		}
	}
	return ok
}

// values splits, unquotes and checks the value of one argument.
func (p *argParser) values(arg Arg, text string, offset int) ([]Value, bool) {
	parts := []part{{text: text}}
	if arg.List {
		inner := strings.Trim(text, blanks)
		if strings.HasPrefix(inner, "{") && strings.HasSuffix(inner, "}") {
			offset += strings.IndexByte(text, '{') + 1
			text = inner[1 : len(inner)-1]
		}
		if parts = split(text, ';'); len(parts) == 1 {
			parts = split(text, ',')
		}
	}
	var values []Value
	for _, part := range parts {
		start := part.start + len(part.text) - len(strings.TrimLeft(part.text, blanks))
		trimmed := strings.Trim(part.text, blanks)
		value := Value{Text: trimmed, Pos: p.line.at(offset + start)}
		if len(trimmed) > 1 && (trimmed[0] == '"' || trimmed[0] == '`') {
			unquoted, err := strconv.Unquote(trimmed)
			if err != nil {
				p.fail(value.Pos, "the quoted value "+trimmed+" doesn't end properly", nil)
				return nil, false
			}
			value = Value{Text: unquoted, Pos: p.line.at(offset + start + 1)}
			if written := trimmed[1 : len(trimmed)-1]; written != unquoted {
				value.written = written
			}
		}
		switch {
		case value.Text == "" && !arg.Empty && (arg.Required || arg.List || len(arg.Allowed) > 0):
			p.fail(value.Pos, p.of(arg)+" is empty", arg.Allowed)
			return nil, false
		case len(arg.Allowed) > 0 && !slices.Contains(arg.Allowed, value.Text):
			p.fail(value.Pos, p.noun(arg)+" "+strconv.Quote(value.Text)+" isn't known"+diag.DidYouMean(value.Text, arg.Allowed), arg.Allowed)
			return nil, false
		}
		values = append(values, value)
	}
	return values, true
}

// of is what the value of arg is called as a whole.
func (p *argParser) of(arg Arg) string {
	if arg.Name == "" {
		return "the value"
	}
	return "the value of " + arg.Name
}

// noun is what a value of arg is called.
func (p *argParser) noun(arg Arg) string {
	switch {
	case arg.Name != "":
		return arg.Name
	case strings.HasSuffix(p.definition.Name, "Verbs"):
		return "verb"
	}
	return "value"
}

func hasBracket(s string) bool { return strings.ContainsAny(s, "[{\"`'") }

// blanks are what may stand around names and values. Other white space belongs to them.
const blanks = " \t"

type part struct {
	text  string
	start int
}

// split cuts s at each separator that stands outside of quotes and brackets.
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

// withoutTrailingComment cuts " // …" and " # …" where they stand outside of quotes.
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

// unquoted visits the bytes of s that stand outside of quotes, until visit returns false.
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

// beginsValue reports whether something begins behind before that may be quoted. Elsewhere a ' is
// an apostrophe.
func beginsValue(before string) bool {
	before = strings.TrimRight(before, blanks)
	return before != "" && strings.IndexByte("=[{,;", before[len(before)-1]) >= 0
}
