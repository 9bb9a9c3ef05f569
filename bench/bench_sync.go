// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"runtime"

	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/probe"
	"github.com/informer-gen/informer-gen/bench/report"
	"github.com/informer-gen/informer-gen/bench/rig"
	"github.com/informer-gen/informer-gen/bench/server"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/reflector"
)

// way is the way in which the existing objects are read.
type way string

const (
	watchList way = "watch-list" // both sides' default
	// as a server with a watch cache answers at resourceVersion 0: in one page
	wholeList way = "list"
	pagedList way = "paged-list" // as a server without a watch cache answers: 500 objects at a time
)

// httpBenches are those that have a server.
func httpBenches() []harness.Bench {
	somePods := func(z harness.Sizes) server.World { return server.World{Pods: z.Pods} }
	manyPods := func(z harness.Sizes) server.World { return server.World{Pods: z.Many} }
	customs := func(z harness.Sizes) server.World {
		return server.World{Certificates: z.CRs / 2, Routes: z.CRs - z.CRs/2}
	}
	inProtobuf := func(z harness.Sizes) server.World { return server.World{Pods: z.Pods, Protobuf: true} }
	different := func(z harness.Sizes) server.World { return server.World{Pods: z.Pods, Distinct: true} }

	sync := syncMarks{wall: 0.15, cpu: 0.28, peak: 0.35, overSteady: 1.15, bytes: 0.30, retained: 0.40}
	protobuf := syncMarks{wall: 0.40, cpu: 0.50, retained: 0.40}
	nothingRepeats := syncMarks{wall: 0.30, retained: 0.90}
	return []harness.Bench{
		syncBench("sync/pods/watch-list", "Pods", somePods, watchList, true, sync),
		syncBench("sync/pods/paged-list", "Pods", somePods, pagedList, true, sync),
		syncBench("sync/pods/list", "Pods", somePods, wholeList, true, sync),
		retainedBench("retained", somePods),
		syncBench("sync/many-pods/watch-list", "Pods", manyPods, watchList, true, sync),
		syncBench("sync/many-pods/paged-list", "Pods", manyPods, pagedList, true, sync),
		syncBench("sync/crs/watch-list", "Certificates and HTTPRoutes", customs, watchList, true, sync),
		syncBench("sync/crs/paged-list", "Certificates and HTTPRoutes", customs, pagedList, true, sync),
		syncBench("protobuf/watch-list", "Pods in protobuf", inProtobuf, watchList, true, protobuf),
		syncBench("protobuf/paged-list", "Pods in protobuf", inProtobuf, pagedList, true, protobuf),
		syncBench("nothing-repeats/watch-list", "Pods of which no string repeats", different, watchList, true, nothingRepeats),
		syncBench("nothing-repeats/paged-list", "Pods of which no string repeats", different, pagedList, true, nothingRepeats),
		relistBench("relist/watch-list", "Pods", false, watchList),
		relistBench("relist/paged-list", "Pods", false, pagedList),
		relistBench("relist/protobuf", "Pods in protobuf", true, watchList),
		httpEventBench(),
	}
}

// syncMarks are the marks of the rows of a sync; 0 is no mark.
type syncMarks struct{ wall, cpu, peak, overSteady, bytes, retained float64 }

const (
	wallTime         = "wall time"
	cpuUsed          = "CPU time"
	peakHeap         = "peak heap"
	peakOverSteady   = "peak heap over retained heap"
	allocatedPer     = "allocated, per object"
	allocationsPer   = "allocations, per object"
	retainedPer      = "heap retained, per object"
	allocatedEvent   = "allocated, per event"
	allocationsEvent = "allocations, per event"
)

// syncBench measures the initial sync, from the wire to the handlers' last OnAdd.
func syncBench(name, what string, has func(harness.Sizes) server.World, by way, strip bool, marks syncMarks) harness.Bench {
	b := harness.Bench{
		Name: name,
		Title: func(z harness.Sizes) string {
			return fmt.Sprintf("initial sync of %s %s by %s, without managedFields", report.Digits(float64(has(z).Objects())), what, by)
		},
		Measures: []harness.Measure{
			{Name: wallTime, Unit: harness.Time, Ratio: marks.wall},
			{Name: cpuUsed, Unit: harness.Time, Ratio: marks.cpu},
			{Name: peakHeap, Unit: harness.Bytes, Ratio: marks.peak},
			{Name: peakOverSteady},
			{Name: allocatedPer, Unit: harness.Bytes, Ratio: marks.bytes},
			{Name: allocationsPer},
			{Name: retainedPer, Unit: harness.Bytes, Ratio: marks.retained},
		},
		World: has,
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			w := has(e.Sizes)
			if !e.Side.Peer() {
				return prepareBound(e, w, by)
			}
			return func() (harness.Outcome, error) { return syncOnce(e, w, by, strip) }, nil, server.Begin(e.Server)
		},
	}
	if marks.overSteady != 0 {
		b.Measures[3].Limit = harness.AtMost(marks.overSteady)
	}
	if w := has(full); !w.Protobuf {
		b.Others = []harness.Side{reading, splitting}
	} else {
		b.Others = []harness.Side{reading}
	}
	return b
}

// retainedBench measures the heap after a sync when nothing is stripped.
func retainedBench(name string, has func(harness.Sizes) server.World) harness.Bench {
	b := syncBench(name, "", has, watchList, false, syncMarks{retained: 0.45})
	b.Title = func(z harness.Sizes) string {
		return fmt.Sprintf("after the sync of %s Pods with managedFields", report.Digits(float64(has(z).Objects())))
	}
	b.Measures, b.Others = b.Measures[len(b.Measures)-1:], nil
	return b
}

// newFleet makes an informer for each kind in the world.
func newFleet(e harness.Env, w server.World, by way, how rig.Setup, updates int, f server.From) (rig.Fleet, error) {
	f.Server, f.Protobuf, f.ByList, f.Strip = e.Server, w.Protobuf, by != watchList, how.Strip && !how.Keep
	if by == pagedList {
		f.Server += server.PagedPath
	}
	how.Options = append(how.Options, informer.WithTuning(reflector.Tuning{DisableWatchList: by != watchList}))
	var subjects rig.Fleet
	var err error
	add := func(s rig.Subject, e error) {
		if subjects = append(subjects, s); e != nil && err == nil {
			err = e
		}
	}
	if w.Pods > 0 {
		add(rig.NewSubject(e.Side, server.PodRemote(f), how, w.Pods, updates))
	}
	if w.Certificates > 0 {
		add(rig.NewSubject(e.Side, server.CertificateRemote(f), how, w.Certificates, 0))
	}
	if w.Routes > 0 {
		add(rig.NewSubject(e.Side, server.RouteRemote(f), how, w.Routes, 0))
	}
	return subjects, err
}

func syncOnce(e harness.Env, w server.World, by way, strip bool) (harness.Outcome, error) {
	return syncAs(e, w, by, rig.Setup{Strip: strip})
}

func syncAs(e harness.Env, w server.World, by way, how rig.Setup) (harness.Outcome, error) {
	return syncFleet(e, w, func() (rig.Fleet, error) { return newFleet(e, w, by, how, 0, server.From{}) })
}

// syncFleet starts informers, which read the world, and waits until their handlers have all.
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
	per := c.Per(w.Objects())
	o := harness.Outcome{Values: map[string]float64{
		wallTime:       float64(c.Wall),
		cpuUsed:        float64(c.CPU),
		peakHeap:       highest,
		peakOverSteady: highest / retained,
		allocatedPer:   per.Bytes,
		allocationsPer: per.Allocs,
		retainedPer:    retained / float64(w.Objects()),
	}, Seen: f.See(e.Deep)}
	runtime.KeepAlive(f)
	return o, nil
}
