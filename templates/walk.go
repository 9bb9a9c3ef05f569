// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/informer-gen/informer-gen/internal/generator/model"
)

// walk builds the code from obj to its keys. Each check, map entry and loop on the way is a level;
// all later code is nested in it. So every value stays in scope once reached, and paths with a
// common beginning share it.
type walk struct {
	f      *file
	levels []*level
	checks map[string]bool   // conditions that hold at the innermost level
	values map[string]*value // map entries in scope, by expression
	loops  map[string]*level // open loops, by their operands
	names  map[string]bool   // variables in scope
}

// level is an if statement or, if over or keys is set, a for statement.
type level struct {
	conditions []string
	// key and value are variables declared by the statement: once in an if, in each turn of a for.
	// A for over large elements has a position instead of a value.
	key, value, position string
	valueUsed            bool
	entry                string   // right side of value in an if
	over                 string   // operand of a for
	keys                 jen.Code // operand of a for outside of obj
	element              *value   // of a for
}

// value is an expression reached by a walk. It is text, to be compared with others; jennifer writes
// an Id unchanged.
type value struct {
	text    string
	pointer bool   // to the actual value; never nil
	of      *level // declares the variable at the start of text; nil if none does
}

func newWalk(f *file) *walk {
	return &walk{
		f: f, checks: map[string]bool{}, values: map[string]*value{}, loops: map[string]*level{},
		names: map[string]bool{"keys": true, "obj": true, "ok": true},
	}
}

func (w *walk) follow(path *model.FieldPath) *value {
	at := &value{text: "obj"}
	for n, step := range path.Steps {
		if step.Field != "" {
			at = &value{text: at.text + "." + step.Field, pointer: step.Pointer, of: at.of}
		}
		if step.Pointer {
			w.check(at.use() + " != nil")
		}
		switch {
		case step.Entry != "":
			at = w.entry(at, step)
		case step.Keys:
			at = w.key(at)
		case step.Each:
			structs := n+1 < len(path.Steps) && path.Steps[n+1].Field != ""
			at = w.each(at, step, structs)
		}
	}
	return at
}

func (w *walk) check(condition string) {
	if w.checks[condition] {
		return
	}
	w.checks[condition] = true
	if last := len(w.levels) - 1; last < 0 || w.levels[last].isLoop() {
		w.levels = append(w.levels, &level{})
	}
	last := w.levels[len(w.levels)-1]
	last.conditions = append(last.conditions, condition)
}

func (w *walk) entry(at *value, step model.Step) *value {
	entry := at.operand() + "[" + step.Entry + "]"
	if v := w.values[entry]; v != nil {
		return v
	}
	l := &level{entry: entry, value: w.name("value")}
	v := &value{text: l.value, pointer: step.ElemPointer, of: l}
	if step.ElemPointer {
		l.conditions = append(l.conditions, v.use()+" != nil")
	} else {
		l.key = "ok"
		l.conditions = append(l.conditions, "ok")
	}
	w.levels = append(w.levels, l)
	w.values[entry] = v
	return v
}

func (w *walk) key(at *value) *value {
	l := w.loop(at)
	if l.key == "" {
		l.key = w.name("key")
	}
	return &value{text: l.key}
}

// each continues with every element. It addresses structs by position, because those of API types
// are large.
func (w *walk) each(at *value, step model.Step, structs bool) *value {
	l := w.loop(at)
	switch {
	case l.element != nil:
	case structs && !step.ElemPointer && !step.Map:
		l.position = w.name("i", "j", "k")
		l.element = &value{text: at.operand() + "[" + l.position + "]"}
	default:
		l.value = w.name("value")
		l.element = &value{text: l.value, pointer: step.ElemPointer, of: l}
	}
	if step.ElemPointer {
		w.check(l.element.use() + " != nil")
	}
	return l.element
}

func (w *walk) loop(at *value) *level {
	over := at.read()
	l := w.loops[over]
	if l == nil {
		l = &level{over: over}
		w.loops[over] = l
		w.levels = append(w.levels, l)
	}
	return l
}

// name returns the first of names not yet taken, or the last with a number.
func (w *walk) name(names ...string) string {
	for n := 0; ; n++ {
		name := names[min(n, len(names)-1)]
		if n >= len(names) {
			name += strconv.Itoa(n - len(names) + 2)
		}
		if !w.names[name] && w.f.local(name) {
			w.names[name] = true
			return name
		}
	}
}

func (w *walk) nested(statement jen.Code) jen.Code {
	for n := len(w.levels) - 1; n >= 0; n-- {
		statement = w.levels[n].around(statement)
	}
	return statement
}

func (l *level) isLoop() bool { return l.over != "" || l.keys != nil }

func (l *level) around(statement jen.Code) jen.Code {
	if l.isLoop() {
		return jen.For(jen.Id(l.clause() + "range " + l.over).Add(l.keys)).Block(statement)
	}
	condition := jen.Id(strings.Join(l.conditions, " && "))
	switch {
	case l.entry == "":
		return jen.If(condition).Block(statement)
	case l.key == "":
		return jen.If(jen.Id(l.value+" := "+l.entry), condition).Block(statement)
	default:
		return jen.If(jen.Id(pick(l.valueUsed, l.value, "_")+", ok := "+l.entry), condition).Block(statement)
	}
}

func (l *level) clause() string {
	switch key := l.key + l.position; {
	case l.value != "":
		return pick(key != "", key, "_") + ", " + l.value + " := "
	default:
		return key + " := "
	}
}

func pick[T any](condition bool, yes, no T) T {
	if condition {
		return yes
	}
	return no
}

func (v *value) use() string {
	if v.of != nil {
		v.of.valueUsed = true
	}
	return v.text
}

// read returns the expression of the actual value.
func (v *value) read() string {
	if v.pointer {
		return "*" + v.use()
	}
	return v.use()
}

// operand returns the expression of the actual value, for an index behind it.
func (v *value) operand() string {
	if v.pointer {
		return "(*" + v.use() + ")"
	}
	return v.use()
}

// ---------------------------------------------------------------------------------------------

// condition restricts w to objects that meet c. A missing value equals only nil. If objects without
// the value meet c, condition may return a statement to precede the walk, which returns early for
// the others. It doesn't if the value is on the way to a key, since such objects have no key
// anyway; further are the paths that w will follow.
func (w *walk) condition(c model.Condition, further []*model.FieldPath) jen.Code {
	null, missing := c.Literal == "nil", mayMiss(c.Path)
	onTheWay := slices.ContainsFunc(further, func(path *model.FieldPath) bool {
		n := len(c.Path.Steps)
		return n <= len(path.Steps) && slices.Equal(path.Steps[:n], c.Path.Steps)
	})
	if missing && null != c.Not && (null || !onTheWay) {
		others := newWalk(w.f)
		others.compare(c, true)
		return others.nested(jen.Return(jen.Id("keys")))
	}
	w.compare(c, !c.Not)
	return nil
}

// compare continues only where a value is present and equal, or unequal, to the literal. Present
// means not nil.
func (w *walk) compare(c model.Condition, equal bool) {
	at, is := w.follow(c.Path), pick(equal, " == ", " != ")
	switch {
	case c.Literal == "true", c.Literal == "false":
		text := at.read()
		if c.Path.Key.Path != "" { // && takes no bools of two types
			text = "bool(" + text + ")"
		}
		w.check(pick(equal == (c.Literal == "true"), "", "!") + text)
	case c.Literal != "nil" || !mayMiss(c.Path):
		w.check(at.read() + is + c.Literal)
	}
}

func mayMiss(path *model.FieldPath) bool {
	for _, step := range path.Steps {
		if step.Pointer || step.ElemPointer || step.Entry != "" {
			return true
		}
	}
	return false
}
