// SPDX-License-Identifier: Apache-2.0

package syntax_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"log"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/marker"
	"github.com/informer-gen/informer-gen/internal/generator/marker/syntax"
)

// Lines become typed markers; wrong ones are reported with their position.
func ExampleParse() {
	const src = `package v1

// Widget is a vending machine.
//
// +genclient
// +informer:index:name=ByNode,field=.spec.nodeName
// +informer:index:name=ByImage,path=.spec.image
type Widget struct{}
`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "types.go", src, parser.ParseComments)
	if err != nil {
		log.Fatal(err)
	}
	var report diag.List
	for _, lines := range syntax.Scan(fset, file).Types {
		markers := syntax.Parse(lines, &report)
		fmt.Println(marker.First[marker.Genclient](markers) != nil)
		for _, index := range marker.All[marker.Index](markers) {
			fmt.Println(index.Name.Text, index.Fields[0].Text)
		}
	}
	fmt.Println(report)
	// Output:
	// true
	// ByNode .spec.nodeName
	// types.go:7:33: +informer:index: unknown argument path (allowed: name, field, func, owner, when, namespaced, projection)
}
