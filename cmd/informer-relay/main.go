// SPDX-License-Identifier: Apache-2.0

// Informer-relay answers lists and watches of an API server's resources to any number of clients,
// from one watch of each.
//
//	informer-relay --config relay.yaml --kubeconfig ~/.kube/config
//
// It ends on SIGINT and SIGTERM, after moving its clients elsewhere; a second signal ends it at
// once. The exit code is 0 after such an end, 1 if it could not serve, and 2 if the configuration
// or the call is wrong.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
