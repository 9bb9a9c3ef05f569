// SPDX-License-Identifier: Apache-2.0

package load

import (
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestErrorsAboutTests has messages of go list about wrong tests, and about other files.
func TestErrorsAboutTests(t *testing.T) {
	for e, want := range map[packages.Error]bool{
		{Pos: "api/v1/types_test.go:2:9", Msg: "expected 'package', found 'EOF'"}:            true,
		{Msg: "types_test.go: parsing //go:build line: unexpected token &&"}:                 true,
		{Msg: "use of cgo in test /m/api/v1/types_test.go not supported"}:                    true,
		{Msg: "found packages v1 (doc.go) and other (types_test.go) in /m/api/v1"}:           true,
		{Msg: "found packages other (a_test.go) and v1 (doc.go) in /m/api/v1"}:               false,
		{Msg: "found packages other (a_test.go) and another (b_test.go) in /m/api/v1"}:       false,
		{Msg: "found packages v1 (doc.go) and v2 (types.go) in /m/api/v1"}:                   false,
		{Pos: "api/v1/types.go:2:9", Msg: "expected 'package', found 'EOF'"}:                 false,
		{Pos: "api/v1/types.go:5:2", Msg: "no required module provides package x/y_test.go"}: false,
	} {
		if got := aboutTests(e); got != want {
			t.Errorf("aboutTests(%+v) = %v, want %v", e, got, want)
		}
	}
}
