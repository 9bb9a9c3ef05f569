// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/bench/data"
	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/probe"
	"github.com/informer-gen/informer-gen/bench/report"
)

const (
	growth       = 50    // ratio of the stores' sizes
	growthSteps  = 9_000 // repetitions of each operation
	growthSpread = 100   // namespaces, and accounts; each has Pods everywhere in the store
)

// growthBench does the same in a small store and in one with growth times as many objects. Its
// value is the bytes allocated in the large store, divided by those in the small one.
func growthBench() harness.Bench {
	return harness.Bench{
		Name: "growth",
		Title: func(z harness.Sizes) string {
			return "a store of few objects (" + report.Digits(float64(z.Grown/growth)) + ") and one of many (" + report.Digits(float64(z.Grown)) + ")"
		},
		Prepare: prepared(func(e harness.Env) (harness.Outcome, error) {
			updates, deletes, err := bytesIn(e.Side, e.Sizes.Grown/growth, e.Sizes.Grown/growth)
			if err != nil {
				return harness.Outcome{}, err
			}
			laterUpdates, laterDeletes, err := bytesIn(e.Side, e.Sizes.Grown, e.Sizes.Grown/growth)
			return harness.Outcome{Values: map[string]float64{
				"update of two index keys: growth of what is allocated": laterUpdates / updates,
				"delete: growth of what is allocated":                   laterDeletes / deletes,
			}}, err
		}),
	}
}

// bytesIn returns the bytes allocated by an update and by a delete in a store of n objects. Only
// the first some objects change.
func bytesIn(side harness.Side, n, some int) (update, remove float64, err error) {
	s, err := newStore(side, byNode, byAccount)
	if err != nil {
		return 0, 0, err
	}
	pods := growthPods(n)
	if err := setEach(s, pods); err != nil {
		return 0, 0, err
	}
	chosen, next := make([]*corev1.Pod, growthSteps), make([]*corev1.Pod, growthSteps)
	for i := range chosen { // far from one another
		chosen[i] = pods[i*7919%some]
		next[i] = data.Changed(chosen[i], i, 1)
		next[i].Spec.NodeName = data.NodeName(i * 17 % max(1, some/data.PodsOnNode))
		next[i].Spec.ServiceAccountName = data.AppName(i * 17 % growthSpread)
	}
	updates, err := probe.CostOf(func() error { return setEach(s, next) })
	if err != nil {
		return 0, 0, err
	}
	deletes, err := probe.CostOf(func() error {
		for _, pod := range chosen {
			if err := s.delete(pod); err != nil {
				return err
			}
		}
		return nil
	})
	runtime.KeepAlive(s)
	return updates.Per(growthSteps).Bytes, deletes.Per(growthSteps).Bytes, err
}

// growthPods returns n Pods with a name, a namespace, a node and an account; PodsOnNode are on each
// node. The same n gives the same Pods.
func growthPods(n int) []*corev1.Pod {
	pods := make([]*corev1.Pod, n)
	nodes := max(1, n/data.PodsOnNode)
	for i := range pods {
		pods[i] = &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "pod-" + strconv.Itoa(i), Namespace: "team-" + strconv.Itoa(i%growthSpread)},
			Spec:       corev1.PodSpec{NodeName: data.NodeName(i * 7919 % nodes), ServiceAccountName: data.AppName(i * 31 % growthSpread)},
		}
	}
	return pods
}
