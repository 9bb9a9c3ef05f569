// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net/http"
	"os"
	"sync/atomic"

	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/probe"
	"github.com/informer-gen/informer-gen/bench/report"
	"github.com/informer-gen/informer-gen/bench/rig"
	"github.com/informer-gen/informer-gen/bench/server"
	"github.com/informer-gen/informer-gen/runtime/informer"
)

// ourList is our side without a checkpoint.
const ourList harness.Side = "informer-gen's watch-list"

// restartBench measures a start with the checkpoint of an earlier informer, from the first request
// to the handler's last event, beside a watch-list.
func restartBench() harness.Bench {
	has := func(z harness.Sizes) server.World { return server.World{Pods: z.Pods, Events: z.Changes} }
	return harness.Bench{
		Name: "restart",
		Title: func(z harness.Sizes) string {
			return fmt.Sprintf("restart of an informer of %s Pods with a checkpoint, %d changes since, beside a watch-list of ours",
				report.Digits(float64(z.Pods)), z.Changes)
		},
		Against: ourList,
		World:   has,
		Prepare: func(e harness.Env) (run func() (harness.Outcome, error), done func() error, err error) {
			if err := server.Begin(e.Server); err != nil {
				return nil, nil, err
			}
			how := fleet{updates: e.Sizes.Changes}
			if e.Side == harness.Ours {
				dir, err := os.MkdirTemp("", "informer-gen-bench-")
				if err != nil {
					return nil, nil, err
				}
				done = func() error { return os.RemoveAll(dir) }
				how.options = []informer.Option{informer.WithCheckpoint(dir)}
				f, err := newFleet(e, has(e.Sizes), how)
				if err != nil {
					return nil, done, err
				}
				stop, err := startSynced(f)
				if err != nil {
					return nil, done, err
				}
				stop() // writes the checkpoint
			}
			e.Side = harness.Ours
			return func() (harness.Outcome, error) { return restartOnce(e, has(e.Sizes), how) }, done, server.Move(e.Server)
		},
	}
}

func restartOnce(e harness.Env, w server.World, how fleet) (harness.Outcome, error) {
	var lists atomic.Int64
	how.around = func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if listsAll(r) {
				lists.Add(1)
			}
			return next.RoundTrip(r)
		})
	}
	f, err := newFleet(e, w, how)
	if err != nil {
		return harness.Outcome{}, err
	}
	stop := func() {}
	c, err := probe.CostOf(func() (err error) {
		if stop, err = f.Start(); err != nil {
			return err
		}
		if err := f.WaitAdded(); err != nil {
			return err
		}
		return rig.Wait(f[0].Updated(), "the handler to get the changes")
	})
	stop()
	return harness.Outcome{Values: map[string]float64{
		harness.CPUTime:      float64(c.CPU),
		"requests that list": float64(lists.Load()),
	}, Seen: f.See(e.Deep)}, err
}

func listsAll(r *http.Request) bool {
	query := r.URL.Query()
	return query.Get("watch") == "" || query.Get("sendInitialEvents") == "true"
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
