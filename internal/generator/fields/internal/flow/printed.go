// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"go/constant"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// printed returns the printed arguments of a formatting function of fmt: all except %T arguments.
// ok is false for other calls, and for computed formats and arguments.
func printed(to callee, args []ssa.Value) (values []ssa.Value, ok bool) {
	if to.path() != "fmt" || !strings.HasSuffix(to.name, "f") || len(args) < 2 {
		return nil, false
	}
	format, ok := args[len(args)-2].(*ssa.Const)
	if !ok || format.Value == nil || format.Value.Kind() != constant.String {
		return nil, false
	}
	elements, ok := elementsOf(args[len(args)-1])
	if !ok {
		return nil, false
	}
	verbs, ok := verbsOf(constant.StringVal(format.Value))
	if !ok || len(verbs) != len(elements) {
		return nil, false
	}
	for i, verb := range verbs {
		if verb != 'T' {
			values = append(values, elements[i])
		}
	}
	return values, true
}

func elementsOf(v ssa.Value) (elements []ssa.Value, ok bool) {
	slice, ok := v.(*ssa.Slice)
	if !ok {
		return nil, false
	}
	array, ok := slice.X.(*ssa.Alloc)
	if !ok {
		return nil, false
	}
	for _, use := range *array.Referrers() {
		address, ok := use.(*ssa.IndexAddr)
		if !ok {
			if use != slice {
				return nil, false
			}
			continue
		}
		for _, of := range *address.Referrers() {
			store, ok := of.(*ssa.Store)
			if !ok || store.Addr != address {
				return nil, false
			}
			elements = append(elements, store.Val)
		}
	}
	return elements, true
}

// verbsOf returns the verbs of a format, one for each argument. ok is false if it has argument
// indexes, or widths passed as arguments.
func verbsOf(format string) (verbs []rune, ok bool) {
	inVerb := false
	for _, r := range format {
		switch {
		case !inVerb:
			inVerb = r == '%'
		case r == '[' || r == '*':
			return nil, false
		case r == '%':
			inVerb = false
		case strings.ContainsRune("+-# 0123456789.", r):
		default:
			verbs = append(verbs, r)
			inVerb = false
		}
	}
	return verbs, true
}
