// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"hash/maphash"
	"iter"
	"runtime"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/informer"
)

// syncBench is the initial sync, from the wire to a handler's last OnAdd.
func syncBench(name, how string, list bool) bench {
	return bench{
		name: name,
		title: func(z sizes) string {
			return fmt.Sprintf("initial sync of %s Pods by %s, JSON, 1 handler", digits(float64(z.pods)), how)
		},
		measures: []measure{
			{name: "wall time", unit: inTime},
			{name: "CPU time", unit: inTime},
			{name: "allocated, per object", unit: inBytes},
			{name: "allocations, per object"},
			{name: "peak heap", unit: inBytes},
			{name: "heap retained after collection", unit: inBytes},
		},
		prepare: func(z sizes) (func(side) (outcome, error), func() error, error) {
			server, err := newPodServer(z.pods)
			if err != nil {
				return nil, nil, err
			}
			run := func(s side) (outcome, error) { return syncOnce(s, wire{server, list}, z) }
			return run, server.Close, nil
		},
	}
}

func syncOnce(s side, w wire, z sizes) (outcome, error) {
	r, err := newRig(s, w, informer.WithWatchList(!w.list))
	if err != nil {
		return outcome{}, err
	}
	added, all := 0, make(chan struct{})
	if err := r.handle(handler{add: func(*corev1.Pod) {
		if added++; added == z.pods {
			close(all)
		}
	}}); err != nil {
		return outcome{}, err
	}
	base := liveHeap()
	peak := watchHeap()
	stop := func() {}
	c, err := costOf(func() (err error) {
		if stop, err = r.start(); err != nil {
			return err
		}
		return wait(all, fmt.Sprintf("%d adds", z.pods))
	})
	defer stop()
	highest := peak() - base
	if err != nil {
		return outcome{}, err
	}
	retained := liveHeap() - base
	saw := see(r.pods(), z.deep)
	saw.events = added
	runtime.KeepAlive(r)
	n := float64(z.pods)
	return outcome{
		values: []float64{float64(c.wall), float64(c.cpu), c.bytes / n, c.allocs / n, highest, retained},
		seen:   saw,
	}, nil
}

var seed = maphash.MakeSeed()

// see sums up what a store has, in any order: keys, UIDs and versions, and with deep everything but the kind, which
// client-go's typed clients take away.
func see(pods iter.Seq[*corev1.Pod], deep bool) seen {
	var s seen
	for pod := range pods {
		s.objects++
		what := []byte(pod.Namespace + "/" + pod.Name + "/" + string(pod.UID) + "/" + pod.ResourceVersion)
		if deep {
			kindless := *pod
			kindless.TypeMeta = metav1.TypeMeta{}
			what, _ = json.Marshal(kindless) // a Pod from JSON can be written as JSON
		}
		s.digest += maphash.Bytes(seed, what)
	}
	return s
}
