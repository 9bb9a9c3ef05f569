// SPDX-License-Identifier: Apache-2.0

package podtest

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Filler fills values of any type with random content, much of it equal.
type Filler struct {
	R     *rand.Rand
	Full  float64 // the share of non-empty fields, at most 1
	depth int
}

// Fill fills v, which must be settable. In structs it fills the fields with a number in protobuf.
func (f *Filler) Fill(v reflect.Value) {
	if f.depth++; f.depth > 12 {
		f.depth--
		return
	}
	defer func() { f.depth-- }()
	switch p := v.Addr().Interface().(type) {
	case *metav1.Time:
		p.Time = time.Unix(f.R.Int64N(4e9)-1e9, 0).Local()
		return
	case *metav1.MicroTime:
		p.Time = time.Unix(f.R.Int64N(4e9), 1000*f.R.Int64N(1e6)).Local()
		return
	case *metav1.FieldsV1:
		*p = *FieldsV1(`{"f:metadata":{}}`)
		return
	case *resource.Quantity:
		*p = *resource.NewMilliQuantity(f.R.Int64N(100000), resource.DecimalSI)
		if f.R.IntN(9) == 0 {
			*p = resource.MustParse("123456789012345678901234567890.5")
		}
		return
	case *runtime.RawExtension:
		p.Raw = []byte(`{"a":1}`)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() && f.R.Float64() < f.Full && v.Type().Field(i).Tag.Get("protobuf") != "" {
				f.Fill(v.Field(i))
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.Fill(v.Elem())
	case reflect.Slice:
		n := 1 + f.R.IntN(3)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			f.Fill(v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range 1 + f.R.IntN(3) {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			f.Fill(key)
			f.Fill(value)
			v.SetMapIndex(key, value)
		}
	case reflect.String:
		switch f.R.IntN(3) {
		case 0:
			v.SetString("")
		case 1:
			v.SetString(fmt.Sprint("word", f.R.IntN(4)))
		case 2:
			v.SetString(fmt.Sprint("text-", f.R.Int64()))
		}
	case reflect.Bool:
		v.SetBool(f.R.IntN(2) == 0)
	case reflect.Int32, reflect.Int64:
		v.SetInt([]int64{0, 1, -1, 300, -1 << 31, 1<<31 - 1}[f.R.IntN(6)])
	case reflect.Uint8:
		v.SetUint(uint64(f.R.IntN(256)))
	case reflect.Float64, reflect.Float32:
		v.SetFloat(f.R.Float64())
	}
}

// FieldsV1 replaces metav1.NewFieldsV1, which the oldest supported apimachinery lacks.
func FieldsV1(raw string) *metav1.FieldsV1 {
	fields := &metav1.FieldsV1{}
	if err := fields.UnmarshalJSON([]byte(raw)); err != nil {
		panic(err)
	}
	return fields
}
