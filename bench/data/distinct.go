// SPDX-License-Identifier: Apache-2.0

package data

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// distinct makes every string of an object different from all others, in this object and in all
// objects before: values, keys of maps, times, quantities and the names in managedFields. A string
// of at least six bytes keeps its length. The object's own apiVersion and kind, its
// resourceVersion, which is unique anyway, the operations and formats of managedFields, numbers and
// booleans stay.
//
// The i-th object gets the same strings each time.
type distinct struct {
	next uint64
}

// stringsPerObject is more than the number of strings in an object.
const stringsPerObject = 1000

// MakeDistinct replaces the strings in *obj by unique ones. The i-th object gets the same strings
// each time.
func MakeDistinct(i int, obj any) { newDistinct(i).object(obj) }

func newDistinct(i int) *distinct { return &distinct{next: uint64(i) * stringsPerObject} }

func (d *distinct) object(obj any) {
	v := reflect.ValueOf(obj).Elem()
	for i := range v.NumField() {
		if v.Type().Field(i).Type != reflect.TypeFor[metav1.TypeMeta]() {
			d.value(v.Field(i))
		}
	}
}

var (
	timeType     = reflect.TypeFor[metav1.Time]()
	quantityType = reflect.TypeFor[resource.Quantity]()
	intstrType   = reflect.TypeFor[intstr.IntOrString]()
	fieldsType   = reflect.TypeFor[metav1.FieldsV1]()
	metaType     = reflect.TypeFor[metav1.ObjectMeta]()
	entryType    = reflect.TypeFor[metav1.ManagedFieldsEntry]()
)

func (d *distinct) value(v reflect.Value) {
	switch v.Type() {
	case timeType:
		if t := v.Interface().(metav1.Time); !t.IsZero() {
			v.Set(reflect.ValueOf(metav1.NewTime(epoch.Add(time.Duration(d.number()) * time.Second))))
		}
		return
	case quantityType:
		v.Set(reflect.ValueOf(resource.MustParse(strconv.FormatUint(1+d.number(), 10))))
		return
	case intstrType:
		if x := v.Interface().(intstr.IntOrString); x.Type == intstr.String {
			x.StrVal = d.text(x.StrVal)
			v.Set(reflect.ValueOf(x))
		}
		return
	case fieldsType:
		fields := v.Addr().Interface().(*metav1.FieldsV1)
		*fields = *metav1.NewFieldsV1(d.names(fields.GetRawString()))
		return
	case metaType:
		for i := range v.NumField() {
			if v.Type().Field(i).Name != "ResourceVersion" {
				d.value(v.Field(i))
			}
		}
		return
	case entryType:
		d.value(v.FieldByName("Manager"))
		d.value(v.FieldByName("Time"))
		d.value(v.FieldByName("FieldsV1"))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(d.text(v.String()))
	case reflect.Pointer:
		if !v.IsNil() { // its target may be shared with other objects
			c := reflect.New(v.Type().Elem())
			c.Elem().Set(v.Elem())
			d.value(c.Elem())
			v.Set(c)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			d.value(v.Field(i))
		}
	case reflect.Slice:
		if !v.IsNil() {
			c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(c, v)
			for i := range c.Len() {
				d.value(c.Index(i))
			}
			v.Set(c)
		}
	case reflect.Map:
		d.entries(v)
	}
}

func (d *distinct) entries(v reflect.Value) {
	if v.IsNil() {
		return
	}
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return bytes.Compare([]byte(a.String()), []byte(b.String())) })
	c := reflect.MakeMapWithSize(v.Type(), len(keys))
	for _, k := range keys {
		key, value := reflect.New(k.Type()).Elem(), reflect.New(v.Type().Elem()).Elem()
		key.SetString(d.text(k.String()))
		value.Set(v.MapIndex(k))
		d.value(value)
		c.SetMapIndex(key, value)
	}
	v.Set(c)
}

func (d *distinct) number() uint64 {
	d.next++
	return d.next
}

// text returns a new string; "" stays.
func (d *distinct) text(s string) string {
	if s == "" {
		return s
	}
	mark := fmt.Sprintf("%06s", strconv.FormatUint(d.number(), 36))
	return s[:max(0, len(s)-len(mark))] + mark
}

// names appends a number to each name in a FieldsV1.
func (d *distinct) names(fields string) string {
	var tree map[string]any
	if err := json.Unmarshal([]byte(fields), &tree); err != nil {
		panic(err) // this package has written it
	}
	text, err := json.Marshal(d.tree(tree))
	if err != nil {
		panic(err)
	}
	return string(text)
}

func (d *distinct) tree(tree map[string]any) map[string]any {
	renamed := make(map[string]any, len(tree))
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		below, _ := tree[name].(map[string]any)
		renamed[name+strconv.FormatUint(d.number(), 36)] = d.tree(below)
	}
	return renamed
}
