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

func getterFor(s side) (getter, error) {
	switch s {
	case ours:
		return newOurStore()
	case goMap:
		return bareMap{}, nil
	default:
		return newClientGoStore(true), nil
	}
}

// getBench reads objects in no order, by lister.
func getBench() bench {
	return bench{
		name:  "get/uncontended",
		title: func(z sizes) string { return "Get by lister, of " + digits(float64(z.Many)) + " objects" },
		measures: []measure{
			{name: "CPU time, per Get", unit: inTime, ratio: 1},
			{name: "allocated, per Get", unit: inBytes},
			{name: "allocations, per Get", limit: atMost(0)},
		},
		others: []side{goMap},
		prepare: func(e env) (func() (outcome, error), func() error, error) {
			g, err := getterFor(e.side)
			return func() (outcome, error) { return getOnce(g, e.sizes.Many) }, nil, err
		},
	}
}

func getOnce(g getter, n int) (outcome, error) {
	pods := slimPods(n)
	if err := setEach(g, pods); err != nil {
		return outcome{}, err
	}
	keys := keysOf(pods)
	var saw seen
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
		return outcome{}, err
	}
	const times = 10
	c, err := costOf(func() error {
		for range times {
			if err := all(); err != nil {
				return err
			}
		}
		return nil
	})
	per := c.per(times * n)
	return outcome{Seen: saw, Values: map[string]float64{
		"CPU time, per Get": per.cpu,
		// rounds down, because the rest of the process allocates now and then
		"allocated, per Get":   math.Floor(per.bytes),
		"allocations, per Get": math.Floor(per.allocs),
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
func getContendedBench() bench {
	return bench{
		name: "get/contended",
		title: func(z sizes) string {
			return fmt.Sprintf("Get by lister in %d goroutines, while another updates, of %s objects", getReaders, digits(float64(z.Many)))
		},
		measures: []measure{
			{name: "wall time, by Gets of all goroutines", unit: inTime, ratio: 0.5},
			{name: "updates", unit: perSecond, more: true},
		},
		prepare: func(e env) (func() (outcome, error), func() error, error) {
			g, err := getterFor(e.side)
			return func() (outcome, error) { return getContendedOnce(g, e.sizes) }, nil, err
		},
	}
}

func getContendedOnce(g getter, z sizes) (outcome, error) {
	pods := slimPods(z.Many)
	if err := setEach(g, pods); err != nil {
		return outcome{}, err
	}
	keys, next := keysOf(pods), changedAll(pods)
	var gets atomic.Int64
	updates, took, err := contend(g, next, z.Window, getReaders, func(reader int, over *atomic.Bool) error {
		n := 0
		defer func() { gets.Add(int64(n)) }()
		for i := reader * len(keys) / getReaders; !over.Load(); i++ {
			key := keys[i%len(keys)]
			if _, err := g.get(key.Namespace, key.Name); err != nil {
				return err
			}
			n++
		}
		return nil
	})
	return outcome{Values: map[string]float64{
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

func getBenches() []bench { return []bench{getBench(), getContendedBench()} }
