// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"fmt"
	"go/token"
	"testing"

	"github.com/informer-gen/informer-gen/internal/diag"
)

func TestMissingSumsAreOneFindingWithTheCommand(t *testing.T) {
	const missing = "could not import k8s.io/%s (missing go.sum entry for module providing package k8s.io/%[1]s (imported by example.com/%[1]s); to add: go get example.com/%[1]s@v1.2.3)"
	findings := func(warning bool) diag.List {
		var list diag.List
		for line, name := range []string{"b", "a", "b"} {
			list.Add(diag.Diagnostic{Pos: token.Position{Filename: "f.go", Line: line + 1, Column: 1}, Warning: warning, Message: fmt.Sprintf(missing, name)})
		}
		list.Add(diag.Diagnostic{Pos: token.Position{Filename: "f.go", Line: 9, Column: 1}, Warning: warning, Message: "undefined: x"})
		return list
	}
	const command = "go.sum has no entries for modules that the packages need: run go get example.com/a@v1.2.3 example.com/b@v1.2.3"
	for _, test := range []struct {
		findings diag.List
		want     string
	}{
		{findings(false), command},
		{findings(true), "warning: " + command + "\nf.go:9:1: warning: undefined: x"},
		{findings(false)[3:], "f.go:9:1: undefined: x"},
	} {
		if got := missingSums(test.findings, nil).Error(); got != test.want {
			t.Errorf("got\n%s\nwant\n%s", got, test.want)
		}
	}
}
