// SPDX-License-Identifier: Apache-2.0

// Package shapes tests the index functions that are generated for field paths.
package shapes

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/informer-gen/informer-gen/generator"
	listers "github.com/informer-gen/informer-gen/internal/generator/shapes/generated/listers/shapes/v1"
	v1 "github.com/informer-gen/informer-gen/internal/generator/shapes/v1"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// TestGeneratedIsUpToDate fails when the folder generated is not what the generator would write for
// v1.
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
		t.Errorf("%s is not up to date; in internal/generator/shapes, run: go run ../../../cmd/informer-gen --output generated ./v1", change.Path)
	}
}

// FuzzFieldPaths compares the keys of each index with what a walk through the JSON of the object
// finds: nothing behind a null, each element of a list for [*], otherwise the one value
// (walk_test.go). An input that is not the JSON of a Shape is read as a list of decisions by which
// a Shape is filled (chooser_test.go).
func FuzzFieldPaths(f *testing.F) {
	for _, seed := range seeds() {
		f.Add(seed)
	}
	rules := markedRules(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		shape := shapeOf(data)
		want := keysByRules(t, shape, rules)

		s, err := store.New(listers.ShapeIndexes()...)
		if err != nil {
			t.Fatal(err)
		}
		update(t, s, func(x *store.Txn[*v1.Shape]) error { return x.Set(shape) })
		for name, keys := range keysOf {
			if got := keys(t, s.Snapshot(), 1); !slices.Equal(got, want[name]) {
				t.Errorf("%s (%s) has the keys %s, and the object %s", name, rules[name].text, got, want[name])
			}
		}

		// The keys of the next state take the place of these, and those of none remain.
		other := &v1.Shape{}
		(&chooser{data}).fill(reflect.ValueOf(other).Elem(), 0)
		other.Namespace, other.Name = "shop", "blue"
		want = keysByRules(t, other, rules)
		update(t, s, func(x *store.Txn[*v1.Shape]) error { return x.Set(other) })
		for name, keys := range keysOf {
			if got := keys(t, s.Snapshot(), 1); !slices.Equal(got, want[name]) {
				t.Errorf("after an update, %s (%s) has the keys %s, and the object %s", name, rules[name].text, got, want[name])
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

// TestSeedsReachEveryIndex keeps FuzzFieldPaths from comparing nothing with nothing.
func TestSeedsReachEveryIndex(t *testing.T) {
	rules := markedRules(t)
	with, without := map[string]bool{}, map[string]bool{}
	for _, seed := range seeds() {
		for name, keys := range keysByRules(t, shapeOf(seed), rules) {
			with[name] = with[name] || len(keys) > 0
			without[name] = without[name] || len(keys) == 0
		}
	}
	for name, r := range rules {
		if !with[name] || len(r.when) > 0 && !without[name] {
			t.Errorf("%s (%s): some seed has keys: %v, some has none: %v", name, r.text, with[name], without[name])
		}
	}
}

// seeds are where the fuzzing starts.
func seeds() [][]byte {
	all := [][]byte{
		[]byte(`{}`),
		[]byte(`{"spec":{"string":"a","slice":["a","","a"],"array":["x"],"slicePointers":[null,"b"],"pointerSlice":["c"]}}`),
		[]byte(`{"spec":{"next":{"name":"n","next":{"ref":"r","name":"a"}},"nodes":[{"nodes":[{"names":["1","2"]},{}]},{"name":"é<&\u2028"}]}}`),
		[]byte(`{"spec":{"nodePointers":[null,{"next":{"nodePointers":[null,{"refs":[null,"x"]}]}}],"inlinePointer":"","unsigned":18446744073709551615}}`),
		[]byte(`{"status":{"phase":"Ready"},"metadata":{"ownerReferences":[{"uid":"u","controller":true},{}],"deletionGracePeriodSeconds":-1}}`),
		[]byte(`{"spec":{"nodes":[{"nodes":[{"nodes":[{"nodes":[{"name":"deep"},{"name":"deeper"}]}]}]}],"private":"p","GoName":"g",
			"inline":"i","hidden":7,"below":{"inline":"b"},"pointer":"","numberPointer":0,"small":-128,"bool":true,"uid":"u","named":"n",
			"namedSlice":["x","y"],"arrayPointers":[null,"z"],"pointerNodes":[{"name":"q"}],"node":{"name":"m"}}}`),
		[]byte(`{"spec":{"matrix":[["a","b"],null,[],["a"]],"matrixPointers":[null,[["x",null],null],[null,["y"]]],"table":[["t"],null],
			"leafTable":[[null,{"tags":["1"]}],[{"tags":["2",""]}]]}}`),
		[]byte(`{"spec":{"texts":{"a":"b","b":"a","":"c","é":"é"},"textPointers":{"a":"a","b":"","c":null},"textMap":{"":"e","z":""},
			"leaves":{"a":{"name":"n","ref":"r","tags":["1","2"]},"":{"tags":["1"]}},"leafPointers":{"a":null,"b":{"ref":"r","tags":["t"]}},
			"numbers":{"-5":["five"],"0":null,"7":["a","five"]},"listPointers":{"a":["x",null],"b":null},
			"mapOfMaps":{"a":{"b":true,"c":false},"d":{"b":false},"e":null},"mapsInList":[{"a":"1"},null,{"b":"2"}]},"metadata":{"labels":{"a":"1","b":"1"}}}`),
		[]byte(`{"spec":{"pair":{"left":"l","right":{"count":1,"small":[1,-1]}},"pairPointer":{"left":"p"},"pairs":[{"left":"1"},{}],
			"pairMap":{"a":{"left":"m"},"b":null},"target":{"Namespace":"n","Name":"t"},"string":"s","slice":["x","y"],"bool":true},"metadata":{"labels":{"a":"1"}}}`),
		[]byte(`{"spec":{"string":"a","pointer":"p","next":{"name":"n"},"slice":["x","y"],"slicePointers":["1",null,"2"],"matrix":[["m"]],
			"nodes":[{"name":"1","ref":"r","names":["a","b"],"refs":[null,"c","d"]},{"name":"2","names":["e"]},{"ref":"s"}],
			"nodePointers":[{"name":"o","ref":"r","nodes":[{"name":"i","ref":"r"},{"name":"j","ref":"r"}]},null]}}`),
		[]byte(`{"spec":{"string":"c","slice":["x"],"bool":true,"flag":true,"small":-1,"numberPointer":3,"named":"n","next":{"next":{"ref":"","name":"b"}},
			"inlinePointer":"a","texts":{"a":"b"},"leaves":{"a":{"ref":"a"}},"leafPointers":{"a":{"ref":"x"}},"mapOfMaps":{"a":{"b":true}}}}`),
		[]byte(`{"spec":{"string":"a","flag":false,"switch":true,"switches":{"a":true}}}`),
		[]byte(`{"spec":{"flag":false,"string":"a","named":"","numberPointer":0,"bool":true},"status":{"phase":"a"}}`),
		[]byte(`{"metadata":{"ownerReferences":[{"apiVersion":"apps/v1","kind":"Deployment","name":"d","uid":"1"},{"apiVersion":"v1","kind":"Node","name":"n"},
			{"apiVersion":"apps/v1beta1","kind":"Deployment","name":"e","uid":"2","controller":true},{"apiVersion":"shapes.example.com/v2","kind":"Shape","name":"s"},
			{"apiVersion":"apps/v1/x","kind":"Deployment","name":"x"},{"apiVersion":"","kind":"Node","name":"y"},{"apiVersion":"/v1","kind":"Node","name":"z"}]},
			"spec":{"bool":true}}`),
	}
	for seed := range byte(4) {
		choices := make([]byte, 900)
		for n := range choices {
			choices[n] = byte(n*n>>2)*7 + seed*31 + byte(n)
		}
		all = append(all, choices)
	}
	return all
}

// shapeOf is the object that an input stands for.
func shapeOf(data []byte) *v1.Shape {
	shape := &v1.Shape{}
	if json.Unmarshal(data, shape) != nil {
		*shape = v1.Shape{}
		(&chooser{data}).fill(reflect.ValueOf(shape).Elem(), 0)
	}
	shape.Namespace, shape.Name = "shop", "blue"
	return shape
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
	keys(listers.ShapeBySmall), keys(listers.ShapeByUnsigned), keys(listers.ShapeByUID),
	keys(listers.ShapeByPointer), keys(listers.ShapeByNumberPointer), keys(listers.ShapeBySlice),
	keys(listers.ShapeBySlicePointers), keys(listers.ShapeByPointerSlice), keys(listers.ShapeByArray),
	keys(listers.ShapeByArrayPointers), keys(listers.ShapeByNamedSlice), keys(listers.ShapeByStruct),
	keys(listers.ShapeByPointerStruct), keys(listers.ShapeByPointers), keys(listers.ShapeByStructs),
	keys(listers.ShapeByStructPointers), keys(listers.ShapeByPointerStructs), keys(listers.ShapeByNested),
	keys(listers.ShapeByNestedPointers), keys(listers.ShapeByDeep), keys(listers.ShapeByInline),
	keys(listers.ShapeByInlinePointer), keys(listers.ShapeByHidden), keys(listers.ShapeByBelowName),
	keys(listers.ShapeByPrivate), keys(listers.ShapeByGoName), keys(listers.ShapeByStatus),
	keys(listers.ShapeByOwner), keys(listers.ShapeByController), keys(listers.ShapeByGracePeriod),
	keys(listers.ShapeByMatrix), keys(listers.ShapeByMatrixPointers), keys(listers.ShapeByTable),
	keys(listers.ShapeByTableTag), keys(listers.ShapeByText), keys(listers.ShapeByTextKey),
	keys(listers.ShapeByTextEntry), keys(listers.ShapeByTextQuoted), keys(listers.ShapeByTextPointer),
	keys(listers.ShapeByTextPointerKey), keys(listers.ShapeByTextPointerEntry), keys(listers.ShapeByTextMap),
	keys(listers.ShapeByTextMapKey), keys(listers.ShapeByTextMapEntry), keys(listers.ShapeByLeaf),
	keys(listers.ShapeByLeafKey), keys(listers.ShapeByLeafEntry), keys(listers.ShapeByLeafRef),
	keys(listers.ShapeByLeafTag), keys(listers.ShapeByLeafPointer), keys(listers.ShapeByLeafPointerEntry),
	keys(listers.ShapeByNumberKey), keys(listers.ShapeByNumberLine), keys(listers.ShapeByNumberEntry),
	keys(listers.ShapeByList), keys(listers.ShapeByListEntry), keys(listers.ShapeByMapOfMaps),
	keys(listers.ShapeByMapOfMapsKey), keys(listers.ShapeByMapOfMapsEntry), keys(listers.ShapeByMapsInList),
	keys(listers.ShapeByLabel), keys(listers.ShapeByPair), keys(listers.ShapeByPairPointer),
	keys(listers.ShapeByPairs), keys(listers.ShapeByPairEntry), keys(listers.ShapeByTarget),
	keys(listers.ShapeByTwo), keys(listers.ShapeByTwoPointers), keys(listers.ShapeByThree),
	keys(listers.ShapeByOneElement), keys(listers.ShapeByElementAndBelow), keys(listers.ShapeByElementTwice),
	keys(listers.ShapeByBranches), keys(listers.ShapeByEveryPair), keys(listers.ShapeByCell),
	keys(listers.ShapeByLabelPair), keys(listers.ShapeByEntryPair), keys(listers.ShapeByPointerPair),
	keys(listers.ShapeByInnerPair), keys(listers.ShapeByTwoEntries), keys(listers.ShapeWhenTrue),
	keys(listers.ShapeWhenFalse), keys(listers.ShapeWhenFlag), keys(listers.ShapeWhenNotFlag),
	keys(listers.ShapeWhenFlagFalse), keys(listers.ShapeWhenFlagNull), keys(listers.ShapeWhenFlagThere),
	keys(listers.ShapeWhenText), keys(listers.ShapeWhenNotText), keys(listers.ShapeWhenNumber),
	keys(listers.ShapeWhenCount), keys(listers.ShapeWhenDeep), keys(listers.ShapeWhenNotDeep),
	keys(listers.ShapeWhenDeepNull), keys(listers.ShapeWhenDeepThere), keys(listers.ShapeWhenBelowNull),
	keys(listers.ShapeWhenInline), keys(listers.ShapeWhenEntry), keys(listers.ShapeWhenNotEntry),
	keys(listers.ShapeWhenEntryNull), keys(listers.ShapeWhenEntryThere), keys(listers.ShapeWhenEntryPointer),
	keys(listers.ShapeWhenEntryField), keys(listers.ShapeWhenEntryFieldNull), keys(listers.ShapeWhenNumberEntry),
	keys(listers.ShapeWhenEntryFieldThere), keys(listers.ShapeWhenSwitches),
	keys(listers.ShapeWhenBoth), keys(listers.ShapeWhenSeveral), keys(listers.ShapeByControllerUID),
	keys(listers.ShapeByOwnerShape), keys(listers.ShapeByOwnerNode), keys(listers.ShapeByOwnerWhen),
	keys(listers.ShapeByFunc), keys(listers.ShapeByFuncWhen), keys(listers.ShapeInByFunc),
	keys(listers.ShapeInByString), keys(listers.ShapeInBySlice), keys(listers.ShapeInByPair),
	keys(listers.ShapeInByTwo), keys(listers.ShapeInByOwner), keys(listers.ShapeInByController),
)

// index reads one index of a snapshot: its keys as JSON, sorted, each of which must find the given
// number of objects.
type index struct {
	name string
	keys func(t *testing.T, s *store.Snapshot[*v1.Shape], objects int) []string
}

func keys[K comparable](of func() *store.Index[*v1.Shape, K]) index {
	x := of()
	return index{x.Name(), func(t *testing.T, s *store.Snapshot[*v1.Shape], objects int) []string {
		var all []string
		for key := range x.Keys(s) {
			all = append(all, canonical(t, key))
			if found := len(x.List(s, key)); found != objects {
				t.Errorf("%s finds %d objects at %v, want %d", x.Name(), found, key, objects)
			}
		}
		slices.Sort(all)
		return all
	}}
}

func byName(all ...index) map[string]func(*testing.T, *store.Snapshot[*v1.Shape], int) []string {
	m := map[string]func(*testing.T, *store.Snapshot[*v1.Shape], int) []string{}
	for _, x := range all {
		m[x.name] = x.keys
	}
	return m
}
