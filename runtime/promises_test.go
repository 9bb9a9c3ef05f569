// SPDX-License-Identifier: Apache-2.0

package runtime_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// promises is the document that is checked here. Each section is a promise, "## 1. Title" and so
// on, and its last paragraph begins with "Tests:" and names them as folder.TestName.
const promises = "../docs/promises.md"

var promisedTest = regexp.MustCompile(`^TestPromise\d\d`)

// TestPromises: each has tests that exist, and each TestPromisenn is named by promise nn.
func TestPromises(t *testing.T) {
	text, err := os.ReadFile(filepath.FromSlash(promises))
	if err != nil {
		t.Fatal(err)
	}
	api, tests := newNames(t), testNames(t)
	counted := map[string]bool{}
	for i, section := range strings.Split(string(text), "\n## ")[1:] {
		if number := fmt.Sprintf("%d. ", i+1); !strings.HasPrefix(section, number) {
			t.Fatalf("%s: section %d does not begin with %q", promises, i+1, number)
		}
		words, proof, ok := strings.Cut(section, "\nTests: ")
		if !ok {
			t.Errorf("%s: promise %d names no tests", promises, i+1)
		}
		for _, name := range quoted(words) {
			if err := api.lookup(name); goName.MatchString(name) && err != nil {
				t.Errorf("%s: promise %d: `%s`: %v", promises, i+1, name, err)
			}
		}
		for _, name := range quoted(proof) {
			if err := tests.lookup(name); err != nil {
				t.Errorf("%s: promise %d: `%s`: %v", promises, i+1, name, err)
			}
			_, test, _ := strings.Cut(name, ".")
			if promisedTest.MatchString(test) && !strings.HasPrefix(test, fmt.Sprintf("TestPromise%02d", i+1)) {
				t.Errorf("%s: promise %d: `%s` is a test of another promise", promises, i+1, name)
			}
			counted[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(tests.funcs)) {
		if _, test, _ := strings.Cut(name, "."); promisedTest.MatchString(test) && !counted[name] {
			t.Errorf("%s: its promise does not name `%s`", promises, name)
		}
	}
}
