// SPDX-License-Identifier: Apache-2.0

package runtime_test

import (
	"fmt"
	"go/ast"
	"go/doc"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// clientGo is the document that is checked here. All tables in it whose first title is # are one
// list of rows. In the third column, every name in backticks is one of ours, as package.Name or
// package.Type.Member; a cell that begins with "Not needed" needs none. In the last column, names
// in backticks are tests, as folder.TestName or folder.TestName/subtest.
const clientGo = "../docs/client-go.md"

// notNeeded is how a cell begins that says why there is nothing of ours.
const notNeeded = "Not needed: "

// named are the features that must have an answer of ours, and what they are about.
var named = map[string]string{
	"7": "wire formats", "16": "paged lists", "20": "backoff", "21": "page size", "22": "resync", "24": "opting out of watch-list",
	"25": "the watch error handler", "28": "bookmarks", "19": "the watch timeout", "32": "resourceVersions of relists",
	"14": "selectors and namespaces", "51": "key functions", "62": "the mutation detector", "70": "transform",
	"71": "the watch error handler", "73": "resync periods", "74": "filtering and detailed handlers", "82": "waiting for sync",
	"86": "metrics", "87": "logging", "91": "lister expansions", "96": "dynamic informers", "97": "metadata-only informers",
	"109": "Until and the retrying watch", "110": "the informer as a watch", "113": "watch-list",
}

// TestClientGoTablesAreComplete finds the rows that the tables lack, and those they have twice.
func TestClientGoTablesAreComplete(t *testing.T) {
	var want []string
	add := func(prefix string, from, to int) {
		for n := from; n <= to; n++ {
			want = append(want, prefix+strconv.Itoa(n))
		}
	}
	add("", 1, 118)
	add("I-", 1, 48)
	add("W-", 1, 22)
	add("W-", 29, 30)

	got := map[string]int{}
	for _, row := range clientGoRows(t) {
		id := row.cells[0]
		if line, ok := got[id]; ok {
			t.Errorf("%s row %s: it is in line %d already", at(row), id, line)
		}
		got[id] = row.line
		if !slices.Contains(want, id) {
			t.Errorf("%s row %q: there is no such row to answer", at(row), id)
		}
	}
	for _, id := range want {
		if got[id] == 0 {
			t.Errorf("%s has no row %s", clientGo, id)
		}
	}
}

// TestClientGoNamesExist looks up what the tables call ours, and the tests that they name.
func TestClientGoNamesExist(t *testing.T) {
	api, tests := newNames(t), testNames(t)
	for _, row := range clientGoRows(t) {
		id, here, proof := row.cells[0], row.cells[2], row.cells[3]
		names := quoted(here)
		for _, name := range names {
			if err := api.lookup(name); err != nil {
				t.Errorf("%s row %s: `%s`: %v", at(row), id, name, err)
			}
		}
		proofs := quoted(proof)
		for _, name := range proofs {
			if err := tests.lookup(name); err != nil {
				t.Errorf("%s row %s: `%s`: %v", at(row), id, name, err)
			}
		}
		if strings.HasPrefix(here, notNeeded) {
			if what, ok := named[id]; ok {
				t.Errorf("%s row %s: %s must have an answer", at(row), id, what)
			}
			continue
		}
		if isFeature(id) && len(names) == 0 {
			t.Errorf("%s row %s: it names nothing of ours; if a user needs nothing, begin with %q", at(row), id, notNeeded)
		}
		if len(proofs) == 0 {
			t.Errorf("%s row %s: no test or example is named", at(row), id)
		}
	}
}

// TestClientGoTextNamesExist looks up the names between and in all tables, whatever column they
// stand in.
func TestClientGoTextNamesExist(t *testing.T) {
	text, err := os.ReadFile(filepath.FromSlash(clientGo))
	if err != nil {
		t.Fatal(err)
	}
	api, tests := newNames(t), testNames(t)
	for n, line := range strings.Split(string(text), "\n") {
		for _, name := range quoted(line) {
			if goName.MatchString(name) && api.lookup(name) != nil && tests.lookup(name) != nil {
				t.Errorf("%s:%d: `%s`: neither a name of the runtime or of generated code, nor a test", clientGo, n+1, name)
			}
		}
	}
}

var goName = regexp.MustCompile(`^[a-z]\w*\.[A-Z]`)

// mirrored are tests of client-go that the table must have.
var mirrored = []string{
	"TestAddWhileActive", "TestBackoffOnTooManyRequests", "TestCache", "TestDynamicSharedInformerFactory", "TestEventPanics",
	"TestHammerController", "TestIndex", "TestListAll", "TestMetadataSharedInformerFactory", "TestMultiIndexKeys",
	"TestNewReflectorWithCustomBackoff", "TestNoRelistOnTooManyRequests", "TestPanicPropagated",
	"TestReflectorExpiredExactResourceVersion", "TestReflectorFullListIfExpired", "TestReflectorFullListIfTooLarge",
	"TestReflectorListAndWatch", "TestReflectorPaginatingNonConsistentReadsIfWatchCacheDisabled",
	"TestReflectorResourceVersionUpdate", "TestReflectorResyncWithResourceVersion", "TestReplaceEvents", "TestShutdown",
	"TestSyncResult", "TestTransformingInformer", "TestTransformingInformerRace", "TestUpdate", "TestWaitFor", "TestWatchList",
	"TestWatchTimeout",
}

// TestClientGoMirrorsExist looks at the table of client-go's tests: each row names tests of ours
// that exist.
func TestClientGoMirrorsExist(t *testing.T) {
	tests, lines := testNames(t), map[string]int{}
	for _, row := range tableAfter(t, clientGo, "## Tests of client-go that are mirrored") {
		for _, theirs := range strings.Split(row.cells[0], ", ") {
			theirs, _, _ = strings.Cut(theirs, " ")
			if line, ok := lines[theirs]; ok {
				t.Errorf("%s %s: it is in line %d already", at(row), theirs, line)
			}
			lines[theirs] = row.line
		}
		names := quoted(row.cells[1])
		if len(names) == 0 {
			t.Errorf("%s %s: no test of ours is named", at(row), row.cells[0])
		}
		for _, name := range names {
			if err := tests.lookup(name); err != nil {
				t.Errorf("%s %s: `%s`: %v", at(row), row.cells[0], name, err)
			}
		}
		if len(row.cells) < 3 || row.cells[2] == "" {
			t.Errorf("%s %s: the deviation is empty; write none", at(row), row.cells[0])
		}
	}
	for _, theirs := range mirrored {
		if lines[theirs] == 0 {
			t.Errorf("%s does not say what mirrors %s", clientGo, theirs)
		}
	}
}

// TestClientGoFaultsAreCounted wants a TestFaultWnn in each row W-n, and each such test in its row.
func TestClientGoFaultsAreCounted(t *testing.T) {
	tests, counted := testNames(t), map[string]bool{}
	for _, row := range clientGoRows(t) {
		number, ok := strings.CutPrefix(row.cells[0], "W-")
		if !ok {
			continue
		}
		prefix := fmt.Sprintf("TestFaultW%02s", number)
		found := false
		for _, name := range quoted(row.cells[3]) {
			_, test, _ := strings.Cut(name, ".")
			if strings.HasPrefix(test, prefix) {
				counted[name], found = true, true
			}
		}
		if !found {
			t.Errorf("%s row %s: no test %s… is named", at(row), row.cells[0], prefix)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(tests.funcs)) {
		if _, test, _ := strings.Cut(name, "."); numberedTest.MatchString(test) && !counted[name] {
			t.Errorf("%s: the row of `%s` does not name it", clientGo, name)
		}
	}
}

var numberedTest = regexp.MustCompile(`^TestFaultW\d\d`)

// TestClientGoSaysNothingIsOpen finds words that a finished table does not have.
func TestClientGoSaysNothingIsOpen(t *testing.T) {
	text, err := os.ReadFile(filepath.FromSlash(clientGo))
	if err != nil {
		t.Fatal(err)
	}
	for n, line := range strings.Split(string(text), "\n") {
		if word := open.FindString(line); word != "" {
			t.Errorf("%s:%d: the word %q: say what there is, or why nobody needs it", clientGo, n+1, word)
		}
	}
}

var open = regexp.MustCompile(`(?i)\b(missing|todo|planned|tbd|not yet|unimplemented)\b`)

// clientGoRows are the rows of all tables of clientGo that begin with a column #.
func clientGoRows(t *testing.T) []tableRow {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(clientGo))
	if err != nil {
		t.Fatal(err)
	}
	var rows []tableRow
	var columns int // of the table that is being read; 0 outside
	for n, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		switch cells := cellsOf(line); {
		case !strings.HasPrefix(line, "|"):
			columns = 0
		case cells[0] == "#":
			columns = len(cells)
			if columns != 4 {
				t.Fatalf("%s:%d: a table has %d columns; want 4", clientGo, n+1, columns)
			}
		case columns == 0 || dashes.MatchString(strings.Join(cells, "")):
		case len(cells) != columns:
			t.Fatalf("%s:%d: row %s has %d cells; its table has %d columns (write a bar as \\|)", clientGo, n+1, cells[0], len(cells), columns)
		default:
			rows = append(rows, tableRow{n + 1, cells})
		}
	}
	return rows
}

func at(row tableRow) string { return fmt.Sprintf("%s:%d:", clientGo, row.line) }

func isFeature(id string) bool { return !strings.Contains(id, "-") }

// TestPackageDocs wants of each package that others may import: what it says about goroutines and
// about what waits, and an example with output for what a user does first.
func TestPackageDocs(t *testing.T) {
	examples := map[string]bool{} // folders
	docs := map[string]string{}
	for file, name := range packageFiles(t) {
		folder := filepath.ToSlash(filepath.Dir(filepath.Join("runtime", name)))
		if strings.HasSuffix(name, "_test.go") {
			for _, example := range doc.Examples(file) {
				examples[folder] = examples[folder] || example.Output != "" || example.EmptyOutput
			}
			continue
		}
		docs[folder] += file.Doc.Text()
	}
	for _, pkg := range exportedPackages(t) {
		folder := strings.TrimPrefix(pkg.Path(), module)
		if folder == "runtime" {
			continue
		}
		if text := strings.ToLower(docs[folder]); !strings.Contains(text, "goroutine") {
			t.Errorf("the documentation of package %s does not say which goroutines there are, or that there are none", folder)
		} else if !strings.Contains(text, "block") && !strings.Contains(text, "wait") {
			t.Errorf("the documentation of package %s does not say what blocks", folder)
		}
		// An example has no *testing.T, which these need.
		forTests := folder == "testkit/storetest" || folder == "testkit/controllertest"
		if !examples[folder] && !forTests {
			t.Errorf("package %s has no example with output", folder)
		}
	}
}

// packageFiles yields the Go files of the packages that others may import, and of those below them.
func packageFiles(t *testing.T) func(yield func(*ast.File, string) bool) {
	return func(yield func(*ast.File, string) bool) {
		for _, folder := range []string{".", "../server", "../testkit"} {
			for file, name := range goFiles(t, folder) {
				if !yield(file, name) {
					return
				}
			}
		}
	}
}
