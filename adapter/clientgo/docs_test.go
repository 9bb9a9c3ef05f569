// SPDX-License-Identifier: Apache-2.0

package clientgo_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestThePageNamesTests: the tests that docs/migrate.md names exist.
func TestThePageNamesTests(t *testing.T) {
	page, err := os.ReadFile("../../docs/migrate.md")
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for _, folder := range []string{".", "../controllerruntime", "../../test/interop/controllerruntime"} {
		files, err := filepath.Glob(folder + "/*_test.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			code.Write(content)
		}
	}
	names := regexp.MustCompile(`\bTest[A-Z]\w+`).FindAllString(string(page), -1)
	if len(names) < 10 {
		t.Errorf("docs/migrate.md names only the tests %q", names)
	}
	for _, name := range names {
		if !strings.Contains(code.String(), "func "+name+"(t *testing.T)") {
			t.Errorf("docs/migrate.md names %s, which does not exist", name)
		}
	}
}
