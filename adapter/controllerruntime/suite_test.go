// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Reasons why specs fail with this cache. docs/migrate.md has a row for each.
const (
	hasKind = "a handler gets objects with kind and apiVersion, and the test compares one with an object that has none"
	hasHook = "the test sets NewInformer to make an informer that does not sync"
)

// failingSpecs are the specs that fail with this cache, by the end of their name, with the reasons.
var failingSpecs = map[string]string{
	"should be able to get an informer by group/version/kind":        hasKind,
	"should be able to get informer for the object":                  hasKind,
	"should be able to get informer for the object without blocking": hasHook,
}

var failedSpec = regexp.MustCompile(`(?m)^ *\[FAIL\] (.*)$`)

// TestUpstreamSuite runs the published tests of controller-runtime's pkg/cache against a devserver.
// With their cache all specs pass. With this one all pass but failingSpecs.
func TestUpstreamSuite(t *testing.T) {
	bin := t.TempDir()
	forEachLine(t, func(t *testing.T, versions []string) {
		server := filepath.Join(bin, "devserver")
		goCommand(t, "../../devserver", "build", "-mod=readonly", "-o", server, "./cmd/devserver")
		dir := t.TempDir()
		write(t, filepath.Join(dir, "go.mod"), "module example.com/suite\n\ngo 1.26.0\n")
		goCommand(t, dir, "mod", "edit",
			"-require="+adapterModule+"@v0.1.0", "-replace="+adapterModule+"="+absolute(t, "."),
			"-require="+rootModule+"@v0.1.0", "-replace="+rootModule+"="+absolute(t, "../.."))
		goCommand(t, dir, append([]string{"get"}, versions...)...)
		theirs := strings.TrimSpace(string(goCommand(t, dir, "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/controller-runtime")))
		for _, file := range []string{"cache_suite_test.go", "cache_test.go", "informer_cache_test.go"} {
			code := read(t, filepath.Join(theirs, "pkg/cache", file))
			write(t, filepath.Join(dir, file), regexp.MustCompile(`\bcache\.New\b`).ReplaceAllString(code, "newCache"))
		}
		write(t, filepath.Join(dir, "main_test.go"), read(t, "testdata/suite_test.go"))
		goCommand(t, dir, "mod", "tidy")
		goCommand(t, dir, "test", "-vet=off", "-c", "-o", "suite", ".")

		for _, cache := range []string{"theirs", "ours"} {
			cmd := exec.CommandContext(t.Context(), server, "--built-in-kinds", "--", "./suite", "-ginkgo.no-color")
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "USE_EXISTING_CLUSTER=true", "SUITE_CACHE="+cache)
			out, err := cmd.CombinedOutput()
			if !strings.Contains(string(out), " Passed | ") {
				t.Fatalf("%s: %v\n%s", cache, err, out)
			}
			left := maps.Clone(failingSpecs)
			if cache == "theirs" {
				clear(left)
			}
			failed := map[string]bool{}
			for _, match := range failedSpec.FindAllStringSubmatch(string(out), -1) {
				failed[match[1]] = true
			}
			for _, spec := range slices.Sorted(maps.Keys(failed)) {
				known := false
				for name := range failingSpecs {
					if cache == "ours" && strings.HasSuffix(spec, " "+name) {
						known = true
						delete(left, name)
					}
				}
				if !known {
					t.Errorf("%s fails: %s", cache, spec)
				}
			}
			for name, why := range left {
				t.Errorf("the spec %q passes now: remove it from failingSpecs and docs/migrate.md (%s)", name, why)
			}
			t.Logf("%s: %d specs fail", cache, len(failed))
		}
	})
}
