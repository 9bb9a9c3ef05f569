// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/manager/election"
)

// busyEnv makes this test binary a participant in an election, which sends as many requests as it
// can while it leads. Its value is a name, a protocol and an address.
const busyEnv = "E2E_BUSY"

const busyGoroutines = 64

// busyMain is the main function of a busy process. It shuts down on SIGTERM.
func busyMain(env string) (code int) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	var name, protocol, url string
	_, err := fmt.Sscan(env, &name, &protocol, &url)
	if err == nil {
		err = takePart(ctx, name, protocol, url)
	}
	if err != context.Cause(ctx) {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func takePart(ctx context.Context, name, protocol, url string) error {
	config := &rest.Config{
		Host: url, QPS: -1, UserAgent: name,
		TLSClientConfig: rest.TLSClientConfig{Insecure: true, NextProtos: []string{protocol}},
	}
	e, err := election.New(config, election.Options{
		Namespace: "default", Name: electionName, Identity: name,
		// A Lease has renewals in whole seconds, so the margin must be longer.
		LeaseDuration: 2 * time.Second, RenewDeadline: 600 * time.Millisecond, RetryPeriod: 100 * time.Millisecond,
	})
	if err != nil {
		return err
	}
	client, err := rest.HTTPClientFor(e.Fence(config))
	if err != nil {
		return err
	}
	for {
		err := e.Run(ctx, func(ctx context.Context) error {
			var busy sync.WaitGroup
			for n := range busyGoroutines {
				busy.Go(func() { work(ctx, client, url, name, n%4 == 0) })
			}
			busy.Wait()
			return nil
		})
		if !errors.Is(err, election.ErrLost) {
			return err
		}
	}
}

// work sends one request after the other.
func work(ctx context.Context, client *http.Client, url, name string, hasBody bool) {
	for ctx.Err() == nil {
		req, err := http.NewRequest(http.MethodDelete, url+"/work", nil)
		if hasBody {
			req, err = http.NewRequest(http.MethodPatch, url+"/work", strings.NewReader(strings.Repeat("x", 1000)))
		}
		if err != nil {
			panic(err)
		}
		req.Header.Set("User-Agent", name)
		if resp, err := client.Do(req); err == nil {
			_ = resp.Body.Close()
		}
	}
}
