// SPDX-License-Identifier: Apache-2.0

package gotypes

import (
	"go/types"
	"strings"
	"testing"
)

func TestCanImport(t *testing.T) {
	for _, test := range []struct {
		from, to string
		want     bool
	}{
		{"a/generated", "a/api/v1", true},
		{"a/generated", "a/internal/v1", true},
		{"a/generated", "a/pkg/internal/v1", false},
		{"a/pkg/generated", "a/pkg/internal", true},
		{"b/generated", "a/internal/v1", false},
		{"ab/generated", "a/internal/v1", false},
		{"a/generated", "a/internals/v1", true},
		{"a/x", "internal/v1", true},
	} {
		if got := CanImport(test.from, test.to); got != test.want {
			t.Errorf("CanImport(%q, %q) = %v, want %v", test.from, test.to, got, test.want)
		}
	}
}

func TestPartsYieldsComponents(t *testing.T) {
	text, number := types.Typ[types.String], types.Typ[types.Int]
	field := types.NewField(0, nil, "A", text, false)
	for _, test := range []struct {
		of   types.Type
		want string
	}{
		{text, ""},
		{types.NewPointer(text), "string"},
		{types.NewSlice(text), "string"},
		{types.NewArray(number, 2), "int"},
		{types.NewChan(types.SendRecv, text), "string"},
		{types.NewMap(text, number), "string int"},
		{types.NewStruct([]*types.Var{field, types.NewField(0, nil, "B", number, false)}, nil), "string int"},
		{types.NewTuple(field, field), "string string"},
		{types.NewSignatureType(nil, nil, nil, types.NewTuple(field), nil, false), ""},
		{types.NewNamed(types.NewTypeName(0, nil, "N", nil), types.NewSlice(number), nil), "int"},
	} {
		var parts []string
		for part := range Parts(test.of) {
			parts = append(parts, part.String())
		}
		if got := strings.Join(parts, " "); got != test.want {
			t.Errorf("Parts(%s) = %q, want %q", test.of, got, test.want)
		}
	}
	for of, want := range map[types.Type]bool{text: true, types.Typ[types.Invalid]: false, types.NewMap(text, types.Typ[types.Invalid]): false} {
		if got := Compiles(of); got != want {
			t.Errorf("Compiles(%s) = %v, want %v", of, got, want)
		}
	}
}
