// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/informer-gen/informer-gen/internal/generator/model"
)

// walk builds the way from obj to its keys. Each check, entry of a map and loop that the way takes
// is a level; what comes next is nested in all of them. So every value that was reached stays in
// scope, and paths that begin alike share it.
type walk struct {
	f      *file
	levels []*level
	checks map[string]bool   // conditions that hold at the innermost level
	values map[string]*value // entries of maps that are in scope, by expression
	loops  map[string]*level // loops that are open, by what they go over
	names  map[string]bool   // variables that are in scope
}

// level is an if statement or, if over or keys is set, a for statement.
type level struct {
	conditions []string
	// value and its key are variables that the statement declares: by entry in an if, by each turn
	// of a for. A for whose elements are large has a position in the place of a value.
	key, value, position string
	valueUsed            bool
	entry                string   // what value is in an if
	over                 string   // what a for goes over
	keys                 jen.Code // what it goes over, if that isn't part of obj
	element              *value   // of a for
}

// value is an expression of what a walk has reached. It is kept as text, by which two are
// compared; jennifer writes an Id as it is.
type value struct {
	text    string
	pointer bool   // to what is meant; it isn't nil
	of      *level // that declares the variable with which the expression begins, if it does
}

func newWalk(f *file) *walk {
	return &walk{
		f: f, checks: map[string]bool{}, values: map[string]*value{}, loops: map[string]*level{},
		names: map[string]bool{"keys": true, "obj": true, "ok": true},
	}
}

// follow goes to where a path leads.
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

// check goes on only if a condition holds.
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

// entry goes on only if a map has an entry.
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

// key goes on with every key of a map.
func (w *walk) key(at *value) *value {
	l := w.loop(at)
	if l.key == "" {
		l.key = w.name("key")
	}
	return &value{text: l.key}
}

// each goes on with every element. Elements that are structs are found by position, because those
// of API types are large.
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

// name is the first of some names that no variable has yet, or the last of them with a number.
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

// nested is a statement in all levels.
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
		return jen.If(jen.Id(or(l.valueUsed, l.value, "_")+", ok := "+l.entry), condition).Block(statement)
	}
}

// clause is what stands before range.
func (l *level) clause() string {
	switch key := l.key + l.position; {
	case l.value != "":
		return or(key != "", key, "_") + ", " + l.value + " := "
	default:
		return key + " := "
	}
}

func or[T any](condition bool, yes, no T) T {
	if condition {
		return yes
	}
	return no
}

// use is the expression itself.
func (v *value) use() string {
	if v.of != nil {
		v.of.valueUsed = true
	}
	return v.text
}

// read is the expression of what is meant.
func (v *value) read() string {
	if v.pointer {
		return "*" + v.use()
	}
	return v.use()
}

// operand is the expression of what is meant, to be followed by an index.
func (v *value) operand() string {
	if v.pointer {
		return "(*" + v.use() + ")"
	}
	return v.use()
}

// ---------------------------------------------------------------------------------------------

// condition makes w go on only where c holds. A value that isn't there is equal to nothing but nil;
// where such an object is to be kept, it gives a statement, to stand before the walk, that returns
// for all objects that are not. Those that lack a value on the way to a key aren't to be kept:
// further says where w goes on to.
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

// compare goes on only where a value is there and is, or isn't, the literal. To be there is to be
// other than nil.
func (w *walk) compare(c model.Condition, equal bool) {
	at, is := w.follow(c.Path), or(equal, " == ", " != ")
	switch {
	case c.Literal == "true", c.Literal == "false":
		text := at.read()
		if c.Path.Key.Path != "" { // && takes no bools of two types
			text = "bool(" + text + ")"
		}
		w.check(or(equal == (c.Literal == "true"), "", "!") + text)
	case c.Literal != "nil" || !mayMiss(c.Path):
		w.check(at.read() + is + c.Literal)
	}
}

// mayMiss reports whether a path leads to nothing in some objects.
func mayMiss(path *model.FieldPath) bool {
	for _, step := range path.Steps {
		if step.Pointer || step.ElemPointer || step.Entry != "" {
			return true
		}
	}
	return false
}
