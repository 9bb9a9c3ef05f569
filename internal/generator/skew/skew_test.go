// SPDX-License-Identifier: Apache-2.0

package skew

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	for _, tc := range []struct {
		lines, why string
		line       int
	}{
		{"", "", 0},
		{"require k8s.io/api v0.33.9\nrequire k8s.io/apimachinery v0.33.9", "", 0},
		{"require k8s.io/api v0.32.0", "", 0}, // is raised by the runtime
		{"require k8s.io/apimachinery v0.34.1", "generated code imports k8s.io/client-go, which must be as new as k8s.io/apimachinery: " +
			"run go get k8s.io/client-go@v0.34.1 before go mod tidy, which otherwise selects v0.33.0", 3},
		{"require k8s.io/apimachinery v0.37.1\nrequire k8s.io/api v0.37.2", "generated code imports k8s.io/client-go, " +
			"which must be as new as k8s.io/api: run go get k8s.io/client-go@v0.37.2 before go mod tidy, which otherwise selects v0.33.0", 4},
		{"require k8s.io/api v0.37.2\nrequire k8s.io/client-go v0.36.0 // indirect", "which otherwise selects v0.36.0", 3},
		{"require k8s.io/api v0.37.2\nrequire k8s.io/client-go v0.31.0 // indirect", "which otherwise selects v0.33.0", 3},
		{"require k8s.io/api v0.37.2\nrequire k8s.io/client-go v0.36.0", "", 0}, // imported already
		{"require k8s.io/api v0.37.2\nrequire k8s.io/client-go v0.37.0 // indirect", "", 0},
		{"require k8s.io/api v0.37.2\nreplace k8s.io/client-go => ../client-go", "", 0},
		{"require k8s.io/api v0.0.0-20260820222146-c27c302e5fc3", "", 0},
		{"require k8s.io/api", "", 0}, // the go command reports it
	} {
		name := filepath.Join(t.TempDir(), "go.mod")
		if err := os.WriteFile(name, []byte("module example.com/shop\n\n"+tc.lines+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		missing, why, line := Find(name), "", 0
		if missing != nil {
			why, line = missing.Why(), missing.Line
		}
		if (why == "") != (tc.why == "") || !strings.HasSuffix(why, tc.why) || line != tc.line {
			t.Errorf("Find of\n%s\n= line %d: %q, want line %d: %q", tc.lines, line, why, tc.line, tc.why)
		}
	}
	if missing := Find(filepath.Join(t.TempDir(), "go.mod")); missing != nil {
		t.Error("Find of a missing file:", missing.Why())
	}
}

// The runtime's go.mod requires the oldest version.
func TestOldestIsRequiredByTheRuntime(t *testing.T) {
	own, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if line := "\t" + path + " " + oldest + "\n"; !strings.Contains(string(own), line) {
		t.Errorf("go.mod has no line %q", line)
	}
}
