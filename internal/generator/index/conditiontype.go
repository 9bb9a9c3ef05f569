// SPDX-License-Identifier: Apache-2.0

package index

import (
	"fmt"
	"go/constant"
	"go/types"
	"slices"
	"strconv"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/gotypes"
	"github.com/informer-gen/informer-gen/internal/generator/jsonpath"
	"github.com/informer-gen/informer-gen/internal/generator/marker"
	"github.com/informer-gen/informer-gen/internal/generator/model"
)

func (r *Reader) conditions(k Kind, m *marker.Index, x *model.Index) (ok bool) {
	text := m.When.Text
	comparisons, problem := parseConditions(text)
	if problem != nil {
		r.failIn(m, m.When, problem)
		return false
	}
	ok = true
	for _, c := range comparisons {
		condition, fields, problems := r.checkCondition(k, text, c)
		x.Deprecated = x.Deprecated || r.docs.AnyDeprecated(fields)
		if condition.Path != nil {
			if why := constantReason(k, condition.Path); why != "" {
				problems = append(problems, jsonpath.Errorf(c.offset, "%s", why))
			}
			x.When = append(x.When, condition)
		}
		for _, p := range problems {
			r.failIn(m, m.When, p)
			ok = ok && p.Warning
		}
	}
	return ok
}

// checkCondition checks one condition, and returns it with the fields it reads. The result has no
// path if the condition itself is wrong.
func (r *Reader) checkCondition(k Kind, text string, c comparison) (model.Condition, []types.Object, []*jsonpath.Error) {
	wrong := func(p *jsonpath.Error) (model.Condition, []types.Object, []*jsonpath.Error) {
		return model.Condition{}, nil, []*jsonpath.Error{p}
	}
	f, problem := follow(k.Type, text, c.path)
	if problem != nil && k.ProjectionOf != nil {
		whole, missing := follow(k.ProjectionOf, text, c.path)
		problem = r.missingInProjection(k, whole.text, problem, missing)
	}
	if problem != nil {
		return wrong(problem)
	}
	for _, s := range c.path {
		for _, l := range s.Selectors {
			if l.Kind != jsonpath.Entry {
				return wrong(jsonpath.Errorf(l.Offset, "a condition compares one value, but %s has many: use func with a function that returns the keys", text[c.offset:l.After]))
			}
		}
	}
	lit, problem := goLiteral(f, c, text[c.offset:c.after])
	if problem != nil {
		return wrong(problem)
	}
	var doubts []*jsonpath.Error
	if doubt := misspelled(f.end, c.literal); doubt != nil {
		doubts = append(doubts, doubt)
	}
	path := &model.FieldPath{Text: f.text, Steps: f.steps, Key: goType(f.end)}
	return model.Condition{Path: path, Not: c.not, Literal: lit}, f.fields, doubts
}

func goLiteral(f followedPath, c comparison, condition string) (string, *jsonpath.Error) {
	l := c.literal
	str := gotypes.String(f.end)
	fail := func(format string, args ...any) (string, *jsonpath.Error) {
		return "", jsonpath.Errorf(l.offset, format, args...)
	}
	b, isBasic := f.end.Underlying().(*types.Basic)
	_, isStruct := f.end.Underlying().(*types.Struct)
	null := l.text == "null" && !l.quoted
	switch {
	case isBasic && b.Kind() == types.Invalid:
		return fail("the type of %s doesn't compile", f.text)
	case null && !isBasic && !isStruct, !null && (!isBasic || b.Info()&(types.IsString|types.IsBoolean|types.IsInteger) == 0):
		return "", jsonpath.Errorf(f.last, "%s (%s) can't be compared: conditions compare strings, bools and integers, and pointers or map entries with null; use func with a function that returns the keys", f.text, str)
	case null && !f.optional:
		holds, operator, hint := "never holds", "==", ""
		if c.not {
			holds, operator = "always holds", "!="
		}
		if isBasic && b.Info()&types.IsString != 0 {
			hint = fmt.Sprintf(`; to ask whether it is empty, write %s%s""`, f.text, operator)
		}
		return fail("%s %s, because %s (%s) is never absent%s", condition, holds, f.text, str, hint)
	case null:
		return "nil", nil
	case b.Info()&types.IsString != 0:
		if !l.quoted && notText(l.text) {
			return fail("%s (%s) is a string: write %q in quotes", f.text, str, l.text)
		}
		return strconv.Quote(l.text), nil
	case l.quoted:
		return fail("%s (%s) isn't a string: omit the quotes", f.text, str)
	case b.Info()&types.IsBoolean != 0:
		if l.text != "true" && l.text != "false" {
			_, problem := fail("%s (%s) is never %s%s", f.text, str, l.text, diag.DidYouMean(l.text, []string{"true", "false"}))
			problem.Allowed = []string{"true", "false"}
			if f.optional {
				problem.Allowed = append(problem.Allowed, "null")
			}
			return "", problem
		}
		return l.text, nil
	}
	if why := integerProblem(l.text, b); why != "" {
		return fail("%s (%s) is never %s: %s", f.text, str, l.text, why)
	}
	return l.text, nil
}

// notText reports whether a word is a number or bool where the value isn't text.
func notText(word string) bool {
	_, err := strconv.ParseInt(word, 10, 64)
	return err == nil || word == "true" || word == "false"
}

// misspelled warns about text close to a constant of its type, or to a constant's name.
func misspelled(t types.Type, l literal) *jsonpath.Error {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil || l.text == "" {
		return nil
	}
	var values []string
	named := ""
	scope := n.Obj().Pkg().Scope()
	for _, name := range scope.Names() {
		c, ok := scope.Lookup(name).(*types.Const)
		if !ok || !types.Identical(c.Type(), n) || c.Val().Kind() != constant.String {
			continue
		}
		value := constant.StringVal(c.Val())
		if value == l.text {
			return nil
		}
		values = append(values, value)
		if name == l.text {
			named = value
		}
	}
	slices.Sort(values)
	hint := diag.DidYouMean(l.text, values)
	if named != "" {
		hint = fmt.Sprintf(", did you mean %s? (conditions use values, not names of constants)", named)
	}
	if hint == "" || l.text == "null" && !l.quoted {
		return nil
	}
	p := jsonpath.Errorf(l.offset, "no constant of type %s is %q%s", gotypes.String(t), l.text, hint)
	p.Allowed, p.Warning = slices.Compact(values), true
	return p
}
