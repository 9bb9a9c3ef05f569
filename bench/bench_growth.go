// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/bench/data"
	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/probe"
	"github.com/informer-gen/informer-gen/bench/report"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

const (
	growth         = 50    // the large store has so many times as many objects
	growthSteps    = 9_000 // how often each operation is done
	growthSpread   = 100   // namespaces, and accounts; each has Pods everywhere in the store
	growthRepeated = 300   // Pods of a repeated operation
)

// growthBenches does some operations in a store of few objects, and in one of growth times as many.
// The marks of writes are for the growth, which is the cost in the large store divided by that in
// the small one. What is done for the first time waits for memory in a large store, as in
// client-go's. What is repeated on the same Pods finds them in the CPU's caches. The mark of a
// look-up in an old state, which reads Pods from all parts of the store, is far below the cost of
// reading everything that has changed.
func growthBenches() []harness.Bench {
	const most = 100 * time.Microsecond
	var measures []harness.Measure
	for _, w := range growthWork {
		rows := []harness.Measure{{Name: "CPU time, of few", Unit: harness.Time}, {Name: "CPU time, of many", Unit: harness.Time}, {Name: "growth of CPU time"}}
		if w.kind == oldLookUp {
			rows[1].Limit = harness.AtMost(float64(most))
		} else {
			rows[2].Limit = harness.AtMost(1.5)
		}
		if w.kind == firstWrite {
			rows = append(rows, harness.Measure{Name: "allocated, of few", Unit: harness.Bytes}, harness.Measure{Name: "allocated, of many", Unit: harness.Bytes},
				harness.Measure{Name: "growth of what is allocated", Limit: harness.AtMost(1.5)})
		}
		for _, m := range rows {
			m.Name = w.name + ": " + m.Name
			measures = append(measures, m)
		}
	}
	return []harness.Bench{{
		Name: "growth",
		Title: func(z harness.Sizes) string {
			return "a store of few objects (" + report.Digits(float64(z.Grown/growth)) + ") and one of many (" + report.Digits(float64(z.Grown)) + ")"
		},
		Measures: measures,
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			return func() (harness.Outcome, error) { return growthOnce(e.Side, e.Sizes.Grown) }, nil, nil
		},
	}}
}

// grown is a store for these benchmarks.
type grown interface {
	setter
	delete(*corev1.Pod) error
	// hold returns a function that counts the Pods on a node, in the store's state at the time of
	// hold if the store can keep it.
	hold() func(node string) (int, error)
}

// growthKind decides which rows an operation has.
type growthKind int

const (
	oldLookUp growthKind = iota
	firstWrite
	repeatedWrite
)

// growthWork are the operations, in their order. They use as many Pods of one store as of the
// other. Each returns the cost of growthSteps of them, and the number of objects that it has read
// or written.
var growthWork = []struct {
	name string
	kind growthKind
	do   func(grown, []*corev1.Pod) (probe.Cost, int, error)
}{
	{"look-up in an old state", oldLookUp, lookUpInOldState},
	{"update of two index keys", firstWrite, moveSome},
	{"delete", firstWrite, deleteSome},
	{"repeated update of two index keys", repeatedWrite, moveRepeatedly},
	{"repeated delete", repeatedWrite, deleteRepeatedly},
}

func growthOnce(on harness.Side, many int) (harness.Outcome, error) {
	o := harness.Outcome{Values: map[string]float64{}}
	for _, n := range []int{many / growth, many} {
		pods := growthPods(n)
		s, err := newGrown(on, pods)
		if err != nil {
			return harness.Outcome{}, err
		}
		for _, w := range growthWork {
			c, objects, err := w.do(s, pods[:many/growth])
			if err != nil {
				return harness.Outcome{}, err
			}
			o.Seen.Objects += objects
			per := c.Per(growthSteps)
			if n < many {
				o.Values[w.name+": CPU time, of few"] = per.CPU
				o.Values[w.name+": allocated, of few"] = per.Bytes
				continue
			}
			o.Values[w.name+": CPU time, of many"] = per.CPU
			o.Values[w.name+": growth of CPU time"] = per.CPU / o.Values[w.name+": CPU time, of few"]
			o.Values[w.name+": allocated, of many"] = per.Bytes
			o.Values[w.name+": growth of what is allocated"] = per.Bytes / max(1, o.Values[w.name+": allocated, of few"])
		}
		runtime.KeepAlive(s)
	}
	return o, nil
}

// growthPods returns n Pods with a name, a namespace, a node and an account; PodsOnNode are on each
// node. The same n gives the same Pods.
func growthPods(n int) []*corev1.Pod {
	pods := make([]*corev1.Pod, n)
	nodes := nodesOf(pods)
	for i := range pods {
		pods[i] = &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "pod-" + strconv.Itoa(i), Namespace: "team-" + strconv.Itoa(i%growthSpread)},
			Spec:       corev1.PodSpec{NodeName: data.NodeName(i * 7919 % nodes), ServiceAccountName: data.AppName(i * 31 % growthSpread)},
		}
	}
	return pods
}

// someOf returns n of the Pods, far from one another; all of them again and again if there are
// fewer.
func someOf(pods []*corev1.Pod, n int) []*corev1.Pod {
	some := make([]*corev1.Pod, n)
	for i := range some {
		some[i] = pods[i*7919%len(pods)]
	}
	return some
}

// moved returns each Pod's next state, on another node and with another account. A different by
// gives different ones. nodes is the number of nodes.
func moved(pods []*corev1.Pod, nodes, by int) []*corev1.Pod {
	next := make([]*corev1.Pod, len(pods))
	for i, pod := range pods {
		next[i] = data.Changed(pod, i, 1)
		next[i].Spec.NodeName = data.NodeName((i*17 + by) % nodes)
		next[i].Spec.ServiceAccountName = data.AppName((i*17 + by) % growthSpread)
	}
	return next
}

func nodesOf(pods []*corev1.Pod) int { return max(1, len(pods)/data.PodsOnNode) }

func deleteSome(s grown, pods []*corev1.Pod) (probe.Cost, int, error) {
	some := someOf(pods, growthSteps)
	c, err := probe.CostOf(func() error { return deleteEach(s, some) })
	return c, len(some), err
}

func moveSome(s grown, pods []*corev1.Pod) (probe.Cost, int, error) {
	next := moved(someOf(pods, growthSteps), nodesOf(pods), 0)
	c, err := probe.CostOf(func() error { return setEach(s, next) })
	return c, len(next), err
}

func moveRepeatedly(s grown, pods []*corev1.Pod) (probe.Cost, int, error) {
	some, nodes := someOf(pods, growthRepeated), nodesOf(pods)
	return repeatedly(func(round int) (func() error, error) {
		next := moved(some, nodes, round)
		return func() error { return setEach(s, next) }, nil
	})
}

func deleteRepeatedly(s grown, pods []*corev1.Pod) (probe.Cost, int, error) {
	some := someOf(pods, growthRepeated)
	return repeatedly(func(int) (func() error, error) {
		return func() error { return deleteEach(s, some) }, setEach(s, some)
	})
}

// repeatedly measures growthSteps operations on the same growthRepeated Pods. Each round prepares
// work, which has each of the Pods once; only that is measured, and not that of the first round.
func repeatedly(round func(int) (work func() error, err error)) (probe.Cost, int, error) {
	const rounds = growthSteps / growthRepeated
	runtime.GC()
	var all probe.Cost
	for i := range 1 + rounds {
		work, err := round(i)
		if err != nil {
			return probe.Cost{}, 0, err
		}
		m := probe.StartMeter()
		err = work()
		c := m.Stop()
		if err != nil {
			return probe.Cost{}, 0, err
		}
		if i > 0 {
			all = all.Plus(c)
		}
	}
	return all, growthSteps, nil
}

func lookUpInOldState(s grown, pods []*corev1.Pod) (probe.Cost, int, error) {
	count, some := s.hold(), someOf(pods, growthSteps)
	for i, pod := range some {
		if err := s.set(data.Changed(pod, i, 1)); err != nil {
			return probe.Cost{}, 0, err
		}
	}
	found := 0
	c, err := probe.CostOf(func() error {
		for _, pod := range some {
			n, err := count(pod.Spec.NodeName)
			if err != nil {
				return err
			}
			found += n
		}
		return nil
	})
	return c, found, err
}

// growthCriteria are few Pods for each key, and many.
var growthCriteria = []criterion{criteria[0], criteria[3]}

func newGrown(s harness.Side, pods []*corev1.Pod) (grown, error) {
	if s == harness.Ours {
		o, err := newOurStore(growthCriteria...)
		if err != nil {
			return nil, err
		}
		return o, o.setAll(pods)
	}
	c := newClientGoStore(true, growthCriteria...)
	return c, setEach(c, pods)
}

func deleteEach(s grown, pods []*corev1.Pod) error {
	for _, pod := range pods {
		if err := s.delete(pod); err != nil {
			return err
		}
	}
	return nil
}

func (o *ourStore) delete(pod *corev1.Pod) error {
	return o.store.Update(func(x *store.Txn[*corev1.Pod]) error {
		x.Delete(object.KeyOf(pod))
		return nil
	})
}

func (o *ourStore) hold() func(string) (int, error) {
	snapshot, index := o.store.Snapshot(), o.indexes[criteria[0].name]
	return func(node string) (n int, err error) {
		for range index.Lookup(snapshot, node) {
			n++
		}
		return n, nil
	}
}

func (c *clientGoStore) delete(pod *corev1.Pod) error { return c.indexer.Delete(pod) }

// hold reads the newest state, because client-go's store keeps no other.
func (c *clientGoStore) hold() func(string) (int, error) {
	return func(node string) (int, error) {
		pods, err := c.indexer.ByIndex(criteria[0].name, node)
		return len(pods), err
	}
}
