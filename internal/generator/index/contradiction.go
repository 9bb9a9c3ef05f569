// SPDX-License-Identifier: Apache-2.0

package index

import (
	"reflect"
	"slices"

	"github.com/informer-gen/informer-gen/internal/generator/jsonpath"
	"github.com/informer-gen/informer-gen/internal/generator/model"
)

// contradiction returns what is wrong with having both of two conditions. The second one stands at
// offset.
func contradiction(first, second model.Condition, firstText, secondText string, offset int) []*jsonpath.Error {
	switch one, other := first.Path.Steps, second.Path.Steps; {
	case reflect.DeepEqual(one, other):
	case goesOn(other, one):
		return below(first, second, firstText, secondText, offset)
	case goesOn(one, other):
		return below(second, first, secondText, firstText, offset)
	default:
		return nil
	}
	same := first.Literal == second.Literal
	p := jsonpath.Errorf(offset, "%s never holds together with %s", secondText, firstText)
	switch {
	case first.Not == second.Not && same:
		p = jsonpath.Errorf(offset, "%s says the same as %s", secondText, firstText)
		p.Warning = true
	case first.Not && second.Not:
		if first.Literal != "true" && first.Literal != "false" || second.Literal != "true" && second.Literal != "false" {
			return nil
		}
		if slices.ContainsFunc(first.Path.Steps, mayEnd) {
			p = jsonpath.Errorf(offset, "%s and %s together mean that %s is absent: write %[3]s==null", firstText, secondText, first.Path.Text)
			p.Warning = true
		}
	case first.Not != second.Not && !same:
		needless, enough := secondText, firstText
		if first.Not {
			needless, enough = firstText, secondText
		}
		p = jsonpath.Errorf(offset, "%s is needless beside %s", needless, enough)
		p.Warning = true
	}
	return []*jsonpath.Error{p}
}

// below returns what is wrong with comparing a value with null, and one that is reached through it,
// too.
func below(outer, inner model.Condition, outerText, innerText string, offset int) []*jsonpath.Error {
	// outer holds only where its value is absent
	absent := !outer.Not
	// as it does for what an absent value would lead to
	holdsIfAbsent := inner.Not != (inner.Literal == "nil")
	p := jsonpath.Errorf(offset, "%s never holds together with %s", innerText, outerText)
	switch {
	case absent && holdsIfAbsent:
		p = jsonpath.Errorf(offset, "%s is needless beside %s", innerText, outerText)
		p.Warning = true
	case !absent && !holdsIfAbsent:
		p = jsonpath.Errorf(offset, "%s is needless beside %s", outerText, innerText)
		p.Warning = true
	case !absent:
		return nil
	}
	return []*jsonpath.Error{p}
}

func mayEnd(s model.Step) bool { return s.Pointer || s.Entry != "" }

// withoutKeys returns what a comparison with null means for an index of paths that go on from the
// value compared.
func withoutKeys(c model.Condition, paths []*model.FieldPath, text string, offset int) []*jsonpath.Error {
	if c.Literal != "nil" {
		return nil
	}
	for _, path := range paths {
		if !goesOn(path.Steps, c.Path.Steps) {
			continue
		}
		if !c.Not {
			return []*jsonpath.Error{jsonpath.Errorf(offset, "nothing would ever be in the index, because %s has no keys where %s", path.Text, text)}
		}
		p := jsonpath.Errorf(offset, "%s is needless: objects in which %s is absent aren't in an index of %s anyway", text, c.Path.Text, path.Text)
		p.Warning = true
		return []*jsonpath.Error{p}
	}
	return nil
}

// goesOn reports whether a path has steps as its beginning.
func goesOn(path, steps []model.Step) bool {
	return len(path) >= len(steps) && reflect.DeepEqual(path[:len(steps)], steps)
}
