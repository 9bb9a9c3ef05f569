// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"time"
	"weak"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/bench/probe"
	"github.com/informer-gen/informer-gen/devserver"
	"github.com/informer-gen/informer-gen/devserver/control"
)

// patience bounds everything but the soak itself.
const patience = 2 * time.Minute

// heapGrowth is the allowed growth of the heap, for memory that net/http, encoding/json and reflect
// keep for the process.
const heapGrowth = 4 << 20

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if playServer(ctx) {
		return
	}
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// The environment gives the server's process the folder of its data and its address.
const (
	serverDir  = "SOAK_SERVER_DIR"
	serverAddr = "SOAK_SERVER_ADDR"
)

// playServer is the server if the environment asks for it, and reports whether it did.
func playServer(ctx context.Context) bool {
	dir := os.Getenv(serverDir)
	if dir == "" {
		return false
	}
	ctx = context.WithoutCancel(ctx) // an interrupt may reach both; the parent ends the child
	server, err := devserver.Start(ctx, devserver.Options{Addr: os.Getenv(serverAddr), Dir: dir, BuiltInKinds: true})
	if err == nil {
		err = errors.Join(control.Serve(ctx, server, os.Stdin, os.Stdout), server.Close())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak: server:", err)
		os.Exit(1)
	}
	return true
}

func startServer(ctx context.Context, dir, addr string) (*control.Process, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), serverDir+"="+dir, serverAddr+"="+addr)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return control.Start(ctx, cmd)
}

type options struct {
	minutes   float64
	rate      float64
	informers int
	faults    time.Duration
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("soak", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Float64Var(&o.minutes, "minutes", 3, "how long")
	flags.Float64Var(&o.rate, "rate", 200, "writes a second")
	flags.IntVar(&o.informers, "informers", 20, "informers, each with two handlers")
	flags.DurationVar(&o.faults, "faults", 10*time.Second, "time between two faults; 0: none")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 || o.minutes <= 0 || o.rate <= 0 || o.informers < 1 || o.faults < 0 {
		return o, fmt.Errorf("invalid arguments %q: want positive numbers", args)
	}
	return o, nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	klog.SetLogger(logr.Discard()) // faults are intended, and their effects are counted
	dir, err := os.MkdirTemp("", "soak-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	problems := &problemList{}
	before, ignored := probe.LiveHeap(), goleak.IgnoreCurrent()
	informers, err := soakIn(ctx, dir, o, stdout, problems)
	if err != nil {
		return errors.Join(err, problems.err())
	}
	after, left := remains(before, ignored, informers)
	fmt.Fprintf(stdout, "released: heap %.1f MB → %.1f MB\n", before/1e6, after/1e6)
	for _, what := range left {
		problems.add("%s", what)
	}
	if err := problems.err(); err != nil {
		return err
	}
	fmt.Fprintln(stdout, "every store and every handler agrees with the server, and nothing is left behind")
	return nil
}

// remains returns the leftovers of ended informers. Goroutines of closed connections end in their
// own time.
func remains(before float64, ignored goleak.Option, informers []weak.Pointer[sharedInformer]) (heap float64, left []string) {
	for end := time.Now().Add(patience / 6); ; time.Sleep(50 * time.Millisecond) {
		heap, left = probe.LiveHeap(), nil
		if err := goleak.Find(ignored); err != nil {
			left = append(left, err.Error())
		}
		for n, i := range informers {
			if i.Value() != nil {
				left = append(left, fmt.Sprintf("informer %d is still reachable", n))
			}
		}
		if heap > before+heapGrowth {
			left = append(left, fmt.Sprintf("%.1f MB of heap are left, %.1f MB before", heap/1e6, before/1e6))
		}
		if len(left) == 0 || time.Now().After(end) {
			return heap, left
		}
		runtime.GC()
	}
}

func hostOf(url string) string { return strings.TrimPrefix(url, "http://") }
