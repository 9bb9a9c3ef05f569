// SPDX-License-Identifier: Apache-2.0

package share

import (
	"hash/maphash"
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
)

// unusual has fields that are rare in API types.
type unusual struct {
	Any     any
	Anys    []any
	ByName  map[string]any
	Structs map[name]struct {
		Words []string
		Next  *unusual
	}
	Array   [2]*int
	Nothing []struct{}
	Slices  *[][]byte
}

type name string

// fill fills v with values other than zero, down to a depth.
func fill(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(7)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(7)
	case reflect.String:
		v.SetString("seven")
	}
	if depth == 0 {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth-1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), depth-1)
		fill(v.Index(1), depth-1)
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), depth)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, depth-1)
		fill(value, depth-1)
		v.SetMapIndex(key, value)
	case reflect.Interface:
		if v.NumMethod() == 0 {
			v.Set(reflect.ValueOf(map[string]any{"a": []any{"b", int64(1)}, "c": map[string]any{"d": true}}))
		}
	case reflect.Struct:
		switch at := v.Addr().Interface().(type) {
		case *resource.Quantity:
			*at = resource.MustParse("1500m")
			return
		case *metav1.Time:
			*at = metav1.Unix(7, 0)
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i), depth)
			}
		}
	}
}

// change makes each possible change in v, calls check, and undoes it.
func change(v reflect.Value, path string, check func(path string)) {
	try := func(path string, to reflect.Value) {
		was := reflect.New(v.Type()).Elem()
		was.Set(v)
		v.Set(to)
		check(path)
		v.Set(was)
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			change(v.Elem(), path, check)
			try(path+" = nil", reflect.Zero(v.Type()))
		}
	case reflect.Interface:
		if !v.IsNil() {
			changeBoxed(v.Elem(), path, check)
			try(path+" = nil", reflect.Zero(v.Type()))
		}
	case reflect.Slice:
		changeBoxed(v, path, check)
		if v.Len() > 0 {
			try(path+" shorter", v.Slice(0, v.Len()-1))
		}
	case reflect.Array:
		for i := range v.Len() {
			change(v.Index(i), path+"[]", check)
		}
	case reflect.Map:
		changeBoxed(v, path, check)
		if v.Len() > 0 {
			try(path+" = nil", reflect.Zero(v.Type()))
		}
	case reflect.Struct:
		if q, ok := v.Addr().Interface().(*resource.Quantity); ok {
			was := *q
			q.Add(resource.MustParse("1"))
			check(path + ".Add")
			*q = was
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				change(v.Field(i), path+"."+v.Type().Field(i).Name, check)
			}
		}
	case reflect.Bool:
		try(path, reflect.ValueOf(!v.Bool()).Convert(v.Type()))
	case reflect.String:
		try(path, reflect.ValueOf(v.String()+"!").Convert(v.Type()))
	default:
		try(path, reflect.ValueOf(8).Convert(v.Type()))
	}
}

// changeBoxed makes the changes that need no address.
func changeBoxed(v reflect.Value, path string, check func(path string)) {
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			change(v.Index(i), path+"[]", check)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			was := v.MapIndex(key)
			changed := reflect.New(v.Type().Elem()).Elem()
			changed.Set(was)
			changeBoxed(was, path+"{}", check)
			change(changed, path+"{}", func(path string) {
				v.SetMapIndex(key, changed)
				check(path)
				v.SetMapIndex(key, was)
			})
			v.SetMapIndex(key, reflect.Value{})
			check(path + " deleted")
			v.SetMapIndex(key, was)
			other := reflect.New(v.Type().Key()).Elem()
			other.SetString("other")
			v.SetMapIndex(other, was)
			check(path + " added")
			v.SetMapIndex(other, reflect.Value{})
		}
	}
}

// TestEveryChangeIsDetected compares regions after each possible change, and after it is undone.
func TestEveryChangeIsDetected(t *testing.T) {
	seed := maphash.MakeSeed()
	for _, field := range []any{
		new([]corev1.Container), new(*corev1.PodSpec), new(*corev1.PodTemplateSpec), new(map[string]string), new([]metav1.OwnerReference),
		new(*string), new(*int64), new(corev1.ResourceList), new(map[string][]byte), new([]resource.Quantity), new(*unusual), new(map[name]*unusual),
	} {
		at := reflect.ValueOf(field).Elem()
		fill(at, 9)
		// The field itself belongs to the object, not to the part.
		own := reflect.New(at.Type())
		own.Elem().Set(at)
		m, ok := (&collector{}).collect(refTo(at.Type()), own.UnsafePointer(), 1<<20)
		if !ok {
			t.Fatalf("collect refuses %v as too large", at.Type())
		}
		p, n := m.checksum(seed), 0
		if !m.matches(seed, p) {
			t.Fatalf("%v: the unchanged regions don't match", at.Type())
		}
		check := func(path string) {
			t.Helper()
			if n++; m.matches(seed, p) {
				t.Errorf("the change of %v%s is not detected", at.Type(), path)
			}
		}
		if at.Kind() == reflect.Pointer {
			change(at.Elem(), "", check)
		} else {
			changeBoxed(at, "", check)
		}
		if !m.matches(seed, p) {
			t.Errorf("%v: the regions don't match after all changes were undone", at.Type())
		}
		t.Logf("%v: %d changes; %d blocks, %d maps, %d bytes", at.Type(), n, len(m.blocks), len(m.maps), m.size)
		if n == 0 {
			t.Errorf("%v: no change was made", at.Type())
		}
	}
}

// TestCachedTextIsNoChange calls reading methods that cache their result in the value.
func TestCachedTextIsNoChange(t *testing.T) {
	seed := maphash.MakeSeed()
	field := &struct {
		Before     string
		Quantities [2]resource.Quantity
		Time       metav1.Time
	}{"b", [2]resource.Quantity{*resource.NewMilliQuantity(1500, resource.DecimalSI), *resource.NewQuantity(7, resource.BinarySI)}, metav1.Now()}
	m, ok := (&collector{}).collect(refTo(reflect.TypeOf(field)), layout.Of(&field), 1<<20)
	p := m.checksum(seed)
	if _, _, _ = field.Quantities[0].String(), field.Quantities[1].String(), field.Time.String(); !ok || !m.matches(seed, p) {
		t.Error("String() is detected as a change")
	}
	field.Quantities[1].Set(8)
	if m.matches(seed, p) {
		t.Error("a change is not seen")
	}
	field.Quantities[1].Set(7)
	field.Time = metav1.Time{Time: field.Time.Add(time.Second)}
	if m.matches(seed, p) {
		t.Error("a change is not seen")
	}
}

// TestMemoryIsCounted checks that the estimated memory of values is plausible.
func TestMemoryIsCounted(t *testing.T) {
	for _, tc := range []struct {
		field    any
		min, max int
	}{
		{new([]corev1.Container), 0, 0},
		{&[]*int64{new(int64), new(int64)}, 2*8 + 2*8, 100},
		{new(make([]corev1.Container, 10)), 10 * int(reflect.TypeFor[corev1.Container]().Size()), 10_000},
		{new(make([]string, 1, 100)), 1600, 1700},
		{&map[string]string{}, 72, 400},
		// an empty map counts as small, whatever its capacity
		{new(make(map[string]corev1.Container, 100)), 48, 400},
		{&map[string]corev1.Container{"a": {}, "b": {}}, 2 * int(reflect.TypeFor[corev1.Container]().Size()), 3000},
		{&map[string]string{"0": "", "1": "", "2": "", "3": "", "4": "", "5": "", "6": "", "7": "", "8": "", "9": ""}, 16 * 32, 700},
		{new(any(make([]int, 100)).([]int)), 800, 900},
	} {
		at := reflect.ValueOf(tc.field)
		var c collector
		m, ok := c.collect(refTo(at.Type().Elem()), at.UnsafePointer(), 1<<20)
		if !ok || m.size < tc.min || m.size > max(tc.max, blockSize) {
			t.Errorf("%v of length %d takes %d bytes, want %d to %d", at.Type(), at.Elem().Len(), m.size, tc.min, tc.max)
		}
		if m.size > 0 {
			if _, ok := c.collect(refTo(at.Type().Elem()), at.UnsafePointer(), m.size-1); ok {
				t.Errorf("collect accepts %v beyond the limit", at.Type())
			}
		}
		if len(c.blocks)+len(c.maps)+c.size > 0 {
			t.Error("the collector keeps blocks or maps")
		}
	}
}

// TestChecksumAllocatesNothing covers maps of any type, too.
func TestChecksumAllocatesNothing(t *testing.T) {
	if raceDetector {
		t.Skip("sync.Pool drops values at random under the race detector")
	}
	seed := maphash.MakeSeed()
	var spec *corev1.PodSpec
	fill(reflect.ValueOf(&spec).Elem(), 9)
	m, _ := (&collector{}).collect(refTo(reflect.TypeOf(spec)), layout.Of(&spec), 1<<20)
	p := m.checksum(seed)
	if n := testing.AllocsPerRun(100, func() {
		if !m.matches(seed, p) {
			t.Error("the unchanged regions don't match")
		}
	}); n >= 1 {
		t.Errorf("matching regions allocates %v times, want 0", n)
	}
}
