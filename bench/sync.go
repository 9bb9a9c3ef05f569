// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net/http"
	"runtime"

	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/probe"
	"github.com/informer-gen/informer-gen/bench/report"
	"github.com/informer-gen/informer-gen/bench/rig"
	"github.com/informer-gen/informer-gen/bench/server"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/reflector"
)

// Contents of servers.
func somePods(z harness.Sizes) server.World { return server.World{Pods: z.Pods} }

func protobufPods(z harness.Sizes) server.World { return server.World{Pods: z.Pods, Protobuf: true} }

func customResources(z harness.Sizes) server.World {
	return server.World{Certificates: z.CRs / 2, Routes: z.CRs - z.CRs/2}
}

func syncBenches() []harness.Bench {
	return []harness.Bench{
		syncBench("sync/pods/watch-list", "Pods by watch-list", somePods, false),
		syncBench("sync/pods/paged-list", "Pods by paged list", somePods, true),
		syncBench("sync/pods/protobuf", "Pods by watch-list in protobuf", protobufPods, false),
		syncBench("sync/crs/watch-list", "Certificates and HTTPRoutes by watch-list", customResources, false),
		syncBench("sync/crs/paged-list", "Certificates and HTTPRoutes by paged list", customResources, true),
		syncBench("sync/nothing-repeats", "Pods of which no string repeats by watch-list",
			func(z harness.Sizes) server.World { return server.World{Pods: z.Pods, Distinct: true} }, false),
	}
}

// syncBench measures the initial sync, from the wire to the handlers' last OnAdd.
func syncBench(name, what string, has func(harness.Sizes) server.World, paged bool) harness.Bench {
	return harness.Bench{
		Name: name,
		Title: func(z harness.Sizes) string {
			return fmt.Sprintf("initial sync of %s %s, without managedFields", report.Digits(float64(has(z).Objects())), what)
		},
		World: has,
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			w := has(e.Sizes)
			return func() (harness.Outcome, error) {
				return syncFleet(e, w, func() (rig.Fleet, error) { return newFleet(e, w, fleet{paged: paged}) })
			}, nil, server.Begin(e.Server)
		},
	}
}

// fleet configures informers. They drop managedFields.
type fleet struct {
	paged   bool // lists of 500 objects at a time, as from a server without a watch cache
	updates int  // of Pods that their handler expects
	around  func(http.RoundTripper) http.RoundTripper
	options []informer.Option
}

func newFleet(e harness.Env, w server.World, how fleet) (all rig.Fleet, err error) {
	f := server.From{Server: e.Server, Protobuf: w.Protobuf, ByList: how.paged, Strip: true, Around: how.around}
	if how.paged {
		f.Server += server.PagedPath
	}
	setup := rig.Setup{Strip: true, Options: append(how.options, informer.WithTuning(reflector.Tuning{DisableWatchList: how.paged}))}
	add := func(s rig.Subject, e error) {
		if all = append(all, s); e != nil && err == nil {
			err = e
		}
	}
	if w.Pods > 0 {
		add(rig.NewSubject(e.Side, server.PodRemote(f), setup, w.Pods, how.updates))
	}
	if w.Certificates > 0 {
		add(rig.NewSubject(e.Side, server.CertificateRemote(f), setup, w.Certificates, 0))
	}
	if w.Routes > 0 {
		add(rig.NewSubject(e.Side, server.RouteRemote(f), setup, w.Routes, 0))
	}
	return all, err
}

func syncFleet(e harness.Env, w server.World, fleet func() (rig.Fleet, error)) (harness.Outcome, error) {
	base := probe.LiveHeap()
	f, err := fleet()
	if err != nil {
		return harness.Outcome{}, err
	}
	stop := func() {}
	peak := probe.WatchHeap()
	c, err := probe.CostOf(func() (err error) {
		if stop, err = f.Start(); err != nil {
			return err
		}
		return f.WaitAdded()
	})
	defer func() { stop() }()
	highest := peak() - base
	if err != nil {
		return harness.Outcome{}, err
	}
	retained := probe.LiveHeap() - base
	stop()
	o := harness.Outcome{Values: map[string]float64{
		harness.WallTime:               float64(c.Wall),
		harness.CPUTime:                float64(c.CPU),
		"peak heap over retained heap": highest / retained,
		harness.RetainedPer:            retained / float64(w.Objects()),
	}, Seen: f.See(e.Deep)}
	runtime.KeepAlive(f)
	return o, nil
}

func startSynced(f rig.Fleet) (stop func(), err error) {
	if stop, err = f.Start(); err == nil {
		err = f.WaitAdded()
	}
	if err == nil {
		err = rig.WaitSynced(f) // the watch is open then, or being opened
	}
	if err != nil {
		stop()
	}
	return stop, err
}
