// SPDX-License-Identifier: Apache-2.0

//lint:file-ignore SA5008 tests need odd tags
//lint:file-ignore U1000 tests need unused fields

package gotypes

import (
	"encoding/json"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// These structs are marshaled by encoding/json, and read as source by Fields.
type (
	jsonPlain struct {
		Tagged   string `json:"tagged,omitzero"`
		Untagged string
		Hidden   string `json:"-"`
		Dash     string `json:"-,"`
		private  string // ignored
	}
	jsonInline struct {
		JSONEmbedded `json:",inline"`
		*JSONPointer `json:",inline"`
		JSONNamed    `json:"named"`
		jsonPrivate
		JSONString
		jsonInt
		Own string `json:"own"`
	}
	JSONEmbedded struct {
		Own  int    `json:"own"` // hidden by the one above
		Deep string `json:"deep"`
		JSONDeeper
	}
	JSONDeeper struct {
		Deep   int `json:"deep"` // hidden by the one above
		Deeper int `json:"deeper"`
	}
	JSONPointer struct {
		FromPointer string `json:"fromPointer"`
	}
	JSONNamed struct {
		Inside string `json:"inside"`
	}
	jsonPrivate struct {
		FromPrivate string `json:"fromPrivate"`
	}
	JSONString string
	jsonInt    int

	jsonConflict struct {
		JSONLeft
		JSONRight
	}
	JSONLeft struct {
		Both   string // ambiguous, so neither is visible
		Tagged string
	}
	JSONRight struct {
		Both string
		Also string `json:"Tagged"` // a tag wins
	}
	jsonThree struct {
		JSONLeft
		JSONAlso
		JSONRight
	}
	JSONAlso struct {
		Tagged string
	}
	jsonDiamond struct {
		JSONOneSide
		JSONOtherSide
		*JSONDeepSide
		JSONNamed `json:""`
		JSONAlias
		JSONUnnamed
	}
	JSONOneSide   struct{ JSONTop }
	JSONOtherSide struct{ JSONTop }
	JSONDeepSide  struct{ JSONNearer }
	JSONNearer    struct{ JSONTop2 }
	JSONTop       struct{ Top string } // ambiguous, so it isn't visible
	JSONTop2      struct{ Top, Top2 string }
	JSONAlias     JSONBelow
	JSONBelow     struct {
		JSONNearer2
		Below string
	}
	JSONUnnamed   = struct{ Unnamed string }
	JSONNearer2   JSONBelow2
	JSONBelow2    struct{ Below2 string }
	jsonRecursive struct {
		*JSONRing
		Name string `json:"name"`
	}
	JSONRing struct {
		*JSONRing2
		Ring string `json:"ring"`
	}
	JSONRing2 struct {
		*JSONRing
		Ring2 string `json:"ring2"`
	}
)

func TestFieldsAreThoseOfEncodingJSON(t *testing.T) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "jsonfield_test.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	// Only the structs are of interest, and these import nothing.
	file.Decls = slices.DeleteFunc(file.Decls, func(d ast.Decl) bool {
		decl, ok := d.(*ast.GenDecl)
		return !ok || decl.Tok != token.TYPE
	})
	pkg, err := (&types.Config{Importer: importer.Default()}).Check("p", fset, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []any{
		jsonPlain{Tagged: "x"},
		jsonInline{JSONPointer: &JSONPointer{}},
		jsonConflict{},
		jsonThree{},
		jsonDiamond{JSONDeepSide: &JSONDeepSide{}},
		jsonRecursive{JSONRing: &JSONRing{JSONRing2: &JSONRing2{}}},
	} {
		name := reflect.TypeOf(value).Name()
		data, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		var object map[string]any
		if err := json.Unmarshal(data, &object); err != nil {
			t.Fatal(err)
		}
		want := slices.Sorted(maps.Keys(object))
		fields := Fields(pkg.Scope().Lookup(name).Type().Underlying().(*types.Struct))
		var got []string
		for _, f := range fields {
			got = append(got, f.Name)
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-json +ours):\n%s", name, diff)
		}
	}
}
