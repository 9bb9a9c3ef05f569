// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"strings"
	"testing"
)

// olderProjects require older Kubernetes libraries than this module, and a controller-runtime that
// doesn't compile with newer ones. They have no informers of their own to compare.
var olderProjects = []struct {
	project
	libraries, controllerRuntime string // their versions
}{
	{project{name: "karpenter", inputs: []string{"sigs.k8s.io/karpenter/pkg/apis/..."}}, "v0.34.1", "v0.22.1"},
	{project{name: "chaosmesh", inputs: []string{"github.com/chaos-mesh/chaos-mesh/api/v1alpha1"}}, "v0.35.3", "v0.23.3"},
}

// TestOlderLibraries: with the generator as a tool and with generated code, a module keeps the
// library versions of its project, and compiles.
func TestOlderLibraries(t *testing.T) {
	for _, p := range olderProjects {
		t.Run(p.name, func(t *testing.T) {
			m := newModule(t, p.project, "older")
			if *update {
				m.run(t, "go", "mod", "tidy", "-e") // nothing is generated yet
			}
			m.run(t, "go", append([]string{"tool", "informer-gen"}, p.inputs...)...)
			// Type-checking is much faster than compiling the libraries.
			if _, err := load(m.dir, allSource, nil, "./..."); err != nil {
				t.Error(err)
			}
			m.checkRequirements(t)
			for module, want := range map[string]string{
				"k8s.io/api": p.libraries, "k8s.io/apimachinery": p.libraries, "k8s.io/client-go": p.libraries,
				"sigs.k8s.io/controller-runtime": p.controllerRuntime,
			} {
				if got := strings.TrimSpace(m.run(t, "go", "list", "-m", "-f", "{{.Version}}", module)); got != want {
					t.Errorf("go list -m %s = %s, want %s", module, got, want)
				}
			}
		})
	}
}
