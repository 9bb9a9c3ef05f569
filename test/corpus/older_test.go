// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"strings"
	"testing"
)

// older are projects with Kubernetes libraries older than those of this module, and with a
// controller-runtime that doesn't compile with newer ones. They ship no informers that could be
// compared.
var older = []struct {
	project
	libraries, controllerRuntime string // their versions
}{
	{project{name: "karpenter", inputs: []string{"sigs.k8s.io/karpenter/pkg/apis/..."}}, "v0.34.1", "v0.22.1"},
	{project{name: "chaosmesh", inputs: []string{"github.com/chaos-mesh/chaos-mesh/api/v1alpha1"}}, "v0.35.3", "v0.23.3"},
}

// TestOlderLibraries: a module that has the generator as a tool, and what it writes, keeps the
// libraries that its project has, and compiles.
func TestOlderLibraries(t *testing.T) {
	for _, p := range older {
		t.Run(p.name, func(t *testing.T) {
			m := newModule(t, p.project, "older")
			if *update {
				m.run(t, "go", "mod", "tidy", "-e") // there is nothing generated yet
			}
			m.run(t, "go", append([]string{"tool", "informer-gen"}, p.inputs...)...)
			// This takes a fraction of the time of compiling the libraries.
			if _, err := load(m.dir, allSource, nil, "./..."); err != nil {
				t.Error(err)
			}
			m.checkRequirements(t)
			for module, want := range map[string]string{
				"k8s.io/api": p.libraries, "k8s.io/apimachinery": p.libraries, "k8s.io/client-go": p.libraries,
				"sigs.k8s.io/controller-runtime": p.controllerRuntime,
			} {
				if got := strings.TrimSpace(m.run(t, "go", "list", "-m", "-f", "{{.Version}}", module)); got != want {
					t.Errorf("%s: got %s, want %s", module, got, want)
				}
			}
		})
	}
}
