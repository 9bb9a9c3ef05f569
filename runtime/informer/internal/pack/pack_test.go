// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
	"github.com/informer-gen/informer-gen/runtime/internal/placement"
	"github.com/informer-gen/informer-gen/runtime/object"
)

type color string

// odd has what API types rarely have.
type odd struct {
	Inner
	Tiny     int8
	Unsigned uint16
	Single   float32
	Array    [3]*int32
	Any      any
	Anys     []any
	Free     map[string]any
	Colors   map[color]color
	Numbers  map[int32]Inner
	Nested   map[string]map[string][]string
	Structs  map[string]*odd
	Bytes    []byte
	Named    []color
	Times    []metav1.Time
	Func     func()
	Reader   fmt.Stringer
	Hidden   *bytes.Buffer
}

type Inner struct {
	Text string
	Next *Inner
	None struct{}
	Void *struct{}
}

// unusualMeta is the metadata of a projection whose name and namespace are no strings.
type unusualMeta struct {
	object.NoMeta
	Name      *string
	Namespace struct{ Next *Inner }
}

var types = []reflect.Type{
	reflect.TypeFor[corev1.Pod](), reflect.TypeFor[appsv1.Deployment](), reflect.TypeFor[corev1.Secret](), reflect.TypeFor[corev1.Node](),
	reflect.TypeFor[networkingv1.Ingress](), reflect.TypeFor[metav1.PartialObjectMetadata](), reflect.TypeFor[unstructured.Unstructured](),
	reflect.TypeFor[placement.PodPlacement](), reflect.TypeFor[odd](), reflect.TypeFor[unusualMeta](),
}

func programOf(t testing.TB, typ reflect.Type) *Program {
	t.Helper()
	p, err := ProgramOf(typ)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// write returns the written form of values, which are pointers.
func write(t testing.TB, p *Program, values ...reflect.Value) []byte {
	t.Helper()
	w := p.NewWriter(len(values))
	for _, v := range values {
		w.Count(v.UnsafePointer())
	}
	var all []byte
	var err error
	for _, v := range values {
		if all, err = w.Append(all, v.UnsafePointer()); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// read reads as many objects as there are.
func read(p *Program, in []byte) (values []reflect.Value, err error) {
	r := p.NewReader()
	for len(in) > 0 {
		var at layout.Pointer
		if at, in, err = r.Read(in); err != nil {
			return nil, err
		}
		values = append(values, reflect.NewAt(p.root.typ.Reflect(), at))
	}
	return values, nil
}

// TestWhatIsReadIsWhatWasWritten writes random objects that share values.
func TestWhatIsReadIsWhatWasWritten(t *testing.T) {
	for _, typ := range types {
		t.Run(typ.String(), func(t *testing.T) {
			p := programOf(t, typ)
			for seed := range uint64(5) {
				f := newFiller(seed)
				var values []reflect.Value
				for range 8 {
					v := reflect.New(typ)
					f.fill(v.Elem())
					values = append(values, v)
				}
				got, err := read(p, write(t, p, values...))
				runtime.GC()
				if err != nil || len(got) != len(values) {
					t.Fatalf("seed %d: %d objects in place of %d, %v", seed, len(got), len(values), err)
				}
				for i := range values {
					if !reflect.DeepEqual(got[i].Interface(), values[i].Interface()) {
						t.Fatalf("seed %d, object %d:\n%#v\nin place of\n%#v", seed, i, got[i].Elem(), values[i].Elem())
					}
				}
			}
		})
	}
}

// TestWhatIsSharedStaysShared: a value that two objects have is one value again, and others are
// not.
func TestWhatIsSharedStaysShared(t *testing.T) {
	next, list := &Inner{Text: "next"}, []any{"a"}
	one, two := "text", "te"
	text := one + strings.Repeat("!", 3)
	a := &odd{Inner: Inner{Text: text, Next: next}, Any: list, Anys: list, Bytes: []byte("bytes"), Free: map[string]any{"m": map[string]any{}}}
	b := &odd{Inner: Inner{Text: text, Next: next}, Any: list, Anys: list, Bytes: a.Bytes, Free: a.Free}
	c := &odd{Inner: Inner{Text: two + "xt!!!", Next: &Inner{Text: "next"}}, Bytes: []byte("bytes"), Nested: map[string]map[string][]string{}}
	p := programOf(t, reflect.TypeFor[odd]())
	got, err := read(p, write(t, p, reflect.ValueOf(a), reflect.ValueOf(b), reflect.ValueOf(c)))
	if err != nil {
		t.Fatal(err)
	}
	x, y, z := got[0].Interface().(*odd), got[1].Interface().(*odd), got[2].Interface().(*odd)
	if x.Next != y.Next || &x.Bytes[0] != &y.Bytes[0] || reflect.ValueOf(x.Free).Pointer() != reflect.ValueOf(y.Free).Pointer() {
		t.Error("what was one value is two")
	}
	if layout.Data(x.Text) != layout.Data(y.Text) || &x.Any.([]any)[0] != &y.Any.([]any)[0] {
		t.Error("a string or a list that was one value is two")
	}
	if x.Next == z.Next || &x.Bytes[0] == &z.Bytes[0] {
		t.Error("what was two values is one")
	}
	if cap(x.Anys) != len(x.Anys) || cap(x.Bytes) != len(x.Bytes) {
		t.Error("a slice has room for more: an append would change another object")
	}
}

// TestMemory compares what a Writer says about the memory of objects with what reading them takes.
func TestMemory(t *testing.T) {
	p := programOf(t, reflect.TypeFor[corev1.Pod]())
	w, shared := p.NewWriter(1000), []corev1.EnvVar{{Name: "A", Value: strings.Repeat("x", 1000)}}
	var pods []*corev1.Pod
	for i := range 1000 {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("pod-", i), Labels: map[string]string{"a": fmt.Sprint(i), "b": "c"}}}
		pod.Spec.Containers = []corev1.Container{{Image: strings.Repeat("i", i), Env: shared}, {Env: shared}}
		pod.Spec.Priority = new(int32(i))
		w.Count(layout.Of(pod))
		pods = append(pods, pod)
	}
	var all []byte
	for _, pod := range pods {
		var err error
		if all, err = w.Append(all, layout.Of(pod)); err != nil {
			t.Fatal(err)
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := read(p, all); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	took := int64(after.TotalAlloc - before.TotalAlloc)
	if m := w.Memory(); m < took*3/4 || m > took*5/4 {
		t.Errorf("%d bytes, and reading takes %d", m, took)
	}
}

// TestWhatCanNotBeWritten names the field.
func TestWhatCanNotBeWritten(t *testing.T) {
	p := programOf(t, reflect.TypeFor[odd]())
	deep := &odd{}
	last := &deep.Inner
	for range 5 * maxDepth {
		last.Next = &Inner{}
		last = last.Next
	}
	for want, v := range map[string]*odd{
		"odd.Func has a func()":            {Func: func() {}},
		"odd.Reader has a fmt.Stringer":    {Reader: time.Second},
		"odd.Hidden has a *bytes.Buffer":   {Hidden: &bytes.Buffer{}},
		"empty interface has a int":        {Any: 7},
		"empty interface has a pack.Inner": {Free: map[string]any{"x": []any{Inner{}}}},
		"values are nested too deep":       deep,
	} {
		w := p.NewWriter(1)
		w.Count(layout.Of(v))
		if _, err := w.Append(nil, layout.Of(v)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	for want, typ := range map[string]reflect.Type{
		"X is a complex128":    reflect.TypeFor[struct{ X complex128 }](),
		"array of 65 elements": reflect.TypeFor[struct{ X [65]int }](),
		"X is a uintptr":       reflect.TypeFor[struct{ X uintptr }](),
	} {
		for range 2 {
			if _, err := ProgramOf(typ); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		}
	}
}

// TestDescriptions differ if the types do.
func TestDescriptions(t *testing.T) {
	type a struct {
		X *struct {
			Y int `json:"y"`
		}
	}
	type b struct {
		X *struct {
			Y int `json:"z"`
		}
	}
	type c struct {
		X *struct {
			Z int `json:"y"`
		}
	}
	type d struct {
		X *struct {
			Y int64 `json:"y"`
		}
	}
	seen := map[string]string{}
	for _, typ := range append([]reflect.Type{reflect.TypeFor[a](), reflect.TypeFor[b](), reflect.TypeFor[c](), reflect.TypeFor[d]()}, types...) {
		text := strings.ReplaceAll(programOf(t, typ).Description(), typ.String(), "")
		if other := seen[text]; other != "" {
			t.Errorf("%v and %s have one description", typ, other)
		}
		seen[text] = typ.String()
	}
}

// TestDamagedBytes reads bytes of which one was changed, or that end too early.
func TestDamagedBytes(t *testing.T) {
	p := programOf(t, reflect.TypeFor[odd]())
	var values []reflect.Value
	var whole []byte
	for seed := uint64(0); len(whole) < 200 || len(whole) > 2000; seed++ {
		f := newFiller(seed)
		values = nil
		for range 2 {
			v := reflect.New(p.root.typ.Reflect())
			f.fill(v.Elem())
			values = append(values, v)
		}
		whole = write(t, p, values...)
	}
	for at := range whole {
		if got, err := read(p, whole[:at]); err == nil && len(got) == len(values) {
			t.Errorf("the first %d bytes of %d are read as a whole", at, len(whole))
		}
		for _, change := range []byte{1, 0x80, 0xff} {
			damaged := bytes.Clone(whole)
			damaged[at] ^= change
			if _, err := read(p, damaged); err != nil && !errors.Is(err, ErrDamaged) {
				t.Fatal(err)
			}
		}
	}
}

// FuzzRead: whatever the bytes are, reading them neither panics nor takes much memory; and what can
// be read can be written and read again.
func FuzzRead(f *testing.F) {
	p := programOf(f, reflect.TypeFor[odd]())
	fill := newFiller(1)
	for range 10 {
		v := reflect.New(p.root.typ.Reflect())
		fill.fill(v.Elem())
		f.Add(write(f, p, v))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		values, err := read(p, in)
		runtime.ReadMemStats(&after)
		if took, most := after.TotalAlloc-before.TotalAlloc, uint64(1<<20+len(in)<<12); took > most {
			t.Errorf("%d bytes are read into %d", len(in), took)
		}
		if err != nil {
			return
		}
		again, err := read(p, write(t, p, values...))
		if err != nil || len(again) != len(values) {
			t.Fatal(len(again), len(values), err)
		}
	})
}
