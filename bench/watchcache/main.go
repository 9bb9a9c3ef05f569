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

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/report"
	"github.com/informer-gen/informer-gen/bench/watchcache/local"
	"github.com/informer-gen/informer-gen/bench/watchcache/remote"
)

// page shows the table, below the repository's root.
const page = "docs/watchcache.md"

// benches are all there are, in the order of the table.
func benches() []harness.Bench {
	return []harness.Bench{
		deliverBench(1, 100), deliverBench(10, 10), eventsBench(), freshBench(), slowBench(),
		idleBench(), idleHTTPBench(), fieldsBench(), readsBench(), heapBench(),
	}
}

func main() {
	klog.SetLogger(klog.Logger{}) // of the API server's libraries
	if remote.PlayRole() || harness.PlayRole(benches()) {
		return
	}
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return
		}
		fmt.Fprintln(os.Stderr, "watchcache:", err)
		os.Exit(1)
	}
}

type options struct {
	runs     int
	only     []harness.Bench
	side     harness.Side // "": all
	sizes    harness.Sizes
	page     *report.Page // where the table goes besides; nil: nowhere
	children harness.Children
}

func parse(args []string, stderr io.Writer) (o options, err error) {
	o.sizes = harness.Sizes{CRs: 10_000, Watchers: 1000}
	flags := flag.NewFlagSet("watchcache", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&o.runs, "n", 2, "runs of each benchmark and side, of which the median is shown")
	flags.DurationVar(&o.sizes.Window, "load", 10*time.Second, "how long a load lasts; that of a cache that has just begun lasts three times as long")
	only := flags.String("only", "", "comma-separated names of benchmarks, or the beginnings of names up to a slash")
	on := flags.String("side", "", "measure this side only: informer-gen, cacher or devserver")
	md := flags.Bool("md", false, "write "+page+" as well; in the root of the repository")
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
	case o.sizes.Window <= 0:
		return o, fmt.Errorf("--load is %v; want a positive time", o.sizes.Window)
	case o.side == "" && o.children != harness.Children{}:
		return o, errors.New("a profile is of one side; choose it with --side")
	case *md && (*only != "" || o.side != ""):
		return o, errors.New("--md writes the whole table; leave --only and --side out")
	}
	if o.only, err = harness.Choose(benches(), *only); err != nil {
		return o, fmt.Errorf("--only: %w", err)
	}
	if o.side != "" {
		o.only = slices.DeleteFunc(o.only, func(b harness.Bench) bool { return !slices.Contains(b.Sides(), o.side) })
		if len(o.only) == 0 {
			return o, fmt.Errorf("--side: %q takes no part in what --only has chosen", o.side)
		}
	}
	if *md {
		if o.page, err = report.OpenPage(page); err != nil {
			return o, fmt.Errorf("--md: %w", err)
		}
	}
	return o, nil
}

func run(args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	return o.print(stdout)
}

// print runs what was chosen and writes the table, and the page if there is one.
func (o options) print(stdout io.Writer) error {
	began := time.Now()
	var text bytes.Buffer
	printers := []report.Printer{{Out: stdout, Against: against}, {Out: &text, Markdown: true, Against: against}}
	for _, p := range printers {
		fmt.Fprintf(p.Out, "%s, %s %s/%s, %d cores, k8s.io/apiserver %s; medians of %d alternating runs\n\n",
			began.Format(time.DateOnly), runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), apiserverVersion(), o.runs)
		p.Head()
	}
	for _, b := range o.only {
		on := b.Sides()
		if o.side != "" {
			on = []harness.Side{o.side}
		}
		for _, p := range printers {
			p.Title(fmt.Sprintf("%s, beside the %s (%s)", b.Title(o.sizes), b.Against, b.Name))
		}
		rows, err := b.RunAll(o.children.Launch, o.sizes, "", o.runs, on)
		if err != nil {
			return err
		}
		for _, p := range printers {
			p.Rows(rows)
		}
	}
	fmt.Fprintf(stdout, "\n"+notes, time.Since(began).Round(time.Second))
	if o.page == nil {
		return nil
	}
	return o.page.Write(text.String())
}

// against is the head of the column of the other side.
const against = string(local.Cacher) + " or " + string(remote.Devserver)

const notes = `ratio: informer-gen's value over the other one's. short: informer-gen misses the mark. ±: half of the distance between the
least and the greatest run. What each row measures: go doc -cmd ./bench/watchcache
It took %v.
`

// apiserverVersion is what this program was built with.
func apiserverVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range info.Deps {
		if m.Path == "k8s.io/apiserver" {
			return m.Version
		}
	}
	return ""
}
