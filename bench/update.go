// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime"

	"github.com/informer-gen/informer-gen/bench/data"
	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/probe"
	"github.com/informer-gen/informer-gen/bench/report"
)

func updateBench() harness.Bench {
	return harness.Bench{
		Name: "update",
		Title: func(z harness.Sizes) string {
			return "update of one object of " + report.Digits(float64(z.Many)) + ", indexes by namespace, node and owner"
		},
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			s, pods, err := filledStore(e.Side, e.Sizes.Many, byNode, byOwner)
			next := data.ChangedAll(pods)
			return func() (harness.Outcome, error) {
				c, err := probe.CostOf(func() error { return setEach(s, next) })
				runtime.KeepAlive(s)
				return harness.Outcome{Values: map[string]float64{"CPU time, per update": c.Per(len(next)).CPU}}, err
			}, nil, err
		},
	}
}

func indexBench() harness.Bench {
	return harness.Bench{
		Name: "index",
		Title: func(z harness.Sizes) string {
			return "memory of an index of " + report.Digits(float64(z.Many)) + " objects, in which each has a key of its own"
		},
		Prepare: prepared(func(e harness.Env) (harness.Outcome, error) {
			first := data.SlimPods(e.Sizes.Many)
			next := data.ChangedAll(first)
			heap := func(criteria ...criterion) (float64, error) {
				base := probe.LiveHeap()
				into, err := newStore(e.Side, criteria...)
				if err != nil {
					return 0, err
				}
				if err := setEach(into, first); err != nil {
					return 0, err
				}
				if err := setEach(into, next); err != nil {
					return 0, err
				}
				heap := probe.LiveHeap() - base
				runtime.KeepAlive(into)
				return heap, nil
			}
			without, err := heap()
			if err != nil {
				return harness.Outcome{}, err
			}
			with, err := heap(byUID)
			runtime.KeepAlive(first)
			runtime.KeepAlive(next)
			return harness.Outcome{Values: map[string]float64{"heap, per object": (with - without) / float64(len(first))}}, err
		}),
	}
}
