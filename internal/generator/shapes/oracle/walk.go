// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

var pathPart = regexp.MustCompile(`\.(\w+)|\[(\*|keys|'[^']*'|"[^"]*")\]`)

func walk(root reflect.Value, path string) []Row[reflect.Value] {
	var rows []Row[reflect.Value]
	step(root, path, pathPart.FindAllStringSubmatchIndex(path, -1), map[string]any{}, &rows)
	return rows
}

func step(v reflect.Value, path string, parts [][]int, elements map[string]any, rows *[]Row[reflect.Value]) {
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if !v.IsValid() {
		return
	}
	if len(parts) == 0 {
		*rows = append(*rows, Row[reflect.Value]{elements, []reflect.Value{v}})
		return
	}
	part, rest := parts[0], parts[1:]
	if part[2] >= 0 {
		step(field(v, path[part[2]:part[3]]), path, rest, elements, rows)
		return
	}
	at := func(place any, v reflect.Value) {
		longer := map[string]any{path[:part[0]]: place}
		for path, place := range elements {
			longer[path] = place
		}
		step(v, path, rest, longer, rows)
	}
	bracket := path[part[4]:part[5]]
	switch {
	case bracket == "*" && v.Kind() == reflect.Map:
		for _, key := range v.MapKeys() {
			at(key.Interface(), v.MapIndex(key))
		}
	case bracket == "*":
		for i := range v.Len() {
			at(i, v.Index(i))
		}
	case bracket == "keys":
		for _, key := range v.MapKeys() {
			at(key.Interface(), key)
		}
	default:
		want := strings.Trim(bracket, "'")
		if unquoted, err := strconv.Unquote(bracket); bracket[0] == '"' && err == nil {
			want = unquoted
		}
		for _, key := range v.MapKeys() {
			if fmt.Sprint(key.Interface()) == want {
				step(v.MapIndex(key), path, rest, elements, rows)
			}
		}
	}
}

// field returns the field of a struct with this name in JSON, also in embedded structs; invalid if
// there is none.
func field(v reflect.Value, name string) reflect.Value {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case tag == name || tag == "" && !f.Anonymous && f.Name == name:
			return v.Field(i)
		case tag != "" || !f.Anonymous:
			continue
		}
		embedded := v.Field(i)
		if embedded.Kind() == reflect.Pointer {
			embedded = embedded.Elem()
		}
		if embedded.IsValid() {
			if found := field(embedded, name); found.IsValid() {
				return found
			}
		}
	}
	return reflect.Value{}
}

// Values repeated often, also as map keys and in conditions.
var (
	Texts    = []string{"", "a", "b", "true", "é"}
	Integers = []int64{0, 1, 7, 100}
	signed   = append(slices.Clone(Integers), -5)
)

// maxDepth bounds the depth of filled values: types may contain themselves.
const maxDepth = 12

// fill sets everything to random values, down to mostLevels.
func fill(random *rand.Rand, v reflect.Value, level int) {
	if level > maxDepth {
		return
	}
	if v.Type() == reflect.TypeFor[metav1.ObjectMeta]() {
		meta := v.Addr().Interface().(*metav1.ObjectMeta)
		fill(random, reflect.ValueOf(&meta.Labels).Elem(), level+1)
		fill(random, reflect.ValueOf(&meta.DeletionGracePeriodSeconds).Elem(), level+1)
		for range random.IntN(3) {
			meta.OwnerReferences = append(meta.OwnerReferences, metav1.OwnerReference{
				APIVersion: []string{"v1", "apps/v1", "apps/v2"}[random.IntN(3)], Kind: []string{"Node", "Deployment"}[random.IntN(2)],
				Name: Texts[random.IntN(4)], UID: types.UID(Texts[random.IntN(4)]), Controller: []*bool{nil, new(true), new(false)}[random.IntN(3)],
			})
		}
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if random.IntN(4) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(random, v.Elem(), level+1)
		}
	case reflect.Slice:
		if n := random.IntN(5) - 1; n >= 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				fill(random, v.Index(i), level+1)
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(random, v.Index(i), level+1)
		}
	case reflect.Map:
		if n := random.IntN(5) - 1; n >= 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for range n {
				key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
				fill(random, key, level+1)
				fill(random, value, level+1)
				v.SetMapIndex(key, value)
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() || f.Anonymous {
				fill(random, v.Field(i), level+1)
			}
		}
	case reflect.String:
		v.SetString(Texts[random.IntN(len(Texts))])
	case reflect.Bool:
		v.SetBool(random.IntN(2) > 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(signed[random.IntN(len(signed))])
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(Integers[random.IntN(len(Integers))]))
	}
}
