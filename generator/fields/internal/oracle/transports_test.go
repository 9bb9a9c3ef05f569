// SPDX-License-Identifier: Apache-2.0

package oracle

// transports pass values on.
var transports = []block{
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

	// goroutines, and what they share
	{name: "goroutine", from: "cache data", code: `
var $out $T
var $Pwait sync.WaitGroup
$Pwait.Add(1)
go func(v $T) { defer $Pwait.Done(); $out = v }($in)
$Pwait.Wait()`},
	{name: "WaitGroup.Go", from: "cache data", code: `
var $out $T
var $Pwait sync.WaitGroup
$Pwait.Go(func() { $out = $in })
$Pwait.Wait()`},
	{name: "sync.Once", from: "cache data", code: "var $out $T\nnew(sync.Once).Do(func() { $out = $in })"},
	{name: "sync.OnceValue", from: "cache data", lost: true, code: `$out := sync.OnceValue(func() $T { return $in })()`},
	{name: "sync.Map", from: "cache data", code: `
var $Pm sync.Map
$Pm.Store("a", $in)
$Pv, _ := $Pm.Load("a")
$out := $Pv.($T)`},
	{name: "sync.Map.Range", from: "cache data", code: `
var $Pm sync.Map
$Pm.Store("a", $in)
$Pm.Range(func(_, v any) bool {
	$out := v.($T)
	$rest
	return true
})`},
	{name: "sync.Pool", from: "cache data", code: `
$Pp := &sync.Pool{New: func() any { return new($T) }}
$Pv := $Pp.Get().(*$T)
*$Pv = $in
$Pp.Put($Pv)
$out := *$Pv`},
	{name: "sync.Pool of structs", from: "cache data", decls: "type $PState struct{ v $T }", code: `
var $Pp sync.Pool
$Pp.New = func() any { return &$PState{v: $in} }
$out := $Pp.Get().(*$PState).v`},
	{name: "atomic.Pointer", from: "cache data", code: `
var $Pp atomic.Pointer[$T]
$Pv := $in
$Pp.Store(&$Pv)
$out := *$Pp.Load()`},
	{name: "atomic.Pointer.CompareAndSwap", from: "cache data", code: `
var $Pp atomic.Pointer[$T]
$Pv := $in
$Pp.CompareAndSwap(nil, &$Pv)
$out := *$Pp.Load()`},
	{name: "atomic.Value", from: "cache data", code: "var $Pa atomic.Value\n$Pa.Store(&$PState{$in})\n$out := $Pa.Load().(*$PState).v", decls: "type $PState struct{ v $T }"},
	{name: "context value", from: "cache data", lost: true, decls: "type $PKey struct{}", code: `
$Pctx := context.WithValue(ctx, $PKey{}, $in)
$out := $Pctx.Value($PKey{}).($T)`},
	{name: "context value in a struct", from: "cache data", lost: true, decls: "type $PKey struct{}\n\ntype $PCarried struct{ v $T }", code: `
$Pctx := context.WithValue(ctx, $PKey{}, &$PCarried{$in})
$out := $Pctx.Value($PKey{}).(*$PCarried).v`},
	{name: "panic", from: "data", lost: true, decls: `
func $PThrow(v $T) (same $T) {
	defer func() { same = recover().($T) }()
	panic(v)
}`, code: `$out := $PThrow($in)`},
	{name: "container/list", from: "cache data", code: "$Pl := list.New()\n$Pl.PushBack($in)\n$out := $Pl.Front().Value.($T)"},
	{name: "container/heap", from: "cache data", lost: true, decls: `
type $PHeap []any

func (h $PHeap) Len() int           { return len(h) }
func (h $PHeap) Less(i, j int) bool { return i < j }
func (h $PHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *$PHeap) Push(v any)        { *h = append(*h, v) }
func (h *$PHeap) Pop() any          { v := (*h)[len(*h)-1]; *h = (*h)[:len(*h)-1]; return v }`, code: `
$Ph := &$PHeap{}
heap.Push($Ph, $in)
$out := heap.Pop($Ph).($T)`},

	// copies, and code that isn't looked into
	{name: "DeepCopy", from: "pod specp statusp", code: `$out := $in.DeepCopy()`},
	{name: "DeepCopyInto", from: "pod specp statusp", code: "$out := new($E)\n$in.DeepCopyInto($out)"},
	{name: "DeepCopyObject", from: "pod", code: `$out := $in.DeepCopyObject().($T)`},
	{name: "DeepCopy of a new object", from: "specp", code: "$Po := &api.$KPod{Spec: *$in}\n$out := &$Po.DeepCopy().Spec"},
	{name: "JSON and back", from: "data", lost: true, code: `
var $out $T
$Pdata, _ := json.Marshal($in)
json.Unmarshal($Pdata, &$out)`},
	{name: "gob and back", from: "spec specp status statusp container containers conditions zones volumes", lost: true, code: `
var $Pbuf bytes.Buffer
gob.NewEncoder(&$Pbuf).Encode($in)
var $out $T
gob.NewDecoder(&$Pbuf).Decode(&$out)`},
	{name: "reflect.Value", from: "cache data", lost: true, code: `$out := reflect.ValueOf(&[]$T{$in}).Elem().Index(0).Interface().($T)`},
	{name: "reflect.Value.Set", from: "cache data", lost: true, code: "var $out $T\nreflect.ValueOf(&$out).Elem().Set(reflect.ValueOf(&[]$T{$in}).Elem().Index(0))"},
	{name: "reflect.Value.Call", from: "cache data", lost: true, code: `
$Pf := reflect.ValueOf(func() $T { return $in })
$out := $Pf.Call(nil)[0].Interface().($T)`},
	{name: "foreign box", from: "cache data", lost: true, code: "var $Pb foreign.Box[$T]\n$Pb.Put($in)\n$out := $Pb.Take()"},
	{name: "foreign function value", from: "cache data", lost: true, code: `$out := foreign.Hold($in)()`},
	{name: "foreign loop", from: "cache data", lost: true, code: `
foreign.Each([]$T{$in}, func($out $T) {
	$rest
})`},
	{name: "foreign apply", from: "cache data", lost: true, code: `$out := foreign.Apply($in, func(v $T) []$T { return []$T{v} })[0]`},
	{name: "foreign registry", from: "cache data", lost: true, code: `
var $Pr foreign.Registry
$Pr.Set("a", $in)
$out := $Pr.Lookup("a").($T)`},
	{name: "unique", from: "comparable", lost: true, code: `$out := unique.Make($in).Value()`},
	{name: "weak pointer", from: "pod specp", lost: true, code: `
$Pw := weak.Make($in)
$out := $Pw.Value()
runtime.KeepAlive($in)`},
}
