// SPDX-License-Identifier: Apache-2.0

package report

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
)

// Program is a command that runs benchmarks.
type Program struct {
	Name    string // as in "./bench"
	Benches []harness.Bench
	Sizes   harness.Sizes
	Runs    int    // default of -n
	Library string // the module whose version the table names
	Against string // head of the column of the other side
	Page    string // below the root of the repository, for --md
	Begin   string // the line before the table on the page
	ReadMe  bool   // also writes rows into the README
	// Launch does a run; nil: in a process of its own.
	Launch harness.Launch
}

// Main is the main function.
func (p Program) Main() {
	if harness.PlayRole(p.Benches) {
		return
	}
	err := p.Run(os.Args[1:], os.Stdout, os.Stderr)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, p.Name+":", err)
		os.Exit(1)
	}
}

// Run runs the benchmarks chosen by the arguments.
func (p Program) Run(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet(p.Name, flag.ContinueOnError)
	flags.SetOutput(stderr)
	runs := flags.Int("n", p.Runs, "runs of each benchmark and side; the table shows the median")
	only := flags.String("only", "", "comma-separated names of benchmarks, or the beginnings of names up to a slash")
	side := flags.String("side", "", "measure this side only: informer-gen, client-go, …")
	profile := flags.String("cpuprofile", "", "write a CPU profile of the last run to this file; needs --side")
	md := flags.Bool("md", false, "write the whole table into "+p.Page+" as well; in the root of the repository")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch {
	case flags.NArg() > 0:
		return fmt.Errorf("unexpected argument %q; benchmarks are chosen with --only", flags.Arg(0))
	case *runs < 1:
		return fmt.Errorf("-n is %d; want 1 or more", *runs)
	case *side == "" && *profile != "":
		return errors.New("--cpuprofile needs a side; choose it with --side")
	case *md && (*only != "" || *side != ""):
		return errors.New("--md writes the whole table; leave --only and --side out")
	}
	chosen, err := harness.Choose(p.Benches, *only)
	if err != nil {
		return fmt.Errorf("--only: %w", err)
	}
	if *side != "" {
		chosen = slices.DeleteFunc(slices.Clone(chosen), func(b harness.Bench) bool { return !slices.Contains(b.Sides(), harness.Side(*side)) })
		if len(chosen) == 0 {
			return fmt.Errorf("--side: no chosen benchmark has the side %q", *side)
		}
	}
	if p.Launch == nil {
		p.Launch = harness.Children{CPUProfile: *profile}.Launch
	}
	if *md {
		if _, err := os.Stat(p.Page); err != nil {
			return fmt.Errorf("--md: %w; run it in the root of the repository", err)
		}
	}
	began := time.Now()
	var page bytes.Buffer
	all, err := p.measure(chosen, harness.Side(*side), *runs, printer{out: stdout}, printer{out: &page, markdown: true})
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "\nratio: informer-gen's value over the other side's; own: informer-gen's value alone. short: it misses the mark.\n"+
		"±: half of the distance between the least and the greatest run. What each row measures: go doc -cmd %s\nIt took %v.\n",
		p.Name, time.Since(began).Round(time.Second))
	if !*md {
		return nil
	}
	return p.write(page.String(), all)
}

// measure runs benchmarks, on one side or, with "", on both, and prints them.
func (p Program) measure(chosen []harness.Bench, side harness.Side, runs int, printers ...printer) (all []section, err error) {
	for _, to := range printers {
		fmt.Fprintf(to.out, "%s, %s %s/%s, %d cores, %s %s; medians of %d alternating runs\n\n", time.Now().Format(time.DateOnly),
			runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), p.Library, version(p.Library), runs)
		to.head(p.Against)
	}
	var server harness.Server
	defer server.Stop()
	for _, b := range chosen {
		on := b.Sides()
		if side != "" {
			on = []harness.Side{side}
		}
		address := ""
		if b.World != nil {
			if address, err = server.Show(b.World(p.Sizes)); err != nil {
				return nil, fmt.Errorf("%s: preparing the server: %w", b.Name, err)
			}
		}
		s := section{bench: b.Name, title: b.Title(p.Sizes)}
		if s.rows, err = b.RunAll(p.Launch, p.Sizes, address, runs, on); err != nil {
			return nil, err
		}
		all = append(all, s)
		for _, to := range printers {
			to.section(s)
		}
	}
	return all, nil
}

func (p Program) write(table string, all []section) error {
	if err := writeInto(p.Page, p.Begin, table); err != nil || !p.ReadMe {
		return err
	}
	for begin, text := range map[string]func([]section) (string, error){
		"<!-- bench: three numbers -->": threeNumbers, "<!-- bench: ten rows -->": tenRows,
	} {
		rows, err := text(all)
		if err != nil {
			return err
		}
		if err := writeInto("README.md", begin, rows); err != nil {
			return err
		}
	}
	return nil
}

func version(module string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == module {
				return m.Version
			}
		}
	}
	return ""
}
