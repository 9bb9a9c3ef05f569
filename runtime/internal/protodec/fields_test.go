// SPDX-License-Identifier: Apache-2.0

package protodec

import (
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/runtime/internal/dropped"
	"github.com/informer-gen/informer-gen/runtime/internal/layout"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// TestFields decodes fields as the generated methods write them, and declines other forms.
func TestFields(t *testing.T) {
	typ := reflect.TypeFor[corev1.Container]()
	p, err := kubernetes.program(typ, dropped.Parts{})
	if err != nil {
		t.Fatal(err)
	}
	d := p.NewDecoder(nil, false)
	for name, tc := range map[string]struct {
		data     string
		accepted bool
	}{
		"nothing":                      {"", true},
		"a string":                     {"\x0a\x01a", true},
		"an empty string":              {"\x0a\x00", true},
		"an empty string and another":  {"\x0a\x00\x12\x01b", true},
		"an empty string, then again":  {"\x0a\x00\x0a\x01a", false},
		"an empty string in two bytes": {"\x0a\x80\x00", false},
		"a string of two bytes' size":  {"\x0a\x81\x00a", true},
		"an empty message":             {"\x42\x00", true},
		"false":                        {"\x80\x01\x00", true},
		"true":                         {"\x80\x01\x01", true},
		"false, then again":            {"\x80\x01\x00\x80\x01\x01", false},
		"true in two bytes":            {"\x80\x01\x81\x00", true},
		"an unknown field":             {"\xfa\x01\x00\x80\x02\x01", true},
		"an unknown field of a number": {"\xf8\x01\x00", true},
		"an unknown field three times": {"\xf8\x01\x00\xf8\x01\x01\xfa\x01\x01a", true},
		"descending unknown fields":    {"\xfa\x01\x00\xf2\x01\x00", true},
		"descending after an unknown":  {"\x0a\x01a\xfa\x01\x00\x12\x01b", true},
		"again after an unknown field": {"\x0a\x01a\xfa\x01\x00\x0a\x01b", false},
		"an unknown field cut off":     {"\xfa\x01\x02a", false},
		"unknown fields, cut off":      {"\xfa\x01\x00\xfa\x01\x02a", false},
		"half a tag after an unknown":  {"\xfa\x01\x00\x80", false},
		"number 0 after an unknown":    {"\xfa\x01\x00\x02\x00", false},
		"an unknown group":             {"\xfb\x01\xfc\x01", false},
		"a tag in two bytes":           {"\x8a\x00\x01a", false},
		"a tag in three bytes":         {"\x80\x81\x00\x01", false},
		"a very large number":          {"\xc2\xbb\x01\x00", false},
		"number 0":                     {"\x02\x00", false},
		"another type of field":        {"\x08\x00", false},
		"descending":                   {"\x12\x00\x0a\x00", false},
		"half a tag":                   {"\x80", false},
		"only a tag":                   {"\x0a", false},
		"a string that is cut off":     {"\x0a\x02a", false},
		"a message that is cut off":    {"\x42\x02\x0a", false},
	} {
		t.Run(name, func(t *testing.T) {
			checkDecode(t, typ, []byte(tc.data), tc.accepted, d)
			if got := d.Decode([]byte(tc.data), layout.Of(&corev1.Container{})); got != tc.accepted {
				t.Errorf("Decode = %v, want %v", got, tc.accepted)
			}
		})
	}
}

// TestEmptyFieldsOfOtherKinds decodes empty values that are not the zero value, or that a method
// decodes.
func TestEmptyFieldsOfOtherKinds(t *testing.T) {
	p, err := anyPackage.program(reflect.TypeFor[oddKinds](), dropped.Parts{})
	if err != nil {
		t.Fatal(err)
	}
	got := &oddKinds{}
	if !p.NewDecoder(nil, false).Decode([]byte("\x0a\x00\x12\x00"), layout.Of(got)) {
		t.Fatal("Decode declines the object")
	}
	if got.Bytes == nil || got.Called.times != 1 {
		t.Errorf("Decode = %+v, want bytes that are not nil, and one call of Unmarshal", got)
	}
}

type oddKinds struct {
	Bytes  []byte `protobuf:"bytes,1,opt,name=bytes"`
	Called called `protobuf:"bytes,2,opt,name=called"`
}

func (*oddKinds) Unmarshal([]byte) error { return nil }

// called counts the calls of its Unmarshal method.
type called struct{ times int }

func (c *called) Unmarshal([]byte) error {
	c.times++
	return nil
}

type (
	// unusualProjection is a projection whose name and namespace are not strings.
	unusualProjection struct {
		Meta unusualMeta `protobuf:"bytes,1,opt,name=metadata"`
	}
	unusualMeta struct {
		object.NoMeta
		Name      *[]byte `protobuf:"bytes,1,opt,name=name"`
		Namespace []byte  `protobuf:"bytes,3,opt,name=namespace"`
		After     int64   `protobuf:"varint,7,opt,name=generation"`
	}
)

func TestNamesOfAnyType(t *testing.T) {
	p, err := kubernetes.program(reflect.TypeFor[unusualProjection](), dropped.Parts{})
	if err != nil {
		t.Fatal(err)
	}
	var got unusualProjection
	if !p.NewDecoder(nil, false).Decode([]byte("\x0a\x08\x0a\x01n\x1a\x01s\x38\x05"), layout.Of(&got)) {
		t.Fatal("Decode declines the object")
	}
	if m := got.Meta; m.Name == nil || string(*m.Name) != "n" || cap(m.Namespace) != 1 || string(m.Namespace) != "s" || m.After != 5 {
		t.Errorf("Decode = %+v, want name n, namespace s and generation 5", m)
	}
}
