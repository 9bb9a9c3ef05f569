// SPDX-License-Identifier: Apache-2.0

package jsondec

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/informer-gen/informer-gen/runtime/internal/dropped"
)

type (
	left struct {
		Both, Left int
		Tagged     int `json:"tagged"`
		Mixed      int `json:"Mixed"`
		Over       int
		Twice
	}
	right struct {
		Both, Right int
		Other       int `json:"Both"`
		Mixed       int
		Over        int
		Twice
	}
	// Twice is embedded in left and right, so its fields are hidden.
	Twice struct{ Two int }
	// Word is not a struct.
	Word string
	// Loop embeds itself.
	Loop struct {
		*Loop
		L int
	}
	hidden struct {
		Shown  int
		hidden int
	}
	unexportedWord string

	// oddEmbedding has all kinds of embedded fields.
	oddEmbedding struct {
		left
		right
		*Outer
		Word
		*Loop
		hidden
		unexportedWord
		Deep `json:"deep"`
		Over string
		//lint:ignore SA5008 the test is about it
		Minus int `json:"-,"`
		Comma int `json:",omitempty"`
		Space int `json:"a b"`
		//lint:ignore SA5008 the test is about it
		Quote int `json:"a\"b"`
	}
	// These types contain themselves without a struct between.
	tree   []tree
	forest map[string][]*forest
	chain  *chain

	// recursive has fields of such types.
	recursive struct {
		A      string             `json:"a"`
		Tree   tree               `json:"tree"`
		Trees  map[string]tree    `json:"trees"`
		Forest forest             `json:"forest"`
		Chain  chain              `json:"chain"`
		Nested [][]map[string]int `json:"nested"`
	}

	// unsettable embeds a pointer that encoding/json can't set.
	unsettable struct {
		*hidden
		A int
	}
)

// Linters would report these fields as unused.
var (
	_ = oddEmbedding{unexportedWord: "", hidden: hidden{hidden: 0}}
	_ = kitchenSink{private: ""}
)

func TestEmbedding(t *testing.T) {
	names := []string{
		"Both", "Left", "Right", "Tagged", "tagged", "Mixed", "Other", "Over", "Two", "Twice", "z", "w", "y", "Z", "Word", "word", "L", "Loop", "Shown", "hidden", "unexportedWord",
		"deep", "Deep", "-", "Minus", "Comma", "a b", "Space", "Quote", "A", "left", "right", "Outer",
	}
	for _, of := range []reflect.Type{reflect.TypeFor[oddEmbedding](), reflect.TypeFor[unsettable](), reflect.TypeFor[left](), reflect.TypeFor[Loop]()} {
		s := newDecoderTest(t, of)
		for _, name := range names {
			for _, value := range []string{`1`, `"a"`, `null`, `["a"]`, `{"w":["b"],"y":2}`} {
				s.check(t, fmt.Sprintf(`{"%s":%s}`, name, value))
			}
			for _, other := range names {
				s.check(t, fmt.Sprintf(`{"%s":1,"%s":1}`, name, other))
				s.check(t, fmt.Sprintf(`{"%s":"a","%s":1}`, name, other))
			}
		}
		s.checkKept(t)
		if s.accepted < 100 {
			t.Errorf("%v: only %d texts are accepted, want 100", of, s.accepted)
		}
	}
}

func TestRecursiveSlicesAreDeclined(t *testing.T) {
	s := newDecoderTest(t, reflect.TypeFor[recursive]())
	for _, text := range []string{
		`{"a":"b","tree":[[],[[]]]}`, `{"trees":{"a":[[]]}}`, `{"forest":{"a":[{}]}}`, `{"chain":null}`,
	} {
		if s.check(t, text) {
			t.Errorf("%s is accepted", text)
		}
	}
	if text := `{"a":"b","nested":[[{"c":1}]]}`; !s.check(t, text) {
		t.Errorf("%s is declined", text)
	}
}

func TestUnsupportedTypes(t *testing.T) {
	for _, of := range []reflect.Type{
		reflect.TypeFor[int](), reflect.TypeFor[map[string]string](), reflect.TypeFor[jsonUnmarshaler](), reflect.TypeFor[*kitchenSink](),
	} {
		if _, err := New(of, dropped.Parts{}); err == nil {
			t.Errorf("New accepts %v", of)
		}
	}
	var fields []reflect.StructField
	for i := range maxMembers + 1 {
		fields = append(fields, reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: reflect.TypeFor[int]()})
	}
	if _, err := New(reflect.StructOf(fields), dropped.Parts{}); err == nil {
		t.Error("New accepts a struct with more than maxMembers fields")
	}
	if _, err := New(reflect.StructOf(fields[1:]), dropped.Parts{}); err != nil {
		t.Error(err)
	}
}
