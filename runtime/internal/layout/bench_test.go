// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"reflect"
	"testing"
)

// BenchmarkFields sets six fields of a value whose type is known only at run time: a string, a
// bool, two numbers, a pointer and a slice. It is what this package has unsafe for.
func BenchmarkFields(b *testing.B) {
	in, v, next, words := reflect.TypeFor[leaf](), &leaf{}, &leaf{}, []string{"a"}
	b.Run("layout", func(b *testing.B) {
		var at [6]uintptr
		for i, name := range []string{"Name", "On", "Small", "Weight", "Next", "Words"} {
			at[i] = offset(in, name)
		}
		p := Of(v)
		for b.Loop() {
			*As[string](At(p, at[0])) = "name"
			*As[bool](At(p, at[1])) = true
			*As[int32](At(p, at[2])) = 7
			*As[float64](At(p, at[3])) = 7
			*As[Pointer](At(p, at[4])) = Of(next)
			*As[Slice](At(p, at[5])) = Slice{Of(&words[0]), 1, 1}
		}
	})
	b.Run("reflect", func(b *testing.B) {
		var at [6]int
		for i, name := range []string{"Name", "On", "Small", "Weight", "Next", "Words"} {
			f, _ := in.FieldByName(name)
			at[i] = f.Index[0]
		}
		p, nextValue, wordsValue := reflect.ValueOf(v).Elem(), reflect.ValueOf(next), reflect.ValueOf(words)
		for b.Loop() {
			p.Field(at[0]).SetString("name")
			p.Field(at[1]).SetBool(true)
			p.Field(at[2]).SetInt(7)
			p.Field(at[3]).SetFloat(7)
			p.Field(at[4]).Set(nextValue)
			p.Field(at[5]).Set(wordsValue)
		}
	})
}

var sink *[10]string

// BenchmarkText sets ten strings of an object.
func BenchmarkText(b *testing.B) {
	text := []byte("the name of one of many objects")
	b.Run("layout", func(b *testing.B) {
		var t Text
		b.ReportAllocs()
		for b.Loop() {
			sink = new([10]string)
			m := t.Mark()
			for i := range sink {
				t.Add(Of(&sink[i]), text)
			}
			t.Set(m)
		}
	})
	b.Run("alone", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			sink = new([10]string)
			for i := range sink {
				sink[i] = string(text)
			}
		}
	})
}

// BenchmarkMake makes a slice of three elements in a field, by each way that there is.
func BenchmarkMake(b *testing.B) {
	v := &tree{}
	b.Run("layout", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			v.Leaves = nil
			leafType.Make(Of(&v.Leaves), 3)
		}
	})
	b.Run("reflect", func(b *testing.B) {
		field := reflect.ValueOf(v).Elem().Field(2)
		b.ReportAllocs()
		for b.Loop() {
			field.Set(reflect.MakeSlice(field.Type(), 3, 3))
		}
	})
	b.Run("array", func(b *testing.B) {
		t := TypeOf(reflect.ArrayOf(3, reflect.TypeFor[leaf]()))
		b.ReportAllocs()
		for b.Loop() {
			*As[Slice](Of(&v.Leaves)) = Slice{t.New(), 3, 3}
		}
	})
	b.Run("compiled", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			v.Leaves = make([]leaf, 3)
		}
	})
}
