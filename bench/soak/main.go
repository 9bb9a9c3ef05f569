// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	"k8s.io/klog/v2"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if isChild() {
		// A signal may reach both; the parent ends the child when it is done with it.
		if err := serve(context.WithoutCancel(ctx)); err != nil {
			fmt.Fprintln(os.Stderr, "soak: server:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return
		}
		fmt.Fprintln(os.Stderr, "soak:", err)
		stop()
		os.Exit(1)
	}
}

type options struct {
	minutes             float64
	rate                float64
	informers, handlers int
	faults              time.Duration
	seed                uint64
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("soak", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Float64Var(&o.minutes, "minutes", 3, "how long")
	flags.Float64Var(&o.rate, "rate", 2000, "watch events a second, of all informers together")
	flags.IntVar(&o.informers, "informers", 20, "informers")
	flags.IntVar(&o.handlers, "handlers", 50, "handlers, of all informers together")
	flags.DurationVar(&o.faults, "faults", 10*time.Second, "time between two faults; 0: none")
	flags.Uint64Var(&o.seed, "seed", 0, "of faults and writes; 0: another one each time")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.seed == 0 {
		o.seed = rand.Uint64N(1 << 32)
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.minutes <= 0:
		return o, fmt.Errorf("--minutes is %v; want more than 0", o.minutes)
	case o.rate <= 0:
		return o, fmt.Errorf("--rate is %v; want more than 0", o.rate)
	case o.informers < 1:
		return o, fmt.Errorf("--informers is %d; want 1 or more", o.informers)
	case o.handlers < o.informers:
		return o, fmt.Errorf("--handlers is %d; want at least one for each informer, %d", o.handlers, o.informers)
	case o.faults < 0:
		return o, fmt.Errorf("--faults is %v; want 0 or more", o.faults)
	}
	return o, nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	klog.SetLogger(logr.Discard()) // faults are what is wanted; what comes of them is counted

	dir, err := os.MkdirTemp("", "soak-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s := &soak{options: o, out: stdout, wrong: &problems{}}
	before, ignored := measure(), goleak.IgnoreCurrent()
	informers, err := s.do(ctx, dir)
	if err != nil {
		return errors.Join(err, s.wrong.err())
	}
	s.report()
	s.released(before, ignored, informers)
	return s.verdict()
}
