// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
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

func getBench() harness.Bench {
	return harness.Bench{
		Name: "get",
		Title: func(z harness.Sizes) string {
			return "Get by lister, of " + report.Digits(float64(z.Many)) + " objects"
		},
		Prepare: prepared(func(e harness.Env) (harness.Outcome, error) {
			s, pods, err := filledStore(e.Side, e.Sizes.Many)
			if err != nil {
				return harness.Outcome{}, err
			}
			keys := keysOf(pods)
			var saw harness.Seen
			all := func() error {
				for _, key := range keys {
					pod, err := s.get(key.Namespace, key.Name)
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
			return harness.Outcome{Seen: saw, Values: map[string]float64{"CPU time, per Get": c.Per(times * len(keys)).CPU}}, err
		}),
	}
}

// keysOf returns the keys of pods in no order, in memory of their own, like keys in a work queue.
func keysOf(pods []*corev1.Pod) []object.Key {
	keys := make([]object.Key, len(pods))
	for i, from := range rand.New(rand.NewPCG(19, 0)).Perm(len(pods)) {
		pod := pods[from]
		keys[i] = object.Key{Namespace: string([]byte(pod.Namespace)), Name: string([]byte(pod.Name))}
	}
	return keys
}

func getContendedBench() harness.Bench {
	return harness.Bench{
		Name: "get/contended",
		Title: func(z harness.Sizes) string {
			return fmt.Sprintf("Get by lister in %d goroutines, while another updates, of %s objects", readers, report.Digits(float64(z.Many)))
		},
		Prepare: prepared(func(e harness.Env) (harness.Outcome, error) {
			s, pods, err := filledStore(e.Side, e.Sizes.Many)
			if err != nil {
				return harness.Outcome{}, err
			}
			keys, next := keysOf(pods), data.ChangedAll(pods)
			var gets atomic.Int64
			const atOnce = 1000
			_, took, err := contend(s, next, e.Sizes.Window, func(reader, round int) error {
				for i := range atOnce {
					key := keys[(reader*len(keys)/readers+round*atOnce+i)%len(keys)]
					if _, err := s.get(key.Namespace, key.Name); err != nil {
						return err
					}
				}
				gets.Add(atOnce)
				return nil
			})
			return harness.Outcome{Values: map[string]float64{"wall time, by Gets of all goroutines": float64(took) / float64(gets.Load())}}, err
		}),
	}
}

// contend updates s for a while as fast as it can, while several goroutines read in rounds. It
// begins after each of them has made a round.
func contend(s benchStore, pods []*corev1.Pod, window time.Duration, read func(reader, round int) error) (updates int, took time.Duration, err error) {
	runtime.GC()
	var all, ready sync.WaitGroup
	var ended atomic.Bool
	failed := make(chan error, readers)
	ready.Add(readers)
	for r := range readers {
		all.Go(func() {
			var err error
			for round := 0; err == nil && (round == 0 || !ended.Load()); round++ {
				if err = read(r, round); round == 0 {
					ready.Done()
				}
			}
			failed <- err
		})
	}
	ready.Wait()
	began := time.Now()
	for ; time.Since(began) < window && err == nil; updates++ {
		err = s.set(pods[updates%len(pods)])
	}
	took = time.Since(began)
	ended.Store(true)
	all.Wait()
	for range readers {
		err = errors.Join(err, <-failed)
	}
	return updates, took, err
}
