// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"go/token"
	"slices"
	"strconv"
	"strings"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/marker"
)

type argParser struct {
	line       Line
	definition *Definition
	at         marker.At
	report     *diag.List
}

func (p *argParser) fail(pos token.Position, message string, allowed []string) {
	p.report.Add(diag.Diagnostic{Pos: pos, Marker: p.at.Name, Message: message, Allowed: allowed})
}

// args fills the arguments of m from value, which starts at offset in the line.
func (p *argParser) args(m marker.Marker, firstArg, value string, offset int, hasValue bool) bool {
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
				message := strconv.Quote(part.text) + " isn't an argument: write name=value"
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
			message := "argument " + arg.Name + " is missing; write " + p.definition.Usage()
			if arg.Name == "" {
				message = "the value is missing; write " + p.definition.Usage()
			}
			p.fail(p.at.Pos, message, arg.Allowed)
			ok = false
		}
	}
	return ok
}

func (p *argParser) values(arg Arg, text string, offset int) ([]marker.Value, bool) {
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
	var values []marker.Value
	for _, part := range parts {
		start := part.start + len(part.text) - len(strings.TrimLeft(part.text, blanks))
		trimmed := strings.Trim(part.text, blanks)
		value := marker.Value{Text: trimmed, Pos: p.line.at(offset + start)}
		if len(trimmed) > 1 && (trimmed[0] == '"' || trimmed[0] == '`') {
			unquoted, err := strconv.Unquote(trimmed)
			if err != nil {
				p.fail(value.Pos, "invalid quoted string: "+trimmed, nil)
				return nil, false
			}
			value = marker.Value{Text: unquoted, Pos: p.line.at(offset + start + 1)}
			if written := trimmed[1 : len(trimmed)-1]; written != unquoted {
				value.Written = written
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

// of names the whole value of arg in messages.
func (p *argParser) of(arg Arg) string {
	if arg.Name == "" {
		return "the value"
	}
	return "the value of " + arg.Name
}

// noun names one value of arg in messages.
func (p *argParser) noun(arg Arg) string {
	switch {
	case arg.Name != "":
		return arg.Name
	case strings.HasSuffix(p.definition.Name, "Verbs"):
		return "verb"
	}
	return "value"
}
