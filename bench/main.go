// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/report"
)

// benches are all there are, in the order of the table.
func benches() []harness.Bench {
	return slices.Concat(httpBenches(), projectionBenches(), transformBenches(), checkpointBenches(), keptBenches(), adapterBenches(), microBenches())
}

func main() {
	if harness.PlayRole(benches()) {
		return
	}
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return
		}
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type options struct {
	runs     int
	only     []harness.Bench
	side     harness.Side  // "": all
	pages    *report.Pages // where the table goes besides; nil: nowhere
	children harness.Children
}

func parse(args []string, stderr io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&o.runs, "n", 5, "runs of each benchmark and side, of which the median is shown")
	only := flags.String("only", "", "comma-separated names of benchmarks, or the beginnings of names up to a slash")
	on := flags.String("side", "", "measure this side only: informer-gen, client-go, …")
	md := flags.Bool("md", false, "write the rows into docs/benchmarks.md, and the README's rows and picture, as well; in the root of the repository")
	flags.StringVar(&o.children.CPUProfile, "cpuprofile", "", "write a CPU profile of the last run to this file; needs --side")
	flags.StringVar(&o.children.MemProfile, "memprofile", "", "write a profile of all allocations of the last run to this file; needs --side")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	o.side = harness.Side(*on)
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q; benchmarks are chosen with --only", flags.Arg(0))
	case o.runs < 1:
		return o, fmt.Errorf("-n is %d; want 1 or more", o.runs)
	case o.side == "" && o.children != harness.Children{}:
		return o, errors.New("a profile is of one side; choose it with --side")
	}
	if o.only, err = harness.Choose(benches(), *only); err != nil {
		return o, fmt.Errorf("--only: %w", err)
	}
	if *md {
		if o.side != "" {
			return o, errors.New("--md writes rows with both sides; leave --side out")
		}
		if o.pages, err = report.OpenPages("."); err != nil {
			return o, fmt.Errorf("--md: %w", err)
		}
	}
	if o.side != "" && !slices.ContainsFunc(o.only, func(b harness.Bench) bool { return slices.Contains(b.Sides(), o.side) }) {
		return o, fmt.Errorf("--side: %q takes no part in what --only has chosen", o.side)
	}
	return o, nil
}

func run(args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	return o.print(stdout, full)
}

// print runs what was chosen and writes the table, and the pages if there are any.
func (o options) print(stdout io.Writer, z harness.Sizes) error {
	began := time.Now()
	var page bytes.Buffer
	printers := []report.Printer{{Out: stdout}, {Out: &page, Markdown: true}}
	for _, p := range printers {
		fmt.Fprintf(p.Out, "%s, %s %s/%s, %d cores, client-go %s; medians of %d alternating runs\n\n",
			began.Format(time.DateOnly), runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), clientGoVersion(), o.runs)
		p.Head()
	}
	var s harness.Server
	defer s.Stop()
	for _, b := range o.only {
		on := b.Sides()
		if o.side != "" {
			if !slices.Contains(on, o.side) {
				continue
			}
			on = []harness.Side{o.side}
		}
		address := ""
		if b.World != nil {
			var err error
			if address, err = s.Show(b.World(z)); err != nil {
				return fmt.Errorf("%s: preparing the server: %w", b.Name, err)
			}
		}
		for _, p := range printers {
			p.Title(b.Title(z) + " (" + b.Name + ")")
		}
		rows, err := b.RunAll(o.children.Launch, z, address, o.runs, on)
		if err != nil {
			return err
		}
		for _, p := range printers {
			p.Rows(rows)
		}
	}
	fmt.Fprintf(stdout, "\n"+notes, time.Since(began).Round(time.Second))
	if o.pages == nil {
		return nil
	}
	var order []string
	for _, b := range benches() {
		order = append(order, b.Name)
	}
	return o.pages.Write(page.String(), order)
}

const notes = `ratio: informer-gen's value over client-go's. short: informer-gen misses the mark. ±: half of the distance between the least
and the greatest run. beside: other peers, and lower bounds of the machine. What each row measures: go doc -cmd ./bench
It took %v.
`

// clientGoVersion is what this program was built with.
func clientGoVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range info.Deps {
		if m.Path == "k8s.io/client-go" {
			return m.Version
		}
	}
	return ""
}
