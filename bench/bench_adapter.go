// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/informer-gen/informer-gen/bench/data"
	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/probe"
	"github.com/informer-gen/informer-gen/bench/report"
	"github.com/informer-gen/informer-gen/bench/server"
)

// adapterBenches compare programs that are written to controller-runtime, or to client-go's
// factories: over informers of ours by the packages below adapter, and over client-go's.
func adapterBenches() []harness.Bench {
	pods := func(z harness.Sizes) server.World { return server.World{Pods: z.Pods} }
	inProtobuf := func(z harness.Sizes) server.World { return server.World{Pods: z.Pods, Protobuf: true} }
	customs := func(z harness.Sizes) server.World {
		return server.World{Certificates: z.CRs / 2, Routes: z.CRs - z.CRs/2}
	}
	marks := syncMarks{wall: 0.25, cpu: 0.25, peak: 0.35, retained: 0.42}
	return []harness.Bench{
		adapterSyncBench("controller-runtime/sync/pods", "Pods", pods, newControllerCache, marks),
		adapterSyncBench("controller-runtime/sync/pods-protobuf", "Pods in protobuf", inProtobuf, newControllerCache, marks),
		adapterSyncBench("controller-runtime/sync/crs", "Certificates and HTTPRoutes", customs, newControllerCache, marks),
		controllerReadsBench(),
		reconcileBench(),
		startBench("controller-runtime/start", "a manager with a controller of each of", "until each object was reconciled", newIdleManager),
		adapterSyncBench("client-go/sync/pods", "Pods", pods, newFactory, marks),
		adapterSyncBench("client-go/sync/pods-protobuf", "Pods in protobuf", inProtobuf, newFactory, marks),
		adapterSyncBench("client-go/sync/transform", "Pods in protobuf, with a transform that drops managedFields", inProtobuf, newStrippingFactory, marks),
		listerReadsBench(),
		startBench("client-go/start", "a factory with an informer of each of", "until all have synced", newFactory),
	}
}

// under begins the title of what a framework does.
func under(name, does string) string {
	framework, _, _ := strings.Cut(name, "/")
	return "under " + framework + ": " + does
}

// adapterSyncBench measures the initial sync without handlers.
func adapterSyncBench(name, what string, has func(harness.Sizes) server.World, open newFramework, marks syncMarks) harness.Bench {
	return harness.Bench{
		Name: "adapter/" + name,
		Title: func(z harness.Sizes) string {
			return under(name, fmt.Sprintf("initial sync of %s %s", report.Digits(float64(has(z).Objects())), what))
		},
		Measures: []harness.Measure{
			{Name: wallTime, Unit: harness.Time, Ratio: marks.wall},
			{Name: cpuUsed, Unit: harness.Time, Ratio: marks.cpu},
			{Name: peakHeap, Unit: harness.Bytes, Ratio: marks.peak},
			{Name: retainedPer, Unit: harness.Bytes, Ratio: marks.retained},
		},
		World: has,
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			w := has(e.Sizes)
			return func() (harness.Outcome, error) { return adapterSyncOnce(e, w, open) }, nil, server.Begin(e.Server)
		},
	}
}

func adapterSyncOnce(e harness.Env, w server.World, open newFramework) (o harness.Outcome, err error) {
	base := probe.LiveHeap()
	peak := probe.WatchHeap()
	var f framework
	cost, err := probe.CostOf(func() (err error) {
		f, err = openAndSync(e, w, open)
		return err
	})
	highest := peak() - base
	if err != nil {
		return o, err
	}
	retained := probe.LiveHeap() - base
	o.Values = map[string]float64{
		wallTime:    float64(cost.Wall),
		cpuUsed:     float64(cost.CPU),
		peakHeap:    highest,
		retainedPer: retained / float64(w.Objects()),
	}
	o.Seen, err = f.see()
	err = errors.Join(err, f.stop())
	runtime.KeepAlive(f)
	return o, err
}

// openAndSync returns a framework that has all objects.
func openAndSync(e harness.Env, w server.World, open newFramework) (framework, error) {
	f, err := open(e, w)
	if err != nil {
		return nil, err
	}
	if err := f.sync(); err != nil {
		return nil, errors.Join(err, f.stop())
	}
	return f, nil
}

// startBench measures a program that has many kinds of few objects.
func startBench(name, what, until string, open newFramework) harness.Bench {
	has := func(z harness.Sizes) server.World { return server.World{OfEach: z.OfEach, Protobuf: true} }
	return harness.Bench{
		Name: "adapter/" + name,
		Title: func(z harness.Sizes) string {
			return under(name, fmt.Sprintf("%s %d built-in kinds with %d objects", what, len(data.BuiltIns), z.OfEach))
		},
		Measures: []harness.Measure{
			{Name: "wall time, " + until, Unit: harness.Time, Ratio: 0.5},
			{Name: cpuUsed, Unit: harness.Time},
			{Name: "heap and stacks", Unit: harness.Bytes, Ratio: 1},
			{Name: "goroutines"},
		},
		World: has,
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			return func() (harness.Outcome, error) {
				before := probe.Footprint()
				var f framework
				cost, err := probe.CostOf(func() (err error) {
					f, err = openAndSync(e, has(e.Sizes), open)
					return err
				})
				if err != nil {
					return harness.Outcome{}, err
				}
				after := probe.Footprint()
				saw, err := f.see()
				return harness.Outcome{Seen: saw, Values: map[string]float64{
					"wall time, " + until: float64(cost.Wall),
					cpuUsed:               float64(cost.CPU),
					"heap and stacks":     after.Bytes - before.Bytes,
					"goroutines":          after.Goroutines - before.Goroutines,
				}}, errors.Join(err, f.stop())
			}, nil, server.Begin(e.Server)
		},
	}
}

// newIdleManager makes a manager whose controllers do nothing.
func newIdleManager(e harness.Env, w server.World) (framework, error) {
	return newControllerManager(e, w, func(context.Context, client.Reader, reconcile.Request) error { return nil })
}
