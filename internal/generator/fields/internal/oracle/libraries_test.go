// SPDX-License-Identifier: Apache-2.0

package oracle

// libraryTransports go through packages that aren't looked into.
var libraryTransports = []block{
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
	{name: "DeepCopy of a new object", from: "specp", lost: true, code: "$Po := &api.$KPod{Spec: *$in}\n$out := &$Po.DeepCopy().Spec"},
	{name: "JSON and back", from: "values pointer pods", lost: true, code: `
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

	{name: "workqueue", from: "pod specp statusp containerp security condition zone", lost: true, code: `
$Pq := workqueue.NewTyped[$T]()
$Pq.Add($in)
$out, _ := $Pq.Get()`},
	{name: "workqueue as interface", from: "pod specp statusp containerp security condition zone", lost: true, code: `
var $Pq workqueue.TypedInterface[$T] = workqueue.NewTyped[$T]()
$Pq.Add($in)
$out, _ := $Pq.Get()
$Pq.Done($out)`},
	{name: "errors.Join", from: "cache data", lost: true, decls: `
type $PError struct{ v $T }

func ($PError) Error() string { return "wrong" }`, code: `
var $Perr $PError
errors.As(errors.Join(errors.New("first"), $PError{$in}), &$Perr)
$out := $Perr.v`},
	{name: "errors.AsType by loop", from: "cache data", lost: true, decls: `
type $PError struct{ inner error; v $T }

func ($PError) Error() string { return "wrong" }
func (e $PError) Unwrap() error { return e.inner }`, code: `
var $Perr error = $PError{inner: $PError{v: $in}}
for errors.Unwrap($Perr) != nil { $Perr = errors.Unwrap($Perr) }
$out := $Perr.($PError).v`},
	{name: "context.AfterFunc", from: "cache data", lost: true, code: `
$Pctx, $Pcancel := context.WithCancel(ctx)
$Pc := make(chan $T)
context.AfterFunc($Pctx, func() { $Pc <- $in })
$Pcancel()
$out := <-$Pc`},
	{name: "time.AfterFunc", from: "cache data", lost: true, code: `
$Pc := make(chan $T)
time.AfterFunc(0, func() { $Pc <- $in })
$out := <-$Pc`},
	{name: "sync.OnceValues", from: "cache data", lost: true, code: `$out, _ := sync.OnceValues(func() ($T, error) { return $in, nil })()`},
	{name: "sync.Map with a struct", from: "cache data", decls: "type $PState struct{ v $T }", code: `
var $Pm sync.Map
$Pv, _ := $Pm.LoadOrStore("a", &$PState{$in})
$out := $Pv.(*$PState).v`},
	{name: "sync.Map.CompareAndSwap", from: "pod specp", lost: true, code: `
var $Pm sync.Map
$Pm.Store("a", 1)
$Pm.CompareAndSwap("a", 1, $in)
$Pv, _ := $Pm.Load("a")
$out := $Pv.($T)`},
	{name: "reflect.MakeFunc", from: "cache data", lost: true, code: `
$Pf := reflect.MakeFunc(reflect.TypeFor[func() $T](), func([]reflect.Value) []reflect.Value {
	return []reflect.Value{reflect.ValueOf(&[]$T{$in}).Elem().Index(0)}
})
$out := $Pf.Interface().(func() $T)()`},
	{name: "reflect.Append", from: "cache data", lost: true, code: `
$Plist := reflect.Append(reflect.ValueOf([]$T(nil)), reflect.ValueOf(&[]$T{$in}).Elem().Index(0))
$out := $Plist.Interface().([]$T)[0]`},
	{name: "reflect.Value.Field", from: "cache data", lost: true, decls: "type $PHeld struct{ V $T }", code: `
$out := reflect.ValueOf($PHeld{$in}).Field(0).Interface().($T)`},
}
