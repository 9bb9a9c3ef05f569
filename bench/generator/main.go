// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench/generator:", err)
		os.Exit(1)
	}
}

type options struct {
	runs     int
	only     []bench
	markdown bool
}

func parse(args []string, stderr io.Writer) (options, error) {
	o := options{only: benches}
	flags := flag.NewFlagSet("bench/generator", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&o.runs, "n", 5, "runs of each side, of which the median is shown")
	only := flags.String("only", "", "comma-separated parts of the table, of "+names())
	flags.BoolVar(&o.markdown, "md", false, "print Markdown")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q; parts are chosen with --only", flags.Arg(0))
	case o.runs < 1:
		return o, fmt.Errorf("-n is %d; want 1 or more", o.runs)
	}
	if *only != "" {
		o.only = nil
		for name := range strings.SplitSeq(*only, ",") {
			n := slices.IndexFunc(benches, func(b bench) bool { return b.name == name })
			if n < 0 {
				return o, fmt.Errorf("--only: there is no part %q; there are %s", name, names())
			}
			o.only = append(o.only, benches[n])
		}
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

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	progress := func(format string, args ...any) { fmt.Fprintf(stderr, format+"\n", args...) }
	progress("building the generators")
	rig, err := newRig(ctx)
	if err != nil {
		return err
	}
	defer rig.close()

	progress("generating once")
	sizes, err := rig.sizes(ctx)
	if err != nil {
		return err
	}
	t := table{markdown: o.markdown}
	t.rows = append(t.rows, sizes...)
	for _, b := range o.only {
		progress("%s: %d runs of each side", b.name, o.runs)
		rows, err := b.measure(ctx, rig, o.runs)
		if err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
		t.rows = append(t.rows, rows...)
	}
	fmt.Fprintf(stdout, "%s %s/%s, %d CPUs; k8s.io/api %s, %d packages; medians of %d runs, the sides in turn (smallest–largest)\n\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), rig.version, len(rig.packages), o.runs)
	_, err = io.WriteString(stdout, t.String())
	return err
}
