// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"os"
	"testing"

	"golang.org/x/tools/txtar"
)

// TestProjectionDocsCompile generates code for the configuration file in docs/projections.md, and
// compiles the page's use of it.
func TestProjectionDocsCompile(t *testing.T) {
	text, err := os.ReadFile("../docs/projections.md")
	if err != nil {
		t.Fatal(err)
	}
	var config, usage string
	for _, m := range fence.FindAllStringSubmatch(string(text), -1) {
		switch language, part, code := m[1], m[2], m[3]; {
		case language == "yaml":
			config = code
		case part == "usage":
			usage += "{\n" + code + "}\n"
		case language != "text":
			t.Errorf("docs/projections.md has a block of unknown language %q:\n%s", language, code)
		}
	}
	g := &golden{name: "placed", archive: &txtar.Archive{Files: []txtar.File{
		{Name: "informer-gen.yaml", Data: []byte(config)},
		{Name: "generated/projections/usage/usage.go", Data: []byte(`package usage

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/placed/generated/informers"
	projections "example.com/placed/generated/projections/core/v1"
	"github.com/informer-gen/informer-gen/runtime/informer"
)

func usage(factory informers.SharedInformerFactory) (err error) {
` + usage + `
	return err
}
`)},
	}}}
	generateAndCompile(t, g)
}
