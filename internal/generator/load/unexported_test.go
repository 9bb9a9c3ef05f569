// SPDX-License-Identifier: Apache-2.0

package load

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

func TestDropUnexported(t *testing.T) {
	files := []string{`package p

import "fmt"

type T struct{ a [size]int }

const size = len(list)

var list = [...]int{first}

var first = 1

var other, unused = fmt.Sprint(1), 2

var _ fmt.Stringer = T{}

func (T) String() string { return "" }

func (T) method() {}

func unexported() {}

func init() {}
`, `package p

var (
	V = made()
	v = 3
	x, Y = 1, 2
)

func made() int { return 1 }

func F(_ [length]int) {}

var length = 1
`}
	var parsed []*ast.File
	for _, text := range files {
		file, err := parser.ParseFile(token.NewFileSet(), "", text, 0)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, file)
	}
	dropUnexported(parsed)
	var got []string
	for _, file := range parsed {
		for _, decl := range file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				got = append(got, decl.Name.Name)
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						got = append(got, spec.Name.Name)
					case *ast.ValueSpec:
						for _, name := range spec.Names {
							got = append(got, name.Name)
						}
					}
				}
			}
		}
	}
	slices.Sort(got)
	if got, want := strings.Join(got, " "), "F String T V Y first length list made method size x"; got != want {
		t.Errorf("there are still %s, want %s", got, want)
	}
}
