// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A package of generated informers compiles nothing of what decodes and shares: a function that is
// inlined into it, or a pointer that leads there, would make every such package compile all methods
// of types that it never uses.
func TestInformersDoNotCompileTheRuntimesInside(t *testing.T) {
	archive := filepath.Join(t.TempDir(), "informers.a")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", archive, "./generated/informers/core/v1")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	symbols, err := exec.CommandContext(t.Context(), "go", "tool", "nm", archive).Output()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(symbols), "PodInformer") {
		t.Fatal("the archive lacks the generated informer")
	}
	for _, inside := range []string{"runtime/internal/share.", "runtime/internal/adopt.", "runtime/source/internal/", "sync.HashTrieMap"} {
		for line := range strings.Lines(string(symbols)) {
			if strings.Contains(line, inside) {
				t.Errorf("%s is compiled: %.200s", inside, strings.TrimSpace(line))
				break
			}
		}
	}
}
