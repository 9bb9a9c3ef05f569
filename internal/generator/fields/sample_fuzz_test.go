// SPDX-License-Identifier: Apache-2.0

package fields

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"testing"
)

// sampled is a kind that objects of a sample are measured as, whatever is in them.
const sampled = `package p

type Kind struct {
	Meta ` + "`json:\",inline\"`" + `
	Spec struct {
		Name  *string           ` + "`json:\"name\"`" + `
		Data  []byte            ` + "`json:\"data\"`" + `
		Parts []Part            ` + "`json:\"parts\"`" + `
		By    map[string][]Part ` + "`json:\"by\"`" + `
	} ` + "`json:\"spec\"`" + `
}

type Meta struct{ Labels map[string]string ` + "`json:\"labels\"`" + ` }

type Part struct{ Deep *Part ` + "`json:\"deep\"`" + `; N int ` + "`json:\"n\"`" + ` }
`

// FuzzReadSample: whatever is given as a sample, each object of it has a kind, and what is kept of
// it is no larger than it is.
func FuzzReadSample(f *testing.F) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", sampled, 0)
	if err != nil {
		f.Fatal(err)
	}
	pkg, err := (&types.Config{Importer: importer.Default()}).Check("p", fset, []*ast.File{file}, nil)
	if err != nil {
		f.Fatal(err)
	}
	kind := pkg.Scope().Lookup("Kind").Type()
	keep := selection{}
	for _, path := range []string{".labels", ".spec.name", ".spec.parts[*].deep.n", ".spec.by"} {
		keep.add(path)
	}
	narrow := keep.of(kind)
	for _, text := range []string{
		"", "[]", "null", `{"kind":"Pod","spec":{"name":"x","data":"eA==","parts":[{"deep":{"deep":null}},null,7],"by":{"a":[{"n":1e999}],"b":{}}},"labels":{"a":1}}`,
		`{"kind":"List","items":[{"kind":"Pod"},{"kind":"PodList","items":[{},{"kind":"","items":[]}]}]}{"kind":"NodeList","items":null}`, `{"kind":"PodList","items":[[]]}`, `{"kind":"Pod"} x`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ReadSample(bytes.NewReader(data))
		if err != nil {
			return
		}
		for name, objects := range s.byKind {
			for _, object := range objects {
				if own, ok := object["kind"].(string); name == "" || ok && own != name {
					t.Errorf("an object of kind %q is taken for a %q", own, name)
				}
				kept := keep.cut(object)
				if size(kept) > size(object) {
					before, _ := json.Marshal(object)
					after, _ := json.Marshal(kept)
					t.Errorf("of %s is kept %s", before, after)
				}
				if whole, part := heap(kind, object), heap(narrow, kept); part > whole || part < 0 {
					t.Errorf("%d bytes are kept of %d", part, whole)
				}
			}
		}
	})
}
