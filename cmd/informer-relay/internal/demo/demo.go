// SPDX-License-Identifier: Apache-2.0

// Package demo shows a relay at work: an API server, a relay in front of it, and informers that
// read through the relay while it is restarted.
package demo

import (
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/cmd/informer-relay/internal/configfile"
	"github.com/informer-gen/informer-gen/cmd/informer-relay/internal/relay"
)

// informerCount is the number of informers that read through the relay. Each has its own
// connection, like a process of its own.
const informerCount = 20

const configuration = `listen:
  address: 127.0.0.1:0
access:
  mode: None        # this machine only; docs/relay.md has the others
resources:
- version: v1
  resource: configmaps
shutdown:
  delay: 0s         # there is no load balancer to wait for
  period: 0s
`

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// Run runs the demo and describes it to out. It returns at the end, or when ctx ends.
func Run(ctx context.Context, out io.Writer) (err error) {
	// The informers' attempts to reach an absent relay would fill the screen.
	ctx, cancel := context.WithCancel(klog.NewContext(ctx, logr.Discard()))
	fmt.Fprintln(out, "Building and starting an API server. The first time, this takes minutes.")
	api, err := startAPIServer(ctx)
	if err != nil {
		cancel()
		return err
	}
	defer api.wait()
	defer cancel()
	counter, err := countWatches(api.url)
	if err != nil {
		return err
	}
	defer counter.close()

	c, err := configfile.Parse("relay.yaml", []byte(configuration))
	if err != nil {
		return err
	}
	address, stop, err := start(ctx, c, counter.url, c.Listen.Address)
	if err != nil {
		return err
	}
	defer func() { stop() }() // the latest one
	fmt.Fprintf(out, "The API server is at %s, the relay at http://%s. The relay's configuration:\n\n%s\n", api.url, address, configuration)

	informers, end, err := startInformers(ctx, "http://"+address, informerCount)
	if err != nil {
		return err
	}
	defer end()
	if err := informers.waitForSync(ctx); err != nil {
		return err
	}
	author, err := newAuthor(api.url)
	if err != nil {
		return err
	}
	// Their first events came through the relay's watch, so it is open from here on.
	if err := author.playScript(ctx, informers, "before"); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d informers have synced. The API server has %s.\n", informerCount, counter)
	stop()
	fmt.Fprintln(out, "The relay has ended. One more ConfigMap is created before it starts again.")
	if err := author.write(ctx, "meanwhile"); err != nil {
		return err
	}
	if _, stop, err = start(ctx, c, counter.url, address); err != nil {
		return err
	}
	if err := informers.waitForHandlers(ctx); err != nil {
		return err
	}
	if err := author.playScript(ctx, informers, "after"); err != nil {
		return err
	}
	fmt.Fprintf(out, "The relay runs again, and all informers have caught up. The API server has %s.\n\n", counter)

	saw := informers.recordedEvents()
	fmt.Fprintln(out, "The first informer saw:")
	for _, line := range saw[0] {
		fmt.Fprintln(out, "  "+line)
	}
	same := 0
	for _, lines := range saw {
		if slices.Equal(lines, saw[0]) {
			same++
		}
	}
	fmt.Fprintf(out, "%d of %d saw the same.\n", same, informerCount)
	return nil
}

// start starts a relay in front of an API server. stop ends it, and may be called again.
func start(ctx context.Context, c *configfile.Config, upstream, address string) (listening string, stop func(), err error) {
	noop := func() {}
	r, err := relay.New(c, &rest.Config{Host: upstream})
	if err != nil {
		return "", noop, err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return "", noop, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var running sync.WaitGroup
	running.Go(func() { cancel(r.Serve(ctx, l)) }) // WaitReady ends if the relay fails
	stop = func() {
		cancel(nil)
		running.Wait()
	}
	if err := r.WaitReady(ctx); err != nil {
		stop()
		return "", noop, err
	}
	return l.Addr().String(), stop, nil
}
