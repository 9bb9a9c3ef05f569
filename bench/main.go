// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"strings"

	"k8s.io/klog/v2"
)

// benches are all there are, in the order of the table.
var benches = []bench{
	syncBench("sync", "watch-list", false),
	syncBench("sync-list", "list", true),
	eventBench("event", 1, false),
	eventBench("event-10", 10, false),
	eventBench("burst", 1, true),
	eventBench("burst-10", 10, true),
	storeBench(),
	readersBench(),
	stallBench(),
	lateBench(),
	idleBench(),
}

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return
		}
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type options struct {
	objects, runs          int
	only                   []bench
	on                     []side
	cpuProfile, memProfile string
}

func parse(args []string, stderr io.Writer) (options, error) {
	o := options{only: benches, on: sides}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&o.objects, "objects", 20_000, "Pods in a sync; the other sizes grow with it")
	flags.IntVar(&o.runs, "runs", 3, "runs of each benchmark and side, of which the median is shown")
	only := flags.String("only", "", "comma-separated benchmarks, of "+names())
	on := flags.String("side", "", "measure one side only: informer-gen or client-go")
	flags.StringVar(&o.cpuProfile, "cpuprofile", "", "write a CPU profile to this file; best with --only and --side")
	flags.StringVar(&o.memProfile, "memprofile", "", "write a profile of all allocations to this file; best with --only and --side")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q; benchmarks are chosen with --only", flags.Arg(0))
	case o.objects < 100:
		return o, fmt.Errorf("--objects is %d; want 100 or more", o.objects)
	case o.runs < 1:
		return o, fmt.Errorf("--runs is %d; want 1 or more", o.runs)
	}
	if *only != "" {
		o.only = nil
		for name := range strings.SplitSeq(*only, ",") {
			n := slices.IndexFunc(benches, func(b bench) bool { return b.name == name })
			if n < 0 {
				return o, fmt.Errorf("--only: there is no benchmark %q; there are %s", name, names())
			}
			o.only = append(o.only, benches[n])
		}
	}
	if *on != "" {
		n := slices.IndexFunc(sides, func(s side) bool { return s.String() == *on })
		if n < 0 {
			return o, fmt.Errorf("--side: %q is neither %v nor %v", *on, ours, clientGo)
		}
		o.on = sides[n : n+1]
	}
	return o, nil
}

func names() string {
	var list []string
	for _, b := range benches {
		list = append(list, b.name)
	}
	return strings.Join(list, ", ")
}

func run(args []string, stdout, stderr io.Writer) (err error) {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	klog.SetLogger(klog.Logger{}) // neither side's log belongs into the table, or into the figures

	if o.memProfile != "" {
		runtime.MemProfileRate = 64 << 10
		defer func() { err = errors.Join(err, writeFile(o.memProfile, pprof.Lookup("allocs"))) }()
	}
	if o.cpuProfile != "" {
		file, err := os.Create(o.cpuProfile)
		if err != nil {
			return err
		}
		defer file.Close()
		if err := pprof.StartCPUProfile(file); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}

	z := sizesFor(o.objects)
	fmt.Fprintf(stdout, "%s %s/%s, %d CPUs; medians of %d runs, the sides in turn, in one process\n\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), o.runs)
	p := printer{out: stdout, on: o.on}
	p.head(clientGoVersion())
	for _, b := range o.only {
		p.title(b.title(z))
		rows, err := b.runAll(z, o.runs, o.on)
		if err != nil {
			return err
		}
		p.rows(rows)
	}
	fmt.Fprint(stdout, notes)
	return nil
}

const notes = `
ratio: how many times better informer-gen is; below 1 it is worse.
Both sides are sent the same JSON, as they are for custom resources. Left to themselves, both ask for protobuf where the
kind has it, as Pods have. What each line measures: go doc -cmd ./bench
`

func writeFile(name string, profile *pprof.Profile) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(profile.WriteTo(file, 0), file.Close())
}

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
