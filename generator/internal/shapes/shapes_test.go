// SPDX-License-Identifier: Apache-2.0

// Package shapes tests the index functions that are generated for field paths.
package shapes

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/generator"
	listers "github.com/informer-gen/informer-gen/generator/internal/shapes/generated/listers/shapes/v1"
	v1 "github.com/informer-gen/informer-gen/generator/internal/shapes/v1"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// TestGeneratedIsUpToDate fails when the folder generated is not what the generator would write for v1.
func TestGeneratedIsUpToDate(t *testing.T) {
	files, err := generator.Generate(context.Background(), generator.Config{Patterns: []string{"./v1"}, Output: "generated"})
	if err != nil {
		t.Fatal(err)
	}
	changes, err := files.Diff()
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range changes {
		t.Errorf("%s is not up to date; in generator/internal/shapes, run: go run ../../../cmd/informer-gen --output generated ./v1", change.Path)
	}
}

// FuzzFieldPaths compares the keys of each index with what a walk through the JSON of the object finds: nothing behind a
// null, each element of a list for [*], otherwise the one value. An input that is not the JSON of a Shape is read as a
// list of decisions by which a Shape is filled.
func FuzzFieldPaths(f *testing.F) {
	f.Add([]byte(`{}`))
	f.Add([]byte(`{"spec":{"string":"a","slice":["a","","a"],"array":["x"],"slicePointers":[null,"b"],"pointerSlice":["c"]}}`))
	f.Add([]byte(`{"spec":{"next":{"name":"n","next":{"ref":"r"}},"nodes":[{"nodes":[{"names":["1","2"]},{}]},{"name":"é<&\u2028"}]}}`))
	f.Add([]byte(`{"spec":{"nodePointers":[null,{"next":{"nodePointers":[null,{"refs":[null,"x"]}]}}],"inlinePointer":"","unsigned":18446744073709551615}}`))
	f.Add([]byte(`{"status":{"phase":"Ready"},"metadata":{"ownerReferences":[{"uid":"u","controller":true},{}],"deletionGracePeriodSeconds":-1}}`))
	f.Add([]byte(`{"spec":{"nodes":[{"nodes":[{"nodes":[{"nodes":[{"name":"deep"},{"name":"deeper"}]}]}]}],"private":"p","GoName":"g",
		"inline":"i","hidden":7,"below":{"inline":"b"},"pointer":"","numberPointer":0,"small":-128,"bool":true,"uid":"u","named":"n",
		"namedSlice":["x","y"],"arrayPointers":[null,"z"],"pointerNodes":[{"name":"q"}],"node":{"name":"m"}}}`))
	for seed := range byte(4) {
		choices := make([]byte, 400)
		for n := range choices {
			choices[n] = byte(n*n>>2)*7 + seed*31 + byte(n)
		}
		f.Add(choices)
	}
	paths := markedPaths(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		shape := &v1.Shape{}
		if json.Unmarshal(data, shape) != nil {
			*shape = v1.Shape{}
			(&chooser{data}).fill(reflect.ValueOf(shape).Elem(), 0)
		}
		shape.Namespace, shape.Name = "shop", "blue"
		want := walks(t, shape, paths)

		s, err := store.New(listers.ShapeIndexes...)
		if err != nil {
			t.Fatal(err)
		}
		update(t, s, func(x *store.Txn[*v1.Shape]) error { return x.Set(shape) })
		for name, keys := range keysOf {
			if got := keys(t, s.Snapshot(), 1); !slices.Equal(got, want[name]) {
				t.Errorf("%s (%s) has the keys %s, and the object %s", name, paths[name], got, want[name])
			}
		}

		// The keys of the next state take the place of these, and those of none remain.
		other := &v1.Shape{}
		(&chooser{data}).fill(reflect.ValueOf(other).Elem(), 0)
		other.Namespace, other.Name = "shop", "blue"
		want = walks(t, other, paths)
		update(t, s, func(x *store.Txn[*v1.Shape]) error { return x.Set(other) })
		for name, keys := range keysOf {
			if got := keys(t, s.Snapshot(), 1); !slices.Equal(got, want[name]) {
				t.Errorf("after an update, %s (%s) has the keys %s, and the object %s", name, paths[name], got, want[name])
			}
		}
		update(t, s, func(x *store.Txn[*v1.Shape]) error { x.Delete(object.KeyOf(other)); return nil })
		for name, keys := range keysOf {
			if got := keys(t, s.Snapshot(), 0); len(got) > 0 {
				t.Errorf("without an object, %s has the keys %s", name, got)
			}
		}
	})
}

func update(t *testing.T, s *store.Store[*v1.Shape], change func(*store.Txn[*v1.Shape]) error) {
	t.Helper()
	if err := s.Update(change); err != nil {
		t.Fatal(err)
	}
}

// keysOf are all indexes by their names.
var keysOf = byName(
	keys(listers.ShapeByString), keys(listers.ShapeByNamed), keys(listers.ShapeByBool), keys(listers.ShapeByInt),
	keys(listers.ShapeBySmall), keys(listers.ShapeByUnsigned), keys(listers.ShapeByUID), keys(listers.ShapeByPointer),
	keys(listers.ShapeByNumberPointer), keys(listers.ShapeBySlice), keys(listers.ShapeBySlicePointers),
	keys(listers.ShapeByPointerSlice), keys(listers.ShapeByArray), keys(listers.ShapeByArrayPointers),
	keys(listers.ShapeByNamedSlice), keys(listers.ShapeByStruct), keys(listers.ShapeByPointerStruct),
	keys(listers.ShapeByPointers), keys(listers.ShapeByStructs), keys(listers.ShapeByStructPointers),
	keys(listers.ShapeByPointerStructs), keys(listers.ShapeByNested), keys(listers.ShapeByNestedPointers),
	keys(listers.ShapeByDeep), keys(listers.ShapeByInline), keys(listers.ShapeByInlinePointer), keys(listers.ShapeByHidden),
	keys(listers.ShapeByBelowName), keys(listers.ShapeByPrivate), keys(listers.ShapeByGoName), keys(listers.ShapeByStatus),
	keys(listers.ShapeByOwner), keys(listers.ShapeByController), keys(listers.ShapeByGracePeriod),
)

// index reads one index of a snapshot: its keys as JSON, sorted, each of which must find the given number of objects.
type index struct {
	name string
	keys func(t *testing.T, s store.Snapshot[*v1.Shape], objects int) []string
}

func keys[K comparable](x *store.Index[*v1.Shape, K]) index {
	return index{x.Name(), func(t *testing.T, s store.Snapshot[*v1.Shape], objects int) []string {
		var all []string
		for key := range x.Keys(s) {
			all = append(all, marshal(t, key))
			if found := len(x.List(s, key)); found != objects {
				t.Errorf("%s finds %d objects at %v, want %d", x.Name(), found, key, objects)
			}
		}
		slices.Sort(all)
		return all
	}}
}

func byName(all ...index) map[string]func(*testing.T, store.Snapshot[*v1.Shape], int) []string {
	m := map[string]func(*testing.T, store.Snapshot[*v1.Shape], int) []string{}
	for _, x := range all {
		m[x.name] = x.keys
	}
	return m
}

var indexMarker = regexp.MustCompile(`(?m)^// \+informer:index:name=(\w+),field=(\S+)$`)

// markedPaths are the paths in the markers of v1, by the names of their indexes.
func markedPaths(tb testing.TB) map[string]string {
	tb.Helper()
	text, err := os.ReadFile("v1/types.go")
	if err != nil {
		tb.Fatal(err)
	}
	paths := map[string]string{}
	for _, m := range indexMarker.FindAllSubmatch(text, -1) {
		paths[string(m[1])] = string(m[2])
	}
	if got := slices.Sorted(maps.Keys(keysOf)); !slices.Equal(got, slices.Sorted(maps.Keys(paths))) {
		tb.Fatalf("the test has the indexes %q, v1 has %q", got, paths)
	}
	return paths
}

// walks finds the values at all paths of an object's JSON: as JSON, sorted, each once.
func walks(t *testing.T, shape *v1.Shape, paths map[string]string) map[string][]string {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(marshal(t, shape)))
	decoder.UseNumber()
	var root any
	if err := decoder.Decode(&root); err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	for name, path := range paths {
		var keys []string
		walk(root, strings.Split(path, ".")[1:], func(value any) { keys = append(keys, marshal(t, value)) })
		slices.Sort(keys)
		found[name] = slices.Compact(keys)
	}
	return found
}

func walk(value any, path []string, found func(any)) {
	switch {
	case value == nil:
	case len(path) == 0:
		found(value)
	default:
		name, each := strings.CutSuffix(path[0], "[*]")
		value = value.(map[string]any)[name]
		if !each {
			walk(value, path[1:], found)
			return
		}
		if list, ok := value.([]any); ok {
			for _, element := range list {
				walk(element, path[1:], found)
			}
		}
	}
}

func marshal(t *testing.T, value any) string {
	t.Helper()
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}

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
	if depth > 12 || !v.CanSet() && v.Kind() != reflect.Struct { // an embedded struct may be private, its fields are not
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
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[metav1.ObjectMeta]() {
			// Only what the paths lead to: the rest has types that write their own JSON.
			c.fill(v.FieldByName("OwnerReferences"), depth+1)
			c.fill(v.FieldByName("DeletionGracePeriodSeconds"), depth+1)
			return
		}
		for i := range v.NumField() {
			c.fill(v.Field(i), depth+1)
		}
	case reflect.String:
		v.SetString([]string{"", "a", "b", "é", fmt.Sprint(c.next())}[c.next()%5])
	case reflect.Bool:
		v.SetBool(c.next()%2 > 0)
	case reflect.Int8, reflect.Int32, reflect.Int64:
		v.SetInt(int64(int8(c.next())))
	case reflect.Uint64:
		v.SetUint(uint64(c.next()) << (c.next() % 57))
	}
}
