// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/informer-gen/informer-gen/generator/model"
)

// notAKey is why a type can't be that of keys.
type notAKey struct {
	reason string
	// instead is what a function could return in its place; may be empty.
	instead string
}

// key returns the type of an index's keys as generated code names it, or the reason why it can't be
// one.
func (r *resolver) key(t types.Type) (model.GoType, *notAKey) {
	t = types.Unalias(t)
	str := typeString(t)
	const want = "a key is a string, a bool, an integer or a struct of these, or a type declared as one"
	no := func(format string, args ...any) (model.GoType, *notAKey) {
		return model.GoType{}, &notAKey{reason: fmt.Sprintf(format, args...)}
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch {
		case u.Kind() == types.Invalid:
			return no("its type doesn't compile")
		case u.Info()&types.IsFloat != 0:
			return model.GoType{}, &notAKey{str + " can't be compared reliably; " + want, "it rounded to an integer"}
		case u.Info()&(types.IsString|types.IsBoolean|types.IsInteger) == 0 || u.Kind() == types.Uintptr || u.Kind() == types.UnsafePointer:
			return no("%s can't be compared reliably; %s", str, want)
		}
	case *types.Struct:
		if why := incomparable(t, str, map[types.Type]bool{}); why != nil {
			if why.instead == "" {
				why.reason += "; " + want
			}
			return model.GoType{}, why
		}
	default:
		return no("%s is no type of keys; %s", str, want)
	}
	switch t := t.(type) {
	case *types.Basic:
		return goType(t), nil
	case *types.Named:
		obj := t.Obj()
		switch {
		case t.TypeArgs().Len() > 0:
			return no("%s has type arguments: declare a type of its own", str)
		case !obj.Exported():
			return no("%s is unexported, so generated code can't name it", str)
		case obj.Pkg() != nil && !canImport(r.importPath, obj.Pkg().Path()):
			return no("%s comes from an internal package, which the output can't import", str)
		case obj.Parent() != obj.Pkg().Scope():
			return no("%s isn't declared at the top of its package", str)
		}
		return goType(t), nil
	}
	return no("%s has no name: declare a type for it", str)
}

// goType is a predeclared or named type for the model; zero for any other.
func goType(t types.Type) model.GoType {
	switch t := t.(type) {
	case *types.Basic:
		return model.GoType{Name: t.Name()}
	case *types.Named:
		if obj := t.Obj(); obj.Pkg() != nil {
			return model.GoType{Path: obj.Pkg().Path(), Package: obj.Pkg().Name(), Name: obj.Name()}
		}
	}
	return model.GoType{}
}

// sameButUnequal are structs with values that mean the same and are unequal in Go.
var sameButUnequal = map[string]notAKey{
	"time.Time":             {"one point in time has many representations that are unequal in Go", "its Unix seconds"},
	metaPath + ".Time":      {"one point in time has many representations that are unequal in Go", "its Unix seconds"},
	metaPath + ".MicroTime": {"one point in time has many representations that are unequal in Go", "its UnixMicro"},
	"k8s.io/apimachinery/pkg/api/resource.Quantity":   {"one quantity has many representations that are unequal in Go", "its String"},
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString": {`80 and "80" mean the same and are unequal in Go`, "its String"},
}

// incomparable returns why == on values of t, which a message calls what, can panic or doesn't
// say whether they mean the same; nil if it does.
func incomparable(t types.Type, what string, seen map[types.Type]bool) *notAKey {
	t = types.Unalias(t)
	if seen[t] {
		return nil
	}
	seen[t] = true
	if n, ok := t.(*types.Named); ok && n.Obj().Pkg() != nil {
		if why, ok := sameButUnequal[n.Obj().Pkg().Path()+"."+n.Obj().Name()]; ok {
			why.reason = what + ": " + why.reason
			return &why
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch {
		case u.Kind() == types.Invalid:
			return &notAKey{reason: "the type of " + what + " doesn't compile"}
		case u.Info()&(types.IsString|types.IsBoolean|types.IsInteger) == 0 || u.Kind() == types.Uintptr:
			return &notAKey{reason: fmt.Sprintf("%s is a %s, which can't be compared reliably", what, typeString(t))}
		}
		return nil
	case *types.Struct:
		for f := range u.Fields() {
			if why := incomparable(f.Type(), what+"."+f.Name(), seen); why != nil {
				return why
			}
		}
		return nil
	case *types.Array:
		return incomparable(u.Elem(), what+"[…]", seen)
	case *types.Pointer:
		return &notAKey{reason: what + " is a pointer, which is compared by address"}
	case *types.Interface:
		return &notAKey{reason: what + " is an interface, which may hold what can't be compared"}
	}
	return &notAKey{reason: fmt.Sprintf("%s (%s) can't be compared", what, typeString(t))}
}

// entryLiteral is the key of a map's entry as a Go literal.
func entryLiteral(t types.Type, l look, path, mapType string) (string, *pathError) {
	b, ok := t.Underlying().(*types.Basic)
	if !ok {
		return "", pathErrorf(l.offset, "the keys of %s (%s) can't be written in a path: use func with a function that returns the keys", path, mapType)
	}
	switch {
	case b.Info()&types.IsString != 0:
		return strconv.Quote(l.key), nil
	case b.Info()&types.IsBoolean != 0:
		if l.key != "true" && l.key != "false" {
			return "", pathErrorf(l.offset, "the keys of %s (%s) are true and false", path, mapType)
		}
		return l.key, nil
	case b.Info()&types.IsInteger != 0:
		if problem := integerProblem(l.key, b); problem != "" {
			return "", pathErrorf(l.offset, "%q is no key of %s (%s): %s", l.key, path, mapType, problem)
		}
		return l.key, nil
	}
	return "", pathErrorf(l.offset, "the keys of %s (%s) can't be written in a path: use func with a function that returns the keys", path, mapType)
}

// integerProblem returns why text is no decimal integer of type b; empty if it is one.
func integerProblem(text string, b *types.Basic) string {
	digits := strings.TrimPrefix(text, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" || len(digits) > 1 && digits[0] == '0' || text == "-0" {
		return "it is no integer in decimal digits"
	}
	low, high := integerRange(b)
	v := constant.MakeFromLiteral(digits, token.INT, 0)
	if len(digits) < len(text) {
		v = constant.UnaryOp(token.SUB, v, 0)
	}
	if constant.Compare(v, token.LSS, low) || constant.Compare(v, token.GTR, high) {
		return fmt.Sprintf("it is out of the range of %s, which is %s to %s", b.Name(), low.ExactString(), high.ExactString())
	}
	return ""
}

func integerRange(b *types.Basic) (low, high constant.Value) {
	switch b.Kind() {
	case types.Int8:
		return constant.MakeInt64(math.MinInt8), constant.MakeInt64(math.MaxInt8)
	case types.Int16:
		return constant.MakeInt64(math.MinInt16), constant.MakeInt64(math.MaxInt16)
	case types.Int32:
		return constant.MakeInt64(math.MinInt32), constant.MakeInt64(math.MaxInt32)
	case types.Uint8:
		return constant.MakeInt64(0), constant.MakeInt64(math.MaxUint8)
	case types.Uint16:
		return constant.MakeInt64(0), constant.MakeInt64(math.MaxUint16)
	case types.Uint32:
		return constant.MakeInt64(0), constant.MakeInt64(math.MaxUint32)
	case types.Uint, types.Uint64:
		return constant.MakeInt64(0), constant.MakeUint64(math.MaxUint64)
	}
	return constant.MakeInt64(math.MinInt64), constant.MakeInt64(math.MaxInt64)
}

// partNames names the parts of a composite key: by the last word of each path, with as many words
// before it as it takes to tell them apart. Paths of the same words are numbered.
func partNames(paths []followed) []string {
	names := make([]string, len(paths))
	words := make([]int, len(paths)) // how many of each path's
	for longer := true; longer; {
		longer = false
		called := map[string][]int{}
		for i, p := range paths {
			for words[i] == 0 || words[i] < len(p.words) && !isExportedName(names[i]) {
				words[i]++
				names[i] = strings.Join(p.words[len(p.words)-words[i]:], "")
			}
			called[names[i]] = append(called[names[i]], i)
		}
		for _, same := range called {
			first := paths[same[0]].words
			if !slices.ContainsFunc(same, func(i int) bool { return !slices.Equal(paths[i].words, first) }) {
				continue
			}
			for _, i := range same {
				if words[i] < len(paths[i].words) {
					words[i]++
					names[i] = strings.Join(paths[i].words[len(paths[i].words)-words[i]:], "")
					longer = true
				}
			}
		}
	}
	return numbered(names)
}

func isExportedName(name string) bool { return token.IsIdentifier(name) && token.IsExported(name) }

// numbered makes equal names different.
func numbered(names []string) []string {
	taken := map[string]bool{}
	for _, name := range names {
		taken[name] = true
	}
	seen := map[string]bool{}
	for i, name := range names {
		if seen[name] {
			for n := 2; taken[names[i]]; n++ {
				names[i] = name + strconv.Itoa(n)
			}
			taken[names[i]] = true
		}
		seen[name] = true
	}
	return names
}

// entryWords are the words that name an entry of a map in Go: app.kubernetes.io/name is
// AppKubernetesIo and Name.
func entryWords(key string) []string {
	var words []string
	for part := range strings.SplitSeq(key, "/") {
		var word strings.Builder
		for w := range strings.FieldsFuncSeq(part, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			word.WriteString(upperFirst(w))
		}
		if word.Len() > 0 {
			words = append(words, word.String())
		}
	}
	return words
}
