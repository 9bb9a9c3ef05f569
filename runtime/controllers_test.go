// SPDX-License-Identifier: Apache-2.0

package runtime_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// controllers is the page about controllers, which is checked as clientGo is.
const controllers = "../docs/controllers.md"

// TestControllersInvariantsAreProven wants each invariant that applies, once, and tests of ours for
// it that exist; and tests for each thing that is decided.
func TestControllersInvariantsAreProven(t *testing.T) {
	tests := testNames(t)
	proven := func(row tableRow, proof string) {
		names := quoted(proof)
		if len(names) == 0 {
			t.Errorf("%s:%d: no test is named", controllers, row.line)
		}
		for _, name := range names {
			if err := tests.lookup(name); err != nil {
				t.Errorf("%s:%d: `%s`: %v", controllers, row.line, name, err)
			}
		}
	}
	for _, part := range []struct {
		invariants, decided string // headings
		first, last         int    // invariants that must be there
	}{
		{"### Invariants", "### Decided here", 1, 12},
		{"### Invariants of controllers", "### Decided for controllers", 13, 20},
		{"### Invariants of managers", "### Decided for managers", 21, 32},
	} {
		var missing []string
		for n := part.first; n <= part.last; n++ {
			missing = append(missing, fmt.Sprint("C-", n))
		}
		known := map[string]int{}
		for _, row := range tableAfter(t, controllers, part.invariants) {
			for id := range strings.SplitSeq(row.cells[0], ", ") {
				if line, ok := known[id]; ok {
					t.Errorf("%s:%d: row %s is in line %d already", controllers, row.line, id, line)
				}
				known[id] = row.line
				missing = slices.DeleteFunc(missing, func(other string) bool { return other == id })
			}
			proven(row, row.cells[2])
		}
		if len(missing) > 0 {
			t.Errorf("%s lacks the rows %s", controllers, strings.Join(missing, ", "))
		}
		for _, row := range tableAfter(t, controllers, part.decided) {
			proven(row, row.cells[2])
		}
	}
}

// TestControllersNamesExist looks up the names that the page has, wherever they stand.
func TestControllersNamesExist(t *testing.T) {
	text, err := os.ReadFile(filepath.FromSlash(controllers))
	if err != nil {
		t.Fatal(err)
	}
	api, tests := newNames(t), testNames(t)
	for n, line := range strings.Split(string(text), "\n") {
		for _, name := range quoted(line) {
			if goName.MatchString(name) && api.lookup(name) != nil && tests.lookup(name) != nil {
				t.Errorf("%s:%d: `%s`: neither a name of the runtime, nor a test", controllers, n+1, name)
			}
		}
	}
}
