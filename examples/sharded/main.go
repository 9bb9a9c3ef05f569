// SPDX-License-Identifier: Apache-2.0

//go:build unix

// Command sharded shows how replicas of a program share the work of a controller, and what happens
// if one of them dies, hangs, comes or goes.
//
//	go run ./examples/sharded --replicas 3
//
// starts an API server in its own process, and replicas of itself as processes of their own. They
// are the members of one ring. A user writes requests into the ConfigMap "request" of each of
// twenty namespaces, and the members answer them in the ConfigMap "answer". Meanwhile the program
// kills, pauses, adds and stops members, tells what happens, and checks it: an audit in front of
// the API server sees each write. It takes about a quarter of a minute.
//
// With --controller-runtime, each replica has a manager and a controller of controller-runtime.
//
//	member.go             the replica: ring, informer, manager, controller
//	controllerruntime.go  the same with controller-runtime
//	story.go              the steps
//	replicas.go           the processes
//	user.go               the requests
//	audit.go              the checks
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/informer-gen/informer-gen/runtime/manager/shard"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt ends it at once
	err := run(ctx, os.Args[1:], os.Stdout)
	switch {
	case err == nil, errors.Is(err, pflag.ErrHelp):
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "sharded: interrupted")
	default:
		fmt.Fprintln(os.Stderr, "sharded:", err)
		os.Exit(1)
	}
}

// settings are the values of the flags, which all processes share.
type settings struct {
	args []string // the flags, for replicas
	ring shard.Options

	replicas, namespaces int
	pause                time.Duration // between an answer and the next request
	work                 time.Duration // that an answer takes
	verbose              bool
	controllerRuntime    bool // replicas use controller-runtime

	member, server string // of a replica; "" in the first process
}

func (s *settings) parse(args []string) error {
	s.args = args
	s.ring = shard.Options{
		Namespace: "kube-system", Name: "sharded", By: shard.ByNamespace,
		LeaseDuration: 3 * time.Second, RetryPeriod: 500 * time.Millisecond, Grace: time.Second, JoinDelay: time.Second,
	}
	flags := pflag.NewFlagSet("sharded", pflag.ContinueOnError)
	s.ring.AddFlags(flags)
	flags.IntVar(&s.replicas, "replicas", 3, "number of replicas at the start, at least 3")
	flags.IntVar(&s.namespaces, "namespaces", 20, "number of namespaces with requests")
	flags.DurationVar(&s.pause, "pause", 250*time.Millisecond, "time between an answer and the next request in a namespace")
	flags.DurationVar(&s.work, "work", 20*time.Millisecond, "time that an answer takes")
	flags.BoolVar(&s.controllerRuntime, "controller-runtime", false, "use managers and controllers of controller-runtime")
	flags.BoolVar(&s.verbose, "verbose", false, "print the replicas' logs")
	flags.StringVar(&s.member, "member", "", "run as this replica")
	flags.StringVar(&s.server, "server", "", "URL of the API server, with --member")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if s.replicas < 3 || s.namespaces < 1 {
		return fmt.Errorf("there are %d replicas and %d namespaces; the story needs at least 3, and 1", s.replicas, s.namespaces)
	}
	return nil
}

func run(ctx context.Context, args []string, w io.Writer) error {
	var s settings
	if err := s.parse(args); err != nil {
		return err
	}
	if s.member != "" {
		return runMember(ctx, &s, w)
	}
	return tell(ctx, &s, w)
}
