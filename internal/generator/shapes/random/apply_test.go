// SPDX-License-Identifier: Apache-2.0

package random

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/informer-gen/informer-gen/generator"
	"github.com/informer-gen/informer-gen/internal/projecttest"
)

// TestApplyConfigurationsSendTheSetFields generates the apply configurations of the types in a
// golden, and runs a program that sets random fields of them.
func TestApplyConfigurationsSendTheSetFields(t *testing.T) {
	dir := t.TempDir()
	archive, err := txtar.ParseFile(filepath.Join("..", "..", "..", "..", "testdata", "golden", "apply_fields.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	libraries := projecttest.Of(t)
	write(t, dir, "go.mod", "module "+module+"\n\ngo 1.26.0\n"+libraries.RequireItself())
	write(t, dir, "go.sum", libraries.Sums)
	t.Setenv("GOWORK", "off")
	t.Setenv("GOFLAGS", "-mod=mod")
	for _, file := range archive.Files {
		if strings.HasSuffix(file.Name, ".go") && !strings.HasPrefix(file.Name, "want/") {
			write(t, dir, file.Name, strings.ReplaceAll(string(file.Data), "example.com/apply_fields", module))
		}
	}
	generate(t, dir, generator.Config{Dir: dir, File: generator.NoFile, ApplyConfigurations: new(true)})
	write(t, dir, "main.go", fmt.Sprintf(`// Command random checks apply configurations.
package main

import (
	"os"

	v1 %q
	configurations %q
	"github.com/informer-gen/informer-gen/internal/generator/shapes/oracle"
)

func main() {
	if !oracle.Apply[*v1.Widget, configurations.WidgetApplyConfiguration](%d, func() *v1.Widget { return &v1.Widget{} }) {
		os.Exit(1)
	}
}
`, module+"/api/v1", module+"/generated/applyconfigurations/samples/v1", *seed))
	binary := filepath.Join(dir, "random.exe")
	for _, command := range [][]string{{"go", "build", "-ldflags=-s -w", "-o", binary, "."}, {binary}} {
		c := exec.CommandContext(t.Context(), command[0], command[1:]...)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("seed %d: %s: %v\n%s", *seed, strings.Join(command, " "), err, out)
		}
	}
}
