// SPDX-License-Identifier: Apache-2.0

package report

import (
	"go/token"
	"testing"

	"github.com/informer-gen/informer-gen/internal/generator/marker"
)

func TestReportCollectsFindingsAndCountsErrors(t *testing.T) {
	r := New(token.NewFileSet(), "/module")
	pos := token.Position{Filename: "/module/api/types.go", Line: 3, Column: 5}
	at := marker.At{Name: "+genclient", Pos: pos}
	r.Warn(at, pos, "does nothing")
	r.WarnAt(pos, "is left out")
	if r.Errors() != 0 {
		t.Errorf("%d errors among warnings", r.Errors())
	}
	r.Fail(at, pos, "contradicts another one at "+r.Short(pos), "a", "b")
	r.FailAt(token.Position{}, "there is no package")
	r.Fork().FailAt(pos, "is not in r")
	const want = "/module/api/types.go:3:5: warning: +genclient: does nothing\n" +
		"/module/api/types.go:3:5: warning: is left out\n" +
		"/module/api/types.go:3:5: +genclient: contradicts another one at api/types.go:3 (allowed: a, b)\n" +
		"there is no package"
	if got := r.Findings().Error(); got != want || r.Errors() != 2 {
		t.Errorf("%d errors, got\n%s\nwant\n%s", r.Errors(), got, want)
	}
}
