// SPDX-License-Identifier: Apache-2.0

package diag_test

import (
	"fmt"
	"go/token"

	"github.com/informer-gen/informer-gen/internal/diag"
)

// Findings are added in any order and shown sorted, one a line.
func ExampleList() {
	var list diag.List
	list.Add(diag.Diagnostic{
		Pos:     token.Position{Filename: "api/types.go", Line: 31, Column: 4},
		Marker:  "+genclient:onlyVerbs",
		Message: `unknown verb "lst"` + diag.DidYouMean("lst", []string{"get", "list", "watch"}),
		Allowed: []string{"get", "list", "watch"},
	})
	list.Add(diag.Diagnostic{
		Pos:     token.Position{Filename: "api/types.go", Line: 7, Column: 1},
		Message: "the package has no group",
		Warning: true,
	})
	fmt.Println(list.Sorted())
	// Output:
	// api/types.go:7:1: warning: the package has no group
	// api/types.go:31:4: +genclient:onlyVerbs: unknown verb "lst", did you mean list? (allowed: get, list, watch)
}
