// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"

	"github.com/informer-gen/informer-gen/runtime/object"
)

var projectionsSeen int

// Project makes projections of random objects, and holds them against their copies, and against
// what is read as a projection and as a whole from their JSON. Types that have no JSON are copied
// only.
func Project[T, P object.Object](seed uint64, newObject func() T, newProjection func() P, project func(T) P, deepCopy func(P) P) {
	random := rand.New(rand.NewPCG(seed, 1))
	for range 20 {
		obj := newObject()
		fill(random, reflect.ValueOf(obj).Elem())
		obj.SetName("blue")
		made := project(obj)
		copied := deepCopy(made)
		if made.GetName() != "blue" || !reflect.DeepEqual(made, copied) {
			failProjection(made, "%s has the copy\n%+v\nof\n%+v", made.GetName(), copied, made)
		}
		shared := map[uintptr]bool{}
		addresses(reflect.ValueOf(made), func(at uintptr) { shared[at] = true })
		addresses(reflect.ValueOf(copied), func(at uintptr) {
			if shared[at] {
				failProjection(made, "the copy shares memory with it")
			}
		})
		text, err := json.Marshal(made)
		if err != nil {
			continue // a map has keys that JSON doesn't know
		}
		decoded, whole := newProjection(), newObject()
		must(json.Unmarshal(text, decoded))
		must(json.Unmarshal(text, whole))
		projectionsSeen++
		for what, other := range map[string]P{"itself": decoded, "a whole": project(whole)} {
			if got, _ := json.Marshal(other); string(got) != string(text) {
				failProjection(made, "its JSON\n%s\nis read as that of %s as\n%s", text, what, got)
			}
		}
	}
}

func failProjection(p any, format string, args ...any) {
	failed++
	fmt.Fprintf(os.Stderr, "%T: %s\n", p, fmt.Sprintf(format, args...))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// addresses calls yield with the address of everything that v refers to and that can change.
func addresses(v reflect.Value, yield func(uintptr)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			if v.Elem().Type().Size() > 0 {
				yield(v.Pointer())
			}
			addresses(v.Elem(), yield)
		}
	case reflect.Slice:
		if v.Cap() > 0 {
			yield(v.Pointer())
		}
		for i := range v.Len() {
			addresses(v.Index(i), yield)
		}
	case reflect.Array:
		for i := range v.Len() {
			addresses(v.Index(i), yield)
		}
	case reflect.Map:
		if !v.IsNil() {
			yield(v.Pointer())
		}
		for _, value := range v.Seq2() {
			addresses(value, yield)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			addresses(v.Field(i), yield)
		}
	}
}
