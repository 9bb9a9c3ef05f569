// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/bench/data"
	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/probe"
	"github.com/informer-gen/informer-gen/bench/report"
	"github.com/informer-gen/informer-gen/runtime/object"
)

const getReaders = 8

// getter is a store that is read by namespace and name, as its users do.
type getter interface {
	setter
	get(namespace, name string) (*corev1.Pod, error)
}

func (o *ourStore) get(namespace, name string) (*corev1.Pod, error) {
	return o.pods.Pods(namespace).Get(name)
}

func (c *clientGoStore) get(namespace, name string) (*corev1.Pod, error) {
	return c.pods.Pods(namespace).Get(name)
}

func (m bareMap) get(namespace, name string) (*corev1.Pod, error) {
	return m[object.Key{Namespace: namespace, Name: name}], nil
}

func getterFor(s harness.Side) (getter, error) {
	switch s {
	case harness.Ours:
		return newOurStore()
	case goMap:
		return bareMap{}, nil
	default:
		return newClientGoStore(true), nil
	}
}

// getBench reads objects in no order, by lister.
func getBench() harness.Bench {
	return harness.Bench{
		Name: "get/uncontended",
		Title: func(z harness.Sizes) string {
			return "Get by lister, of " + report.Digits(float64(z.Many)) + " objects"
		},
		Measures: []harness.Measure{
			{Name: "CPU time, per Get", Unit: harness.Time, Ratio: 1},
			{Name: "allocated, per Get", Unit: harness.Bytes},
			{Name: "allocations, per Get", Limit: harness.AtMost(0)},
		},
		Others: []harness.Side{goMap},
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			g, err := getterFor(e.Side)
			return func() (harness.Outcome, error) { return getOnce(g, e.Sizes.Many) }, nil, err
		},
	}
}

func getOnce(g getter, n int) (harness.Outcome, error) {
	pods := data.SlimPods(n)
	if err := setEach(g, pods); err != nil {
		return harness.Outcome{}, err
	}
	keys := keysOf(pods)
	var saw harness.Seen
	all := func() error {
		for _, key := range keys {
			pod, err := g.get(key.Namespace, key.Name)
			if err != nil {
				return err
			}
			saw.Digest += uint64(pod.Generation)
		}
		return nil
	}
	if err := all(); err != nil { // to warm up
		return harness.Outcome{}, err
	}
	const times = 10
	c, err := probe.CostOf(func() error {
		for range times {
			if err := all(); err != nil {
				return err
			}
		}
		return nil
	})
	per := c.Per(times * n)
	return harness.Outcome{Seen: saw, Values: map[string]float64{
		"CPU time, per Get": per.CPU,
		// rounds down, because the rest of the process allocates now and then
		"allocated, per Get":   math.Floor(per.Bytes),
		"allocations, per Get": math.Floor(per.Allocs),
	}}, err
}

// keysOf returns the keys of pods in no order, in memory of their own, as the keys in a work queue
// are.
func keysOf(pods []*corev1.Pod) []object.Key {
	keys := make([]object.Key, len(pods))
	for i, from := range rand.New(rand.NewPCG(19, 0)).Perm(len(pods)) {
		pod := pods[from]
		keys[i] = object.Key{Namespace: string([]byte(pod.Namespace)), Name: string([]byte(pod.Name))}
	}
	return keys
}

// getContendedBench reads with several goroutines while another updates.
func getContendedBench() harness.Bench {
	return harness.Bench{
		Name: "get/contended",
		Title: func(z harness.Sizes) string {
			return fmt.Sprintf("Get by lister in %d goroutines, while another updates, of %s objects", getReaders, report.Digits(float64(z.Many)))
		},
		Measures: []harness.Measure{
			{Name: "wall time, by Gets of all goroutines", Unit: harness.Time, Ratio: 0.5},
			{Name: "updates", Unit: harness.PerSecond, More: true},
		},
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			g, err := getterFor(e.Side)
			return func() (harness.Outcome, error) { return getContendedOnce(g, e.Sizes) }, nil, err
		},
	}
}

func getContendedOnce(g getter, z harness.Sizes) (harness.Outcome, error) {
	pods := data.SlimPods(z.Many)
	if err := setEach(g, pods); err != nil {
		return harness.Outcome{}, err
	}
	keys, next := keysOf(pods), data.ChangedAll(pods)
	var gets atomic.Int64
	updates, took, err := contend(g, next, z.Window, getReaders, func(reader int, over *atomic.Bool) error {
		n := 0
		defer func() { gets.Add(int64(n)) }()
		for i := reader * len(keys) / getReaders; n == 0 || !over.Load(); i++ {
			key := keys[i%len(keys)]
			if _, err := g.get(key.Namespace, key.Name); err != nil {
				return err
			}
			n++
		}
		return nil
	})
	return harness.Outcome{Values: map[string]float64{
		"wall time, by Gets of all goroutines": float64(took) / float64(gets.Load()),
		"updates":                              float64(updates) / took.Seconds(),
	}}, err
}

// contend updates s for a while as fast as it can, while readers read until over.
func contend(s setter, pods []*corev1.Pod, window time.Duration, readers int, read func(reader int, over *atomic.Bool) error) (updates int, took time.Duration, err error) {
	runtime.GC()
	var wg sync.WaitGroup
	var over atomic.Bool
	failed := make(chan error, readers)
	for r := range readers {
		wg.Go(func() {
			if err := read(r, &over); err != nil {
				failed <- err
			}
		})
	}
	began := time.Now()
	for ; time.Since(began) < window && err == nil; updates++ {
		err = s.set(pods[updates%len(pods)])
	}
	took = time.Since(began)
	over.Store(true)
	wg.Wait()
	select {
	case err = <-failed:
	default:
	}
	return updates, took, err
}

func getBenches() []harness.Bench { return []harness.Bench{getBench(), getContendedBench()} }
