// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/report"
)

const theirs harness.Side = "lister-gen + informer-gen"

var sides = []harness.Side{harness.Ours, theirs}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var r *rig
	defer func() { r.close() }()
	program(func(b harness.Bench, e harness.Env) (harness.Outcome, error) {
		if r == nil {
			fmt.Fprintln(os.Stderr, "building the generators")
			var err error
			if r, err = newRig(ctx); err != nil {
				return harness.Outcome{}, err
			}
		}
		return r.once(ctx, b.Name, e.Side)
	}).Main()
}

func program(launch harness.Launch) report.Program {
	title := func(text string) func(harness.Sizes) string { return func(harness.Sizes) string { return text } }
	return report.Program{
		Name: "./bench/generator", Runs: 5, Library: "k8s.io/api", Against: string(theirs),
		Page: "docs/benchmarks.md", Begin: "<!-- bench: generator -->", Launch: launch,
		Benches: []harness.Bench{
			{Name: "generate", Title: title("generating informers and listers for all of k8s.io/api"), Against: theirs},
			{Name: "compile", Title: title("compiling what was generated"), Against: theirs},
		},
	}
}
