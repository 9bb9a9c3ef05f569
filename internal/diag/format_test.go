// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"encoding/json"
	"fmt"
	"go/token"
	"log"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGitHubEscapesDelimiters(t *testing.T) {
	for want, d := range map[string]Diagnostic{
		"::error::no type to generate for": {Message: "no type to generate for"},
		"::warning file=a%2Cb/c%3A%25.go,line=3,col=4,title=+genclient%3AonlyVerbs::100%25 wrong:%0Aall, of it (allowed: a, b)": {
			Pos:     token.Position{Filename: "a,b/c:%.go", Line: 3, Column: 4},
			Marker:  "+genclient:onlyVerbs",
			Message: "100% wrong:\nall, of it",
			Allowed: []string{"a", "b"},
			Warning: true,
		},
		"::error file=generated/x.go::stale%0D%0A": {Pos: token.Position{Filename: "generated/x.go"}, Message: "stale\r\n"},
	} {
		if diff := cmp.Diff(want, d.GitHub()); diff != "" {
			t.Error(diff)
		}
	}
}

func TestSuggestionReadsDidYouMean(t *testing.T) {
	for message, want := range map[string]string{
		"unknown" + DidYouMean("wach", []string{"watch"}) + " and more": "watch",
		"unknown" + DidYouMean("x", []string{"watch"}):                  "",
		"unknown, did you mean nothing":                                 "",
		"unknown marker, did you mean +genclient?":                      "+genclient",
	} {
		if got := (Diagnostic{Message: message}).Suggestion(); got != want {
			t.Errorf("Suggestion of %q = %q, want %q", message, got, want)
		}
	}
}

func ExampleDiagnostic_MarshalJSON() {
	list := List{{
		Pos:     token.Position{Filename: "api/types.go", Line: 31, Column: 4},
		Marker:  "+genclient:onlyVerbs",
		Message: `verb "lst" isn't known` + DidYouMean("lst", []string{"list"}),
		Allowed: []string{"list"},
	}, {Message: "no type to generate for"}}
	text, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(text))
	// Output:
	// [
	//   {
	//     "file": "api/types.go",
	//     "line": 31,
	//     "column": 4,
	//     "severity": "error",
	//     "marker": "+genclient:onlyVerbs",
	//     "message": "verb \"lst\" isn't known, did you mean list?",
	//     "allowed": [
	//       "list"
	//     ],
	//     "suggestion": "list"
	//   },
	//   {
	//     "severity": "error",
	//     "message": "no type to generate for"
	//   }
	// ]
}
