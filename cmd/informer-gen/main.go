// SPDX-License-Identifier: Apache-2.0

// Informer-gen writes informers, listers and typed indexes for Kubernetes API types with markers in
// their comments.
//
// Run "informer-gen --help" for its commands and flags. The exit code is 0 on success, 1 if diff or
// --check found something, 2 if the input or the call is wrong, and 130 if a signal has interrupted
// or terminated it; with 2 and 130, nothing is written.
package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	if code == exitError && ctx.Err() != nil {
		code = exitInterrupted
	}
	os.Exit(code)
}

const (
	exitOK          = 0
	exitDifference  = 1
	exitError       = 2
	exitInterrupted = 128 + 2 // as shells report a program ended by SIGINT
)

var (
	// errDifference means that a comparison found differences, and has printed them.
	errDifference = errors.New("the output isn't up to date")
	// errPrinted means that the errors have been printed.
	errPrinted = errors.New("the input or the call is wrong")
)
