// SPDX-License-Identifier: Apache-2.0

package oracle

import "slices"

// transports pass values on.
var transports = slices.Concat(codeTransports, libraryTransports)

// codeTransports are those of the language, and of packages that are looked into.
var codeTransports = []block{
	// variables, closures and functions
	{name: "pointer to variable", from: "cache data", code: "$Pv := $in\n$Pp := &$Pv\n$out := *$Pp"},
	{name: "closure", from: "cache data", code: "$Pget := func() $T { return $in }\n$out := $Pget()"},
	{name: "captured variable", from: "cache data", code: "var $out $T\nfunc() { $out = $in }()"},
	{name: "recursive closure", from: "cache data", code: `
var $Pf func(int, $T) $T
$Pf = func(n int, v $T) $T {
	if n == 0 { return v }
	return $Pf(n-1, v)
}
$out := $Pf(2, $in)`},
	{name: "variable of the package", from: "cache data", decls: `var $PKept $T`, code: "$PKept = $in\n$out := $PKept"},
	{name: "function in variable of the package", from: "cache data", decls: `var $PPass = func(v $T) $T { return v }`, code: `$out := $PPass($in)`},
	{name: "map of functions", from: "cache data", decls: `
var $PSteps = map[string]func($T) $T{
	"same": func(v $T) $T { return v },
	"none": func(v $T) (none $T) { return none },
}`, code: `$out := $PSteps["same"]($in)`},
	{name: "list of functions", from: "cache data", code: `
$out := $in
for _, f := range []func(*$T){func(*$T) {}, func(v *$T) { *v = $in }} {
	f(&$out)
}`},
	{name: "function type's method", from: "cache data", decls: `
type $PFunc func($T) $T

func (f $PFunc) pass(v $T) $T { return f(v) }`, code: `$out := $PFunc(func(v $T) $T { return v }).pass($in)`},
	{name: "several results", from: "cache data", decls: `
func $PTwo(v $T) (n int, same $T, err error) { same = v; return }`, code: `_, $out, _ := $PTwo($in)`},
	{name: "variadic function", from: "cache data", decls: `
func $PLast(all ...$T) $T { return all[len(all)-1] }`, code: `$out := $PLast($in, $in)`},
	{name: "defer", from: "cache data", decls: `
func $PDeferred(v $T) (same $T) { defer func() { same = v }(); return }`, code: `$out := $PDeferred($in)`},
	{name: "callback", from: "cache data", decls: `
type $PBus struct{ on []func($T) }

func (b *$PBus) fire(v $T) { for _, f := range b.on { f(v) } }`, code: `
$Pbus := &$PBus{}
$Pbus.on = append($Pbus.on, func($out $T) {
	$rest
})
$Pbus.fire($in)`},

	// structs, methods and interfaces
	{name: "struct", from: "cache data", decls: "type $PHolder struct{ name string; v $T }", code: "$out := $PHolder{\"a\", $in}.v"},
	{name: "setter", from: "cache data", decls: `
type $PHolder struct{ v $T }

func (h *$PHolder) set(v $T) { h.v = v }
func (h *$PHolder) get() $T  { return h.v }`, code: "var $Ph $PHolder\n$Ph.set($in)\n$out := $Ph.get()"},
	{name: "method value", from: "cache data", decls: `
type $PHolder struct{ v $T }

func (h $PHolder) get() $T { return h.v }`, code: "$Pget := $PHolder{$in}.get\n$out := $Pget()"},
	{name: "method expression", from: "cache data", decls: `
type $PHolder struct{ v $T }

func (h *$PHolder) get() $T { return h.v }`, code: "$Pget := (*$PHolder).get\n$out := $Pget(&$PHolder{$in})"},
	{name: "embedded struct", from: "cache data", decls: `
type $PInner struct{ v $T }

func (i *$PInner) get() $T { return i.v }

type $POuter struct{ *$PInner; more int }`, code: "$out := $POuter{&$PInner{$in}, 1}.get()"},
	{name: "embedded interface", from: "cache data", decls: `
type $PGet interface{ get$P() $T }

type $PInner struct{ v $T }

func (i $PInner) get$P() $T { return i.v }

type $POuter struct{ $PGet }`, code: "$out := $POuter{$PInner{$in}}.get$P()"},
	{name: "interface with two types", from: "cache data", decls: `
type $PPass interface{ pass$P(v $T) $T }

type $POne struct{}

func ($POne) pass$P(v $T) (none $T) { return none }

type $POther struct{ last $T }

func (o *$POther) pass$P(v $T) $T { o.last = v; return o.last }`, code: `
$out := $in
for _, p := range []$PPass{$POne{}, &$POther{}} {
	$out = p.pass$P($in)
}`},
	{name: "embedded value", from: "pod specp statusp containerp security", decls: "type $PMore struct{ $T }", code: "$Pm := &$PMore{$in}\n$out := $Pm.$N"},
	{name: "struct conversion", from: "cache data", decls: "type $PA struct{ V $T `json:\"a\"` }\n\ntype $PB struct{ V $T }", code: "$out := $PB($PA{$in}).V"},
	{name: "struct copied through pointer", from: "pointer", code: "$Pto := *$in\n$out := &$Pto"},
	{name: "linked list", from: "cache data", decls: "type $PNode struct{ v $T; next *$PNode }", code: "$out := (&$PNode{next: &$PNode{v: $in}}).next.v"},
	{name: "any", from: "cache data", code: "var $Pa any = $in\n$out := $Pa.($T)"},
	{name: "type switch", from: "cache data", code: `
switch $out := any($in).(type) {
case $T:
	$rest
case nil:
	out += "none"
}`},
	{name: "error", from: "cache data", decls: `
type $PError struct{ v $T }

func (*$PError) Error() string { return "wrong" }

func $PFail(v $T) error { return &$PError{v} }`, code: "$out := $PFail($in).(*$PError).v"},
	{name: "errors.As", from: "cache data", lost: true, decls: `
type $PError struct{ v $T }

func (*$PError) Error() string { return "wrong" }

func $PFail(v $T) error { return fmt.Errorf("it failed: %w", &$PError{v}) }`, code: `
var $Perr *$PError
errors.As($PFail($in), &$Perr)
$out := $Perr.v`},

	// generic code
	{name: "generic function", from: "cache data", decls: "func $PSame[T any](v T) T { return v }", code: `$out := $PSame($in)`},
	{name: "generic type", from: "cache data", decls: `
type $PBox[T any] struct{ v T }

func (b *$PBox[T]) put(v T) *$PBox[T] { b.v = v; return b }
func (b *$PBox[T]) take() T           { return b.v }`, code: `$out := new($PBox[$T]).put($in).take()`},
	{name: "generic apply", from: "cache data", decls: `
func $PApply[A, B any](v A, f func(A) B) B { return f(v) }`, code: `
$out := $PApply($PApply($in, func(v $T) []$T { return []$T{v} }), func(list []$T) $T { return list[0] })`},
	{name: "method of type parameter", from: "cache data", decls: `
type $PHolder struct{ v $T }

func (h $PHolder) get() $T { return h.v }

func $PGetOf[T any, H interface{ get() T }](h H) T { return h.get() }`, code: `$out := $PGetOf[$T]($PHolder{$in})`},
	{name: "switch on type parameter", from: "cache data", decls: `
func $PCast[T any](v any) (none T) {
	switch v := v.(type) {
	case T:
		return v
	}
	return none
}`, code: `$out := $PCast[$T]($in)`},

	// lists, arrays, maps and channels
	{name: "list", from: "cache data", code: "$Plist := append([]$T(nil), $in)\n$out := $Plist[0]"},
	{name: "list in a map", from: "cache data", code: "$Pm := map[string][]$T{}\n$Pm[\"a\"] = append($Pm[\"a\"], $in)\n$out := $Pm[\"a\"][0]"},
	{name: "array", from: "cache data", code: "$Pa := [2]$T{1: $in}\n$Pb := $Pa\n$out := $Pb[1]"},
	{name: "copy into array", from: "cache data", code: "var $Pa [2]$T\ncopy($Pa[1:], []$T{$in})\n$out := $Pa[1]"},
	{name: "copy of list into array", from: "list args", code: "var $Pa [8]$E\n$Pn := copy($Pa[:], $in)\n$out := $Pa[:$Pn]"},
	{name: "copy of array into list", from: "cache data", code: "$Pa := [1]$T{$in}\n$Pl := make([]$T, 1)\ncopy($Pl, $Pa[:])\n$out := $Pl[0]"},
	{name: "list to array", from: "cache data", code: "$Pl := []$T{$in}\n$Pa := [1]$T($Pl)\n$out := $Pa[0]"},
	{name: "list to array pointer", from: "cache data", code: "$Pa := (*[1]$T)([]$T{$in})\n$out := $Pa[0]"},
	{name: "map", from: "cache data", code: "$Pm := map[int]$T{1: $in}\n$out, _ := $Pm[1]"},
	{name: "map of pointers", from: "cache data", code: "$Pv := $in\n$Pm := map[string]*$T{\"a\": &$Pv}\n$out := *$Pm[\"a\"]"},
	{name: "method of list type", from: "cache data", decls: `
type $PList []$T

func (l $PList) first() $T { return l[0] }`, code: `$out := $PList{$in}.first()`},
	{name: "channel", from: "cache data", code: "$Pc := make(chan $T, 1)\n$Pc <- $in\n$out := <-$Pc"},
	{name: "range over channel", from: "cache data", code: `
$Pc := make(chan $T, 1)
$Pc <- $in
close($Pc)
for $out := range $Pc {
	$rest
}`},
	{name: "select", from: "cache data", code: `
$Pc, $Pd := make(chan $T), make(chan int)
go func() { $Pc <- $in }()
select {
case <-$Pd:
case $out := <-$Pc:
	$rest
}`},
	{name: "channel of functions", from: "cache data", code: `
$Pc := make(chan func() $T, 1)
$Pc <- func() $T { return $in }
$out := (<-$Pc)()`},
	{name: "slices.Clone", from: "list args", code: `$out := slices.Clone($in)`},
	{name: "slices.SortFunc", from: "containers conditions owners", code: `
$out := slices.Clone($in)
slices.SortFunc($out, func(a, b $E) int { return -strings.Compare(a.$F, b.$F) })`},
	{name: "sort.Slice", from: "containers conditions owners", code: `
$out := append($T(nil), $in...)
sort.Slice($out, func(i, j int) bool { return $out[i].$F > $out[j].$F })`},
	{name: "sort.Sort", from: "containers conditions owners", decls: `
type $PSorted $T

func (l $PSorted) Len() int           { return len(l) }
func (l $PSorted) Less(i, j int) bool { return l[i].$F > l[j].$F }
func (l $PSorted) Swap(i, j int)      { l[i], l[j] = l[j], l[i] }`, code: `
$out := append($T(nil), $in...)
sort.Sort($PSorted($out))`},
	{name: "slices.DeleteFunc", from: "containers conditions owners", code: `
$out := slices.DeleteFunc(slices.Clone($in), func(v $E) bool { return v.$F == "b" })`},
	{name: "map keyed by struct", from: "containers conditions owners", decls: "type $PKey struct{ name string }", code: `
$Pm := map[$PKey]$E{}
for _, v := range $in { $Pm[$PKey{v.$F}] = v }
var $out $T
for _, v := range $in { $out = append($out, $Pm[$PKey{v.$F}]) }`},
	{name: "maps.Values", from: "cache data", code: `
$out := slices.Collect(maps.Values(map[string]$T{"a": $in}))[0]`},
	{name: "maps.Clone", from: "volumes labels", code: `$out := maps.Clone($in)`},

	// iterators
	{name: "iterator", from: "cache data", code: `
$Pseq := func(yield func($T) bool) { yield($in) }
for $out := range $Pseq {
	$rest
}`},
	{name: "adapted iterator", from: "cache data", decls: `
func $PMap[A, B any](s iter.Seq[A], f func(A) B) iter.Seq[B] {
	return func(yield func(B) bool) {
		for v := range s {
			if !yield(f(v)) { return }
		}
	}
}`, code: `
for $out := range $PMap(slices.Values([]$T{$in}), func(v $T) $T { return v }) {
	$rest
}`},
	{name: "iterator of pairs", from: "cache data", code: `
for _, $out := range maps.All(map[string]$T{"a": $in}) {
	$rest
}`},
	{name: "iter.Pull", from: "cache data", lost: true, code: `
$Pnext, $Pstop := iter.Pull(slices.Values([]$T{$in}))
$out, _ := $Pnext()
$Pstop()`},

	// types that are declared anew
	{name: "own type", from: "spec status container condition volume zone podvalue", decls: `type $POwn $T`, code: "$Po := $POwn($in)\n$Pp := &$Po\n$out := $T(*$Pp)"},
	{name: "pointer to own type", from: "specp statusp containerp security pod", decls: `type $POwn $E`, code: "$Po := (*$POwn)($in)\n$out := ($T)($Po)"},
	{name: "own pointer type", from: "specp statusp containerp security pod", decls: `type $POwn *$E`, code: "var $Po $POwn = $in\n$out := ($T)($Po)"},
	{name: "own list type", from: "list args", decls: `
type $POwn $T

func (l $POwn) all() []$E { return l[:len(l):len(l)] }`, code: `$out := $POwn($in).all()`},
	{name: "alias", from: "cache data", decls: "type $PAlias = $T\n\ntype $PPair[A any] = struct{ a, b A }", code: "$Pp := $PPair[$PAlias]{b: $in}\n$out := $Pp.b"},
	{name: "embedded generic type", from: "cache data", decls: `
type $PBase[T any] struct{ obj T }

func (b *$PBase[T]) get() T { return b.obj }

type $PDerived struct{ $PBase[$T] }`, code: "$Pd := &$PDerived{}\n$Pd.obj = $in\n$out := $Pd.get()"},
	{name: "generic interface", from: "cache data", decls: `
type $PSource[T any] interface{ get$P() T }

type $POne[T any] struct{ v T }

func (o $POne[T]) get$P() T { return o.v }

func $PRead[T any](from $PSource[T]) T { return from.get$P() }`, code: `$out := $PRead[$T]($POne[$T]{$in})`},
	{name: "generic recursive type", from: "cache data", decls: `
type $PTree[T any] struct{ left, right *$PTree[T]; v T }

func (t *$PTree[T]) all(yield func(T) bool) bool {
	return t == nil || t.left.all(yield) && yield(t.v) && t.right.all(yield)
}`, code: `
$Ptree := &$PTree[$T]{v: $in}
for $out := range func(yield func($T) bool) { $Ptree.all(yield) } {
	$rest
}`},
	{name: "registered in init", from: "cache data", decls: `
var $PRegistry = map[string]func($T) $T{}

func init() { $PRegistry["same"] = func(v $T) $T { return v } }`, code: `$out := $PRegistry["same"]($in)`},
	{name: "options", from: "cache data", decls: `
type $PConfig struct{ v $T }

type $POption func(*$PConfig)

func $PWith(v $T) $POption { return func(c *$PConfig) { c.v = v } }

func $PNew(options ...$POption) *$PConfig { c := new($PConfig); for _, o := range options { o(c) }; return c }`, code: `$out := $PNew($PWith($in)).v`},
	{name: "visitor", from: "cache data", decls: `
type $PVisitor interface{ visit$P(v $T) }

type $PKeep struct{ v $T }

func (k *$PKeep) visit$P(v $T) { k.v = v }

func $PAccept(v $T, by $PVisitor) { by.visit$P(v) }`, code: "$Pk := &$PKeep{}\n$PAccept($in, $Pk)\n$out := $Pk.v"},
	{name: "pointer to pointer", from: "cache data", code: "$Pv := $in\n$Pp := &$Pv\n$Ppp := &$Pp\nvar $out $T\n$Pq := &$out\n*$Pq = **$Ppp"},
	{name: "swapped", from: "cache data", code: "var $Pa, $Pb $T\n$Pa = $in\n$Pa, $Pb = $Pb, $Pa\n$out := $Pb"},
	{name: "loop variable", from: "cache data", code: "var $Pfs []func() $T\nfor _, v := range []$T{$in} { $Pfs = append($Pfs, func() $T { return v }) }\n$out := $Pfs[0]()"},
	{name: "anonymous struct", from: "cache data", code: "$Prows := []struct { name string; v $T }{{\"a\", $in}}\n$out := $Prows[0].v"},
	{name: "struct in any", from: "cache data", decls: "type $PCarried struct{ v $T }", code: "var $Pa any = $PCarried{$in}\n$out := $Pa.($PCarried).v"},
	{name: "map of any", from: "cache data", code: "$Pm := map[string]any{\"a\": $in, \"b\": 1}\n$out := $Pm[\"a\"].($T)"},
	{name: "list of any", from: "cache data", decls: `
func $PPick(all ...any) any { return all[len(all)-1] }`, code: `$out := $PPick(1, "a", $in).($T)`},
	{name: "channel of struct", from: "cache data", decls: "type $PJob struct{ v $T; done chan $T }", code: `
$Pjobs := make(chan $PJob)
go func() { for j := range $Pjobs { j.done <- j.v } }()
$Pj := $PJob{$in, make(chan $T)}
$Pjobs <- $Pj
$out := <-$Pj.done
close($Pjobs)`},
	{name: "maps.Copy", from: "cache data", code: "$Pm := map[string]$T{}\nmaps.Copy($Pm, map[string]$T{\"a\": $in})\n$out := $Pm[\"a\"]"},
	{name: "slices.Concat", from: "cache data", code: "$out := slices.Concat([]$T{}, slices.Repeat([]$T{$in}, 2))[1]"},
	{name: "slices.Insert", from: "cache data", code: "$out := slices.Insert([]$T(nil), 0, $in)[0]"},
	{name: "slices.Chunk", from: "cache data", code: "for $Pc := range slices.Chunk([]$T{$in}, 2) {\nfor _, $out := range $Pc {\n$rest\n}\n}"},
	{name: "append to nothing", from: "list args", code: `$out := append($T{}, $in...)`},
	{name: "pointers to elements", from: "containers conditions owners", code: `
$Ppointers := map[string]*$E{}
for i := range $in { $Ppointers[$in[i].$F] = &$in[i] }
$out := slices.Clone($in)
for i := range $out { $out[i] = *$Ppointers[$in[i].$F] }`},
}
