// SPDX-License-Identifier: Apache-2.0

package mutation

import (
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// TestEveryFieldOfAPod fills every field of a Pod, and changes one at a time.
func TestEveryFieldOfAPod(t *testing.T) {
	pod := &corev1.Pod{}
	fill(reflect.ValueOf(pod).Elem())
	pristine := pod.DeepCopy()
	paths := map[string]bool{}
	changes(reflect.ValueOf(pod).Elem(), func(what string, undo func()) {
		path, differs := compare(pristine, pod)
		if !differs {
			t.Errorf("compare misses a change of %s", what)
		}
		paths[path] = true
		undo()
	})
	if path, differs := compare(pristine, pod); differs {
		t.Errorf("a change of %s was not undone", path)
	}
	if len(paths) < 700 {
		t.Errorf("%d paths, want at least 700", len(paths))
	}
}

// fill sets v and its parts to non-zero values. Slices and maps get one element.
func fill(v reflect.Value) {
	switch v.Type() {
	case quantityType:
		v.Set(reflect.ValueOf(resource.MustParse("1")))
		return
	case timeType:
		v.Set(reflect.ValueOf(time.Unix(1, 0)))
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i))
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		element := reflect.New(v.Type().Elem()).Elem()
		fill(element)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.Zero(v.Type().Key()), element)
	}
}

// changes makes every possible change, one at a time: of each value, and of each pointer, slice and
// map to nil.
func changes(v reflect.Value, changed func(what string, undo func())) {
	set := func(to reflect.Value) {
		old := reflect.New(v.Type()).Elem()
		old.Set(v)
		v.Set(to)
		changed(v.Type().String(), func() { v.Set(old) })
	}
	switch v.Type() {
	case quantityType:
		set(reflect.ValueOf(resource.MustParse("2")))
		return
	case timeType:
		set(reflect.ValueOf(time.Unix(1, 1)))
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		changes(v.Elem(), changed)
		set(reflect.Zero(v.Type()))
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				changes(v.Field(i), changed)
			}
		}
	case reflect.Slice:
		changes(v.Index(0), changed)
		set(v.Slice(0, 0))
		set(reflect.Append(v, v.Index(0)))
		set(reflect.Zero(v.Type()))
	case reflect.Map:
		key := reflect.Zero(v.Type().Key())
		old := v.MapIndex(key)
		element := reflect.New(v.Type().Elem()).Elem()
		element.Set(old)
		changes(element, func(what string, undo func()) {
			v.SetMapIndex(key, element)
			changed(what+" in a map", func() {
				undo()
				v.SetMapIndex(key, old)
			})
		})
		set(reflect.Zero(v.Type()))
		set(reflect.MakeMap(v.Type()))
	case reflect.String:
		set(reflect.ValueOf("changed").Convert(v.Type()))
	case reflect.Bool:
		set(reflect.ValueOf(true).Convert(v.Type()))
	default: // numbers
		set(reflect.ValueOf(7).Convert(v.Type()))
	}
}
