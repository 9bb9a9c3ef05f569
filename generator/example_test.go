// SPDX-License-Identifier: Apache-2.0

package generator_test

import (
	"context"
	"fmt"
	"log"

	"github.com/informer-gen/informer-gen/generator"
)

// A program can generate code, or check existing code, without the command informer-gen.
func ExampleGenerate() {
	files, err := generator.Generate(context.Background(), generator.Config{
		Dir:      "..",
		File:     generator.NoFile,
		Patterns: []string{"k8s.io/api/coordination/v1"}, // or "./api/..."
		Output:   "leases",
	})
	if err != nil {
		log.Fatal(err) // generator.Findings, if comments or the configuration are wrong
	}
	changes, err := files.Diff() // Write writes them
	if err != nil {
		log.Fatal(err)
	}
	for _, change := range changes {
		fmt.Println(change.Kind, change.Path)
	}
	// Output:
	// missing leases/informers/coordination/v1/lease.go
	// missing leases/informers/coordination/v1/version.go
	// missing leases/informers/factory.go
	// missing leases/informers/groups.go
	// missing leases/informers/resource.go
	// missing leases/listers/coordination/v1/doc.go
	// missing leases/listers/coordination/v1/expansion_generated.go
	// missing leases/listers/coordination/v1/lease.go
}

// A program can show which types are generated, and the reasons.
func ExampleInspect() {
	inspection, err := generator.Inspect(context.Background(), generator.Config{
		Dir:      "..",
		File:     generator.NoFile,
		Patterns: []string{"k8s.io/api/policy/v1"},
		Output:   "policies",
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range inspection.Types {
		if t.Generated {
			fmt.Printf("%s: %s; %s\n", t.Name, t.Accessor, t.Reason.Text)
		} else {
			fmt.Printf("%s: not generated, by %s; %s\n", t.Name, t.Reason.From, t.Reason.Text)
		}
	}
	// Output:
	// PodDisruptionBudget: factory.Policy().V1().PodDisruptionBudgets(); +genclient selects it
	// Eviction: not generated, by +genclient:noVerbs; the API server doesn't offer the verb list for it
}
