// SPDX-License-Identifier: Apache-2.0

package protodec

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"reflect"
	goruntime "runtime"
	"sync"
	"testing"
	"weak"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/runtime/internal/dropped"
	"github.com/informer-gen/informer-gen/runtime/internal/layout"
	"github.com/informer-gen/informer-gen/runtime/internal/podtest"
	"github.com/informer-gen/informer-gen/runtime/internal/share"
)

// checkDecode decodes data by each Decoder and compares with the type's Unmarshal. With must, none
// may decline it.
func checkDecode(t testing.TB, typ reflect.Type, data []byte, must bool, decoders ...*Decoder) {
	t.Helper()
	want := reflect.New(typ)
	err := want.Interface().(protoMessage).Unmarshal(data)
	for i, d := range decoders {
		got := reflect.New(typ)
		input := bytes.Clone(data)
		ok := d.Decode(input, got.UnsafePointer())
		clear(input) // the object must not refer to it
		switch {
		case !ok && must:
			t.Fatalf("decoder %d of %s declines", i, typ)
		case !ok:
		case err != nil:
			t.Fatalf("decoder %d of %s accepts %x, but Unmarshal fails with %v", i, typ, data, err)
		case !reflect.DeepEqual(want.Interface(), got.Interface()):
			t.Fatalf("decoder %d of %s (-Unmarshal +Decode):\n%s\n%x", i, typ, cmp.Diff(want.Interface(), got.Interface()), data)
		}
	}
}

func decoders(t testing.TB, typ reflect.Type) []*Decoder {
	p, err := New(typ, dropped.Parts{})
	if err != nil {
		t.Fatal(err)
	}
	table := share.New(1 << 20)
	return []*Decoder{p.NewDecoder(nil, false), p.NewDecoder(table, true), p.NewDecoder(table, false), p.NewDecoder(table, true)}
}

// TestEveryKind decodes random and mutated objects of every kind of Kubernetes.
func TestEveryKind(t *testing.T) {
	types := kinds()
	if len(types) < 100 {
		t.Fatalf("only %d kinds", len(types))
	}
	for _, typ := range types {
		t.Run(typ.String(), func(t *testing.T) {
			ways := decoders(t, typ)
			f := podtest.Filler{R: rand.New(rand.NewPCG(1, 2))}
			var states [][]byte
			for i := range 6 {
				f.Full = float64(i+1) / 6
				obj := reflect.New(typ)
				f.Fill(obj.Elem())
				data, err := obj.Interface().(protoMessage).Marshal()
				if err != nil {
					t.Fatal(err)
				}
				if len(data) < 30000 {
					states = append(states, data)
				}
			}
			for range 4 {
				for _, data := range states {
					checkDecode(t, typ, data, true, ways...)
				}
			}
			for range 50 {
				checkDecode(t, typ, mutate(f.R, states[f.R.IntN(len(states))]), false, ways...)
			}
			for _, data := range states {
				checkDecode(t, typ, data, true, ways...)
			}
		})
	}
}

// mutate returns data with some bytes changed, repeated or removed.
func mutate(r *rand.Rand, data []byte) []byte {
	data = bytes.Clone(data)
	for range 1 + r.IntN(2) {
		if len(data) == 0 {
			return data
		}
		at := r.IntN(len(data))
		switch r.IntN(5) {
		case 0:
			data[at] ^= 1 << r.IntN(8)
		case 1:
			data[at] = byte(r.Uint32())
		case 2:
			data = data[:at]
		case 3:
			end := min(len(data), at+1+r.IntN(16))
			data = append(data[:end:end], data[at:]...) // repeated
		case 4:
			end := min(len(data), at+1+r.IntN(4))
			data = append(data[:at:at], data[end:]...)
		}
	}
	return data
}

// TestDecodersShareATable decodes in several goroutines with one small table.
func TestDecodersShareATable(t *testing.T) {
	typ := reflect.TypeFor[corev1.Pod]()
	pods := podsOf(t, 200, false)
	p, err := New(typ, dropped.Parts{})
	if err != nil {
		t.Fatal(err)
	}
	table := share.New(128 << 10)
	var group sync.WaitGroup
	for g := range 4 {
		group.Go(func() {
			d := p.NewDecoder(table, true)
			for i := range len(pods) {
				checkDecode(t, typ, pods[(i*(g+1))%len(pods)], true, d)
			}
		})
	}
	group.Wait()
}

// TestSharedPartsStayUnchanged compares objects that share parts after later ones were decoded or
// declined.
func TestSharedPartsStayUnchanged(t *testing.T) {
	typ := reflect.TypeFor[corev1.Pod]()
	pods := podsOf(t, 100, false)
	ways := decoders(t, typ)
	r := rand.New(rand.NewPCG(4, 4))
	var kept []*corev1.Pod
	for _, data := range pods {
		for _, d := range ways {
			pod := &corev1.Pod{}
			if !d.Decode(data, layout.Of(pod)) {
				t.Fatal("Decode declines the object")
			}
			kept = append(kept, pod)
			d.Decode(mutate(r, data), layout.Of(&corev1.Pod{}))
		}
	}
	for i, got := range kept {
		want := &corev1.Pod{}
		if err := want.Unmarshal(pods[i/len(ways)]); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("Pod %d has changed (-want +got):\n%s", i, cmp.Diff(want, got))
		}
	}
}

// anyPackage is a compiler that trusts all packages.
var anyPackage = compiler{trusted: func(string) bool { return true }}

// TestDeepObjectsAreDeclined decodes nested messages, in fields and in maps.
func TestDeepObjectsAreDeclined(t *testing.T) {
	field := func(value []byte) []byte {
		return append(binary.AppendUvarint([]byte{1<<3 | 2}, uint64(len(value))), value...)
	}
	entry := func(value []byte) []byte { // of the key ""
		return field(append(binary.AppendUvarint([]byte{2<<3 | 2}, uint64(len(value))), value...))
	}
	for _, tc := range []struct {
		typ  reflect.Type
		wrap func([]byte) []byte
	}{{reflect.TypeFor[node](), field}, {reflect.TypeFor[tree](), entry}} {
		t.Run(tc.typ.Name(), func(t *testing.T) {
			p, err := anyPackage.program(tc.typ, dropped.Parts{})
			if err != nil {
				t.Fatal(err)
			}
			d := p.NewDecoder(nil, false)
			var data []byte
			for depth := range 200 {
				if got := d.Decode(data, reflect.New(tc.typ).UnsafePointer()); got != (depth < maxDepth) {
					t.Fatalf("Decode = %v at depth %d", got, depth)
				}
				data = tc.wrap(data)
			}
		})
	}
}

// node is a type that contains itself, as JSONSchemaProps does.
type node struct {
	Next *node `protobuf:"bytes,1,opt,name=next"`
}

// tree is a type that contains itself in a map.
type tree struct {
	Children map[string]tree `protobuf:"bytes,1,rep,name=children"`
}

func (*node) Unmarshal([]byte) error { return nil }

// TestListsInMaps decodes maps whose values are lists with an Unmarshal method. An empty list is
// not nil, and no list has spare capacity.
func TestListsInMaps(t *testing.T) {
	in := &authenticationv1.TokenReview{}
	in.Status.User.Extra = map[string]authenticationv1.ExtraValue{"none": {}, "three": {"a", "b", "c"}}
	data, err := in.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	ways := decoders(t, reflect.TypeFor[authenticationv1.TokenReview]())
	for range 3 {
		checkDecode(t, reflect.TypeFor[authenticationv1.TokenReview](), data, true, ways...)
		for _, d := range ways {
			got := &authenticationv1.TokenReview{}
			d.Decode(data, layout.Of(got))
			if three := got.Status.User.Extra["three"]; len(three) != 3 || cap(three) != 3 {
				t.Errorf("the list has length %d and capacity %d, want 3 and 3", len(three), cap(three))
			}
		}
	}
}

// panicking has an Unmarshal method that panics.
type panicking struct{ _ bool }

func (*panicking) Unmarshal(data []byte) error {
	if string(data) == "now" {
		panic("on purpose")
	}
	return nil
}

// armed has a panicking field.
type armed struct {
	Strings []string          `protobuf:"bytes,1,rep,name=strings"`
	Map     map[string]string `protobuf:"bytes,2,rep,name=map"`
	Bomb    panicking         `protobuf:"bytes,3,opt,name=bomb"`
}

func (*armed) Unmarshal([]byte) error { return nil }

// TestDecoderAfterPanic decodes an object after a panic, from the same input memory.
func TestDecoderAfterPanic(t *testing.T) {
	p, err := anyPackage.program(reflect.TypeFor[armed](), dropped.Parts{})
	if err != nil {
		t.Fatal(err)
	}
	d := p.NewDecoder(share.New(1<<20), true)
	for range 3 {
		input := []byte("\x0a\x01a\x12\x06\x0a\x01b\x12\x01c\x1a\x03now")
		func() {
			defer func() { _ = recover() }()
			d.Decode(input, layout.Of(&armed{}))
			t.Error("Decode does not panic")
		}()
		copy(input, "\x0a\x01d\x12\x06\x0a\x01e\x12\x01f\x1a\x03not")
		got := &armed{}
		if !d.Decode(input, layout.Of(got)) {
			t.Fatal("Decode declines the object")
		}
		if want := (&armed{Strings: []string{"d"}, Map: map[string]string{"e": "f"}}); !reflect.DeepEqual(got, want) {
			t.Errorf("Decode after a panic = %+v, want %+v", got, want)
		}
	}
}

func TestUnsupportedTypes(t *testing.T) {
	for _, typ := range []reflect.Type{
		reflect.TypeFor[int](),
		reflect.TypeFor[struct {
			A any `protobuf:"bytes,1,opt"`
		}](),
		reflect.TypeFor[struct {
			A int32 `protobuf:"zigzag32,1,opt"`
		}](),
		reflect.TypeFor[struct {
			A                string `protobuf:"bytes,1,opt"`
			XXX_unrecognized []byte
		}](),
		reflect.TypeFor[struct {
			A string `protobuf:"bytes,0,opt"`
		}](),
		reflect.TypeFor[struct {
			A string `protobuf:"bytes"`
		}](),
		reflect.TypeFor[struct {
			A string `protobuf:"bytes,1,opt"`
			B string `protobuf:"bytes,1,opt"`
		}](),
		reflect.TypeFor[struct {
			A map[int32]string `protobuf:"bytes,1,rep"`
		}](),
		reflect.TypeFor[struct {
			A map[string]*corev1.EnvVar `protobuf:"bytes,1,rep"`
		}](),
	} {
		if _, err := anyPackage.program(typ, dropped.Parts{}); err == nil {
			t.Errorf("New accepts %s", typ)
		}
	}
	if _, err := New(reflect.TypeFor[node](), dropped.Parts{}); err == nil {
		t.Error("New accepts a type of an untrusted package")
	}
}

// TestDecoderKeepsNoObjects checks that the garbage collector frees decoded objects, although the
// table has their parts.
func TestDecoderKeepsNoObjects(t *testing.T) {
	p, err := New(reflect.TypeFor[corev1.Pod](), dropped.Parts{})
	if err != nil {
		t.Fatal(err)
	}
	d := p.NewDecoder(share.New(1<<20), true)
	var objects []weak.Pointer[corev1.Pod]
	for _, data := range podsOf(t, 50, false) {
		pod := &corev1.Pod{}
		d.Decode(data, layout.Of(pod))
		d.Decode(data[:len(data)-1], layout.Of(&corev1.Pod{}))
		objects = append(objects, weak.Make(pod))
	}
	goruntime.GC()
	for i, pod := range objects {
		if pod.Value() != nil {
			t.Errorf("Pod %d is still in memory", i)
		}
	}
	goruntime.KeepAlive(d)
}
