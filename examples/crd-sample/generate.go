// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/informer-gen/informer-gen/generator"
)

const program = "github.com/informer-gen/informer-gen/examples/crd-sample"

// generate updates the generated code, as go tool informer-gen does, with the settings of
// informer-gen.yaml. Without sources, it does nothing.
func generate(ctx context.Context, out *report) error {
	out.line("generate", "informers, listers and indexes for api/v1alpha1")
	began := time.Now()
	dir, err := exec.CommandContext(ctx, "go", "list", "-f", "{{.Dir}}", program).Output()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		out.line("", "skipped: the sources of %s are not here", program)
		return nil
	}
	files, err := generator.Generate(ctx, generator.Config{Dir: strings.TrimSpace(string(dir))})
	if err != nil {
		return fmt.Errorf("generate: %w", err)
	}
	report, err := files.Write()
	if err != nil {
		return fmt.Errorf("generate: %w", err)
	}
	changed := len(report.Created) + len(report.Changed) + len(report.Removed)
	out.line("", "%d files in generated/, %d changed, in %s", len(files.Files), changed, since(began))
	return nil
}
