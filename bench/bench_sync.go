// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"runtime"

	"github.com/informer-gen/informer-gen/runtime/informer"
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
func httpBenches() []bench {
	somePods := func(z sizes) world { return world{Pods: z.Pods} }
	manyPods := func(z sizes) world { return world{Pods: z.Many} }
	customs := func(z sizes) world { return world{Certificates: z.CRs / 2, Routes: z.CRs - z.CRs/2} }
	inProtobuf := func(z sizes) world { return world{Pods: z.Pods, Protobuf: true} }
	different := func(z sizes) world { return world{Pods: z.Pods, Distinct: true} }

	sync := syncMarks{wall: 0.15, cpu: 0.28, peak: 0.35, overSteady: 1.15, bytes: 0.30, retained: 0.40}
	protobuf := syncMarks{wall: 0.40, cpu: 0.50, retained: 0.40}
	nothingRepeats := syncMarks{wall: 0.30, retained: 0.90}
	list := []bench{
		syncBench("sync/pods/watch-list", "Pods", somePods, watchList, true, sync),
		syncBench("sync/pods/paged-list", "Pods", somePods, pagedList, true, sync),
		syncBench("sync/pods/list", "Pods", somePods, wholeList, true, sync),
		retainedBench("retained", somePods),
	}
	for _, procs := range []int{1, 2} {
		for _, w := range []way{watchList, pagedList} {
			b := syncBench(fmt.Sprintf("procs/%d/%s", procs, w), fmt.Sprintf("Pods with GOMAXPROCS=%d", procs), somePods, w, true, syncMarks{})
			b.procs, b.others, b.measures = procs, nil, b.measures[:2]
			list = append(list, b)
		}
	}
	return append(list,
		syncBench("sync/many-pods/watch-list", "Pods", manyPods, watchList, true, sync),
		syncBench("sync/many-pods/paged-list", "Pods", manyPods, pagedList, true, sync),
		syncBench("sync/crs/watch-list", "Certificates and HTTPRoutes", customs, watchList, true, sync),
		syncBench("sync/crs/paged-list", "Certificates and HTTPRoutes", customs, pagedList, true, sync),
		syncBench("protobuf/watch-list", "Pods in protobuf", inProtobuf, watchList, true, protobuf),
		syncBench("protobuf/paged-list", "Pods in protobuf", inProtobuf, pagedList, true, protobuf),
		syncBench("nothing-repeats/watch-list", "Pods of which no string repeats", different, watchList, true, nothingRepeats),
		syncBench("nothing-repeats/paged-list", "Pods of which no string repeats", different, pagedList, true, nothingRepeats),
		relistBench("relist/watch-list", watchList),
		relistBench("relist/paged-list", pagedList),
		httpEventBench(),
	)
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
func syncBench(name, what string, has func(sizes) world, by way, strip bool, marks syncMarks) bench {
	b := bench{
		name: name,
		title: func(z sizes) string {
			return fmt.Sprintf("initial sync of %s %s by %s, without managedFields", digits(float64(has(z).objects())), what, by)
		},
		measures: []measure{
			{name: wallTime, unit: inTime, ratio: marks.wall},
			{name: cpuUsed, unit: inTime, ratio: marks.cpu},
			{name: peakHeap, unit: inBytes, ratio: marks.peak},
			{name: peakOverSteady},
			{name: allocatedPer, unit: inBytes, ratio: marks.bytes},
			{name: allocationsPer},
			{name: retainedPer, unit: inBytes, ratio: marks.retained},
		},
		world: has,
		prepare: func(e env) (func() (outcome, error), func() error, error) {
			w := has(e.sizes)
			if !e.side.peer() {
				return prepareBound(e, w, by)
			}
			return func() (outcome, error) { return syncOnce(e, w, by, strip) }, nil, begin(e.server)
		},
	}
	if marks.overSteady != 0 {
		b.measures[3].limit = atMost(marks.overSteady)
	}
	if w := has(full); !w.Protobuf {
		b.others = []side{reading, splitting}
	} else {
		b.others = []side{reading}
	}
	return b
}

// retainedBench measures the heap after a sync when nothing is stripped.
func retainedBench(name string, has func(sizes) world) bench {
	b := syncBench(name, "", has, watchList, false, syncMarks{retained: 0.45})
	b.title = func(z sizes) string {
		return fmt.Sprintf("after the sync of %s Pods with managedFields", digits(float64(has(z).objects())))
	}
	b.measures, b.others = b.measures[len(b.measures)-1:], nil
	return b
}

// newFleet makes an informer for each kind in the world.
func newFleet(e env, w world, by way, how setup, updates int, f from) (fleet, error) {
	f.server, f.protobuf, f.byList, f.strip = e.server, w.Protobuf, by != watchList, how.strip && !how.keep
	if by == pagedList {
		f.server += pagedPath
	}
	how.options = append(how.options, informer.WithWatchList(by == watchList))
	var subjects fleet
	var err error
	add := func(s subject, e error) {
		if subjects = append(subjects, s); e != nil && err == nil {
			err = e
		}
	}
	if w.Pods > 0 {
		add(newSubject(e.side, podRemote(f), how, w.Pods, updates))
	}
	if w.Certificates > 0 {
		add(newSubject(e.side, certificateRemote(f), how, w.Certificates, 0))
	}
	if w.Routes > 0 {
		add(newSubject(e.side, routeRemote(f), how, w.Routes, 0))
	}
	return subjects, err
}

func syncOnce(e env, w world, by way, strip bool) (outcome, error) {
	return syncAs(e, w, by, setup{strip: strip})
}

func syncAs(e env, w world, by way, how setup) (outcome, error) {
	base := liveHeap()
	f, err := newFleet(e, w, by, how, 0, from{})
	if err != nil {
		return outcome{}, err
	}
	stop := func() {}
	peak := watchHeap()
	c, err := costOf(func() (err error) {
		if stop, err = f.start(); err != nil {
			return err
		}
		return f.waitAdded()
	})
	defer func() { stop() }()
	highest := peak() - base
	if err != nil {
		return outcome{}, err
	}
	retained := liveHeap() - base
	stop()
	per := c.per(w.objects())
	o := outcome{Values: map[string]float64{
		wallTime:       float64(c.wall),
		cpuUsed:        float64(c.cpu),
		peakHeap:       highest,
		peakOverSteady: highest / retained,
		allocatedPer:   per.bytes,
		allocationsPer: per.allocs,
		retainedPer:    retained / float64(w.objects()),
	}, Seen: f.see(e.deep)}
	runtime.KeepAlive(f)
	return o, nil
}
