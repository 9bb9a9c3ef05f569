// SPDX-License-Identifier: Apache-2.0

package protodec

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// message is what Kubernetes generates for its types.
type protoMessage interface {
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

// kinds returns the types of all kinds that Kubernetes serves as protobuf.
func kinds() []reflect.Type {
	seen := map[reflect.Type]bool{}
	var types []reflect.Type
	for _, t := range scheme.Scheme.AllKnownTypes() {
		_, ok := reflect.New(t).Interface().(protoMessage)
		if ok && !seen[t] && t.PkgPath() != "k8s.io/apimachinery/pkg/apis/meta/v1" {
			seen[t] = true
			types = append(types, t)
		}
	}
	return types
}

// filler fills values of any type with random content, of which much is equal.
type filler struct {
	r     *rand.Rand
	full  float64 // how many of the fields have something in them
	depth int
}

func (f *filler) fill(v reflect.Value) {
	if f.depth++; f.depth > 12 {
		f.depth--
		return
	}
	defer func() { f.depth-- }()
	switch p := v.Addr().Interface().(type) {
	case *metav1.Time:
		p.Time = time.Unix(f.r.Int64N(4e9)-1e9, 0).Local()
		return
	case *metav1.MicroTime:
		p.Time = time.Unix(f.r.Int64N(4e9), 1000*f.r.Int64N(1e6)).Local()
		return
	case *metav1.FieldsV1:
		*p = *fieldsV1(`{"f:metadata":{}}`)
		return
	case *resource.Quantity:
		*p = *resource.NewMilliQuantity(f.r.Int64N(100000), resource.DecimalSI)
		if f.r.IntN(9) == 0 {
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
			if v.Field(i).CanSet() && f.r.Float64() < f.full && v.Type().Field(i).Tag.Get("protobuf") != "" {
				f.fill(v.Field(i))
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem())
	case reflect.Slice:
		n := 1 + f.r.IntN(3)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			f.fill(v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range 1 + f.r.IntN(3) {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			f.fill(key)
			f.fill(value)
			v.SetMapIndex(key, value)
		}
	case reflect.String:
		switch f.r.IntN(3) {
		case 0:
			v.SetString("")
		case 1:
			v.SetString(fmt.Sprint("word", f.r.IntN(4)))
		case 2:
			v.SetString(fmt.Sprint("text-", f.r.Int64()))
		}
	case reflect.Bool:
		v.SetBool(f.r.IntN(2) == 0)
	case reflect.Int32, reflect.Int64:
		v.SetInt([]int64{0, 1, -1, 300, -1 << 31, 1<<31 - 1}[f.r.IntN(6)])
	case reflect.Uint8:
		v.SetUint(uint64(f.r.IntN(256)))
	case reflect.Float64, reflect.Float32:
		v.SetFloat(f.r.Float64())
	}
}

// fieldsV1 does without metav1.NewFieldsV1, which the oldest supported apimachinery lacks.
func fieldsV1(raw string) *metav1.FieldsV1 {
	fields := &metav1.FieldsV1{}
	if err := fields.UnmarshalJSON([]byte(raw)); err != nil {
		panic(err)
	}
	return fields
}
