// SPDX-License-Identifier: Apache-2.0

package rbac

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// style is how a role's list of rules is written.
type style struct {
	indent string // of the dashes of rules
	inner  string // of the dashes of the lists in a rule, from the key
	flow   bool   // lists in brackets
	quoted bool
}

// replace returns lines with other rules for a role. Roles further up haven't been replaced.
func (f *File) replace(lines []string, r *role, rules []*rule) ([]string, error) {
	from, to, own, err := f.span(lines, r)
	if err != nil {
		return nil, err
	}
	s := styleOf(lines, r)
	text := []string{keyIndent(r) + "rules:\n"}
	if len(rules) == 0 {
		text[0] = keyIndent(r) + "rules: []\n"
	} else if r.key != nil && len(r.rules) > 0 {
		text[0] = lines[from] // may have a comment
	}
	for _, rule := range rules {
		old, ok := own[rule.node]
		switch {
		case !ok:
			text = append(text, s.print(rule, nil)...)
		case rule.changed:
			above := rule.node.Line - 1 - old.from
			text = append(text, lines[old.from:old.from+above]...)
			text = append(text, s.print(rule, rule.node)...)
		default:
			text = append(text, lines[old.from:old.to]...)
		}
	}
	if n := len(lines); to == n && n > 0 && from > 0 && !strings.HasSuffix(lines[from-1], "\n") {
		lines[from-1] += "\n"
	}
	all := append([]string{}, lines[:from]...)
	all = append(all, text...)
	return append(all, lines[to:]...), nil
}

// span is a range of lines, counted from 0.
type span struct{ from, to int }

// span returns the lines of the key rules and its value, and those of each rule with the comments
// above it.
func (f *File) span(lines []string, r *role) (from, to int, rules map[*yaml.Node]span, err error) {
	end := len(lines)
	last := r.document.Line - 1
	for _, value := range entries(r.document) {
		last = max(last, value.Line-1)
	}
	for i := last; i < len(lines); i++ {
		if strings.HasPrefix(lines[i], "---") || strings.HasPrefix(lines[i], "...") {
			end = i
			break
		}
	}
	if r.key == nil {
		end = contentEnd(lines, last, end)
		return end, end, nil, nil
	}
	from = r.key.Line - 1
	if len(r.rules) == 0 {
		if r.list.Line != r.key.Line {
			return 0, 0, nil, f.styleError(r)
		}
		return from, from + 1, nil, nil
	}
	for key := range entries(r.document) {
		if key.Line > r.key.Line {
			end = min(end, key.Line-1)
		}
	}
	rules = map[*yaml.Node]span{}
	above := from + 1
	for i, rule := range r.rules {
		begin := rule.node.Line - 1
		if r.list.Style&yaml.FlowStyle != 0 || !strings.HasPrefix(strings.TrimSpace(lines[begin]), "- ") {
			return 0, 0, nil, f.styleError(r)
		}
		for begin > above && isComment(lines[begin-1]) {
			begin--
		}
		if i > 0 {
			previous := r.rules[i-1].node
			rules[previous] = span{rules[previous].from, begin}
		}
		rules[rule.node] = span{from: begin}
		above = rule.node.Line
	}
	node := r.rules[len(r.rules)-1].node
	to = contentEnd(lines, node.Line-1, end)
	rules[node] = span{rules[node].from, to}
	return from, to, rules, nil
}

// contentEnd returns the end of the last line up to end that is no comment.
func contentEnd(lines []string, from, end int) int {
	for end > from+1 && isComment(lines[end-1]) {
		end--
	}
	return end
}

// isComment reports whether a line has no content.
func isComment(line string) bool {
	line = strings.TrimSpace(line)
	return line == "" || line[0] == '#'
}

func keyIndent(r *role) string { return strings.Repeat(" ", r.document.Column-1) }

// styleOf returns the style of a role's first rule, or else controller-gen's.
func styleOf(lines []string, r *role) style {
	s := style{indent: keyIndent(r)}
	if len(r.rules) == 0 {
		return s
	}
	node := r.rules[0].node
	line := lines[node.Line-1]
	s.indent = line[:strings.Index(line, "-")]
	for key, list := range entries(node) {
		s.flow = list.Style&yaml.FlowStyle != 0
		if !s.flow {
			s.inner = strings.Repeat(" ", max(0, list.Column-key.Column))
		}
		s.quoted = isQuoted(list)
		if key.Value == verbsKey { // the most telling one
			break
		}
	}
	return s
}

func isQuoted(list *yaml.Node) bool {
	return len(list.Content) > 0 && list.Content[0].Value != "" && list.Content[0].Value != "*" && list.Content[0].Style&yaml.DoubleQuotedStyle != 0
}

// print returns the lines of a rule, with the order of keys and the comments of the node it
// replaces, if any.
func (s style) print(r *rule, old *yaml.Node) (lines []string) {
	order := keys
	if old != nil {
		order = nil
		for key := range entries(old) {
			order = append(order, key.Value)
		}
	}
	lead := "- "
	for _, name := range order {
		list := r.lists[name]
		if len(list) == 0 {
			continue
		}
		own := s
		key, value := entry(old, name)
		known := map[string]*yaml.Node{}
		comment := ""
		if key != nil {
			own.flow, own.quoted = value.Style&yaml.FlowStyle != 0, isQuoted(value)
			for _, n := range value.Content {
				known[target(n).Value] = n
			}
			if comment = key.LineComment; own.flow && value.LineComment != "" {
				comment = value.LineComment
			}
		}
		head := s.indent + lead + name + ":"
		if own.flow {
			items := make([]string, len(list))
			for i, item := range list {
				items[i] = own.scalar(item)
			}
			head += " [" + strings.Join(items, ", ") + "]"
		}
		lines = append(lines, withComment(head, comment))
		if !own.flow {
			lines = append(lines, own.items(list, known)...)
		}
		lead = "  "
	}
	return lines
}

func (s style) items(list []string, known map[string]*yaml.Node) (lines []string) {
	indent := s.indent + "  " + s.inner
	for _, item := range list {
		n := known[item]
		if n == nil {
			n = &yaml.Node{}
		}
		for line := range strings.Lines(n.HeadComment) {
			lines = append(lines, indent+strings.TrimRight(line, "\n")+"\n")
		}
		lines = append(lines, withComment(indent+"- "+s.scalar(item), n.LineComment))
	}
	return lines
}

func withComment(line, comment string) string {
	if comment != "" {
		line += " " + comment
	}
	return line + "\n"
}

func (s style) scalar(item string) string {
	if s.quoted {
		return `"` + item + `"`
	}
	return scalar(item)
}

// scalar writes a string as controller-gen does.
func scalar(item string) string {
	text, err := yaml.Marshal(item)
	if err != nil {
		return `"` + item + `"`
	}
	return strings.TrimSuffix(string(text), "\n")
}
