// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocHasEveryFile shows that the list of files in the package's doc is complete.
func TestDocHasEveryFile(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, line := range regexp.MustCompile(`(?m)^//\t([a-z]+(?:, [a-z]+)*)  `).FindAllStringSubmatch(string(doc), -1) {
		listed = append(listed, strings.Split(line[1], ", ")...)
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for _, file := range files {
		if name := strings.TrimSuffix(file, ".go"); name != "doc" && !strings.HasSuffix(name, "_test") {
			want[name] = true
		}
	}
	for _, name := range listed {
		if !want[name] {
			t.Errorf("%s is no file, or is listed twice", name)
		}
		delete(want, name)
	}
	for name := range want {
		t.Errorf("%s.go is not in the list", name)
	}
}
