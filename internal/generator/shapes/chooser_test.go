// SPDX-License-Identifier: Apache-2.0

package shapes

import (
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// chooser fills values as its bytes say. Without bytes, everything is zero.
type chooser struct{ data []byte }

func (c *chooser) next() byte {
	if len(c.data) == 0 {
		return 0
	}
	b := c.data[0]
	c.data = c.data[1:]
	return b
}

func (c *chooser) fill(v reflect.Value, depth int) {
	// an embedded struct may be private, its fields are not
	if depth > 12 || !v.CanSet() && v.Kind() != reflect.Struct {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if c.next()%3 > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			c.fill(v.Elem(), depth+1)
		}
	case reflect.Slice:
		if n := int(c.next() % 5); n > 0 { // 1 is an empty one
			v.Set(reflect.MakeSlice(v.Type(), n-1, n-1))
			for i := range n - 1 {
				c.fill(v.Index(i), depth+1)
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			c.fill(v.Index(i), depth+1)
		}
	case reflect.Map:
		if n := int(c.next() % 5); n > 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for range n - 1 {
				key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
				c.fill(key, depth+1)
				c.fill(value, depth+1)
				v.SetMapIndex(key, value)
			}
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[metav1.ObjectMeta]() {
			// Only what the paths lead to: the rest has types that write their own JSON.
			for _, field := range []string{"Labels", "OwnerReferences", "DeletionGracePeriodSeconds"} {
				c.fill(v.FieldByName(field), depth+1)
			}
			return
		}
		if v.Type() == reflect.TypeFor[metav1.OwnerReference]() {
			versions := []string{"v1", "apps/v1", "apps/v1beta1", "shapes.example.com/v1", "", "a/b/c"}
			v.FieldByName("APIVersion").SetString(versions[int(c.next())%len(versions)])
			kinds := []string{"Node", "Deployment", "Shape"}
			v.FieldByName("Kind").SetString(kinds[int(c.next())%len(kinds)])
			for _, field := range []string{"Name", "UID", "Controller"} {
				c.fill(v.FieldByName(field), depth+1)
			}
			return
		}
		for i := range v.NumField() {
			c.fill(v.Field(i), depth+1)
		}
	case reflect.String:
		v.SetString([]string{"", "a", "b", "é", fmt.Sprint(c.next())}[c.next()%5])
	case reflect.Bool:
		v.SetBool(c.next()%2 > 0)
	case reflect.Int16:
		v.SetInt([]int64{-5, 0, 5, int64(c.next())}[c.next()%4])
	case reflect.Int8, reflect.Int32, reflect.Int64:
		v.SetInt(int64(int8(c.next())))
	case reflect.Uint64:
		v.SetUint(uint64(c.next()) << (c.next() % 57))
	}
}
