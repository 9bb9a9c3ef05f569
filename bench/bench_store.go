// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-gen/informer-gen/runtime/lister"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// shelf is a store of either side, with an index by namespace and one by node.
type shelf interface {
	set(pod *corev1.Pod) error       // published at once
	setAll(pods []*corev1.Pod) error // in one step, as the informers do with what came together
	get(namespace, name string) (*corev1.Pod, error)
	list() ([]*corev1.Pod, error) // by lister
	visit(func(*corev1.Pod))      // each, by the cheapest way there is
	visitNode(node string, f func(*corev1.Pod)) error
}

func newShelf(s side) (shelf, error) {
	if s == clientGo {
		indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{
			cache.NamespaceIndex: cache.MetaNamespaceIndexFunc,
			byNode:               func(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).Spec.NodeName}, nil },
		})
		return clientGoShelf{indexer, corelisters.NewPodLister(indexer)}, nil
	}
	st, err := store.New(podsByNode)
	return ourShelf{st, lister.New(st, podsResource.GroupResource())}, err
}

const byNode = "ByNode"

var podsByNode = store.NewIndex(byNode, func(pod *corev1.Pod, keys []string) []string {
	return append(keys, pod.Spec.NodeName)
})

type ourShelf struct {
	store *store.Store[*corev1.Pod]
	pods  *lister.Resource[*corev1.Pod]
}

func (o ourShelf) set(pod *corev1.Pod) error {
	return o.store.Update(func(x *store.Txn[*corev1.Pod]) error { return x.Set(pod) })
}

func (o ourShelf) setAll(pods []*corev1.Pod) error {
	return o.store.Update(func(x *store.Txn[*corev1.Pod]) error {
		for _, pod := range pods {
			if err := x.Set(pod); err != nil {
				return err
			}
		}
		return nil
	})
}

func (o ourShelf) get(namespace, name string) (*corev1.Pod, error) {
	return o.pods.Namespace(namespace).Get(name)
}

func (o ourShelf) list() ([]*corev1.Pod, error) { return o.pods.List(labels.Everything()) }

func (o ourShelf) visit(f func(*corev1.Pod)) {
	for pod := range o.store.Snapshot().All() {
		f(pod)
	}
}

func (o ourShelf) visitNode(node string, f func(*corev1.Pod)) error {
	for pod := range podsByNode.Lookup(o.store.Snapshot(), node) {
		f(pod)
	}
	return nil
}

type clientGoShelf struct {
	indexer cache.Indexer
	lister  corelisters.PodLister
}

func (c clientGoShelf) set(pod *corev1.Pod) error { return c.indexer.Update(pod) }

func (c clientGoShelf) setAll(pods []*corev1.Pod) error {
	changes := make([]cache.Transaction, len(pods))
	for i, pod := range pods {
		changes[i] = cache.Transaction{Type: cache.TransactionTypeUpdate, Object: pod}
	}
	if err := c.indexer.(cache.TransactionStore).Transaction(changes...); err != nil {
		return err
	}
	return nil
}

func (c clientGoShelf) get(namespace, name string) (*corev1.Pod, error) {
	return c.lister.Pods(namespace).Get(name)
}

func (c clientGoShelf) list() ([]*corev1.Pod, error) { return c.lister.List(labels.Everything()) }

func (c clientGoShelf) visit(f func(*corev1.Pod)) {
	for _, obj := range c.indexer.List() {
		f(obj.(*corev1.Pod))
	}
}

func (c clientGoShelf) visitNode(node string, f func(*corev1.Pod)) error {
	objs, err := c.indexer.ByIndex(byNode, node)
	for _, obj := range objs {
		f(obj.(*corev1.Pod))
	}
	return err
}

// generations are the same Pods as they come in and updated, and every tenth moved to another node.
type generations struct{ first, updated, moved []*corev1.Pod }

func newGenerations(n int) generations {
	g := generations{first: slimPods(n), updated: make([]*corev1.Pod, n), moved: make([]*corev1.Pod, (n+9)/10)}
	nodes := max(1, n/podsPerNode)
	for i, pod := range g.first {
		g.updated[i] = changed(pod, n+1+i, 2)
	}
	for j := range g.moved {
		i := 10 * j
		g.moved[j] = changed(g.first[i], 2*n+1+i, 3)
		g.moved[j].Spec.NodeName = nodeName(i+1, nodes)
	}
	return g
}

const batch = 100

func storeBench() bench {
	return bench{
		name: "store",
		title: func(z sizes) string {
			return "store of " + digits(float64(z.objects)) + " objects, indexes by namespace and node; CPU time"
		},
		measures: []measure{
			{name: "update, index keys unchanged", unit: inTime},
			{name: "  allocated", unit: inBytes},
			{name: "  allocations"},
			{name: fmt.Sprintf("update in batches of %d, per object", batch), unit: inTime},
			{name: "  allocated", unit: inBytes},
			{name: "  allocations"},
			{name: "update, one index key changed", unit: inTime},
			{name: "  allocated", unit: inBytes},
			{name: "  allocations"},
			{name: "Get, by lister", unit: inTime},
			{name: "  allocations"},
			{name: "list of all, by lister", unit: inTime},
			{name: "  allocated", unit: inBytes},
			{name: "visit all", unit: inTime},
			{name: "  allocated", unit: inBytes},
			{name: fmt.Sprintf("visit %d by index", podsPerNode), unit: inTime},
			{name: "  allocated", unit: inBytes},
			{name: "overhead per object, filled", unit: inBytes},
			{name: "overhead per object, all updated once", unit: inBytes},
		},
		prepare: func(z sizes) (func(side) (outcome, error), func() error, error) {
			g := newGenerations(z.objects)
			return func(s side) (outcome, error) { return storeOnce(s, g) }, nothing, nil
		},
	}
}

// meter collects the values of a run, and its first error.
type meter struct {
	values []float64
	err    error
}

// cpu, allocated and allocations pick what a line shows.
func cpu(s share) float64         { return s.cpu }
func allocated(s share) float64   { return s.bytes }
func allocations(s share) float64 { return s.allocs }

func (m *meter) measure(operations int, work func() error, lines ...func(share) float64) {
	if m.err != nil {
		return
	}
	c, err := costOf(work)
	m.err = err
	for _, line := range lines {
		m.values = append(m.values, line(c.per(operations)))
	}
}

func storeOnce(s side, g generations) (outcome, error) {
	n := len(g.first)
	base := liveHeap()
	sh, err := newShelf(s)
	if err != nil {
		return outcome{}, err
	}
	each := func(pods []*corev1.Pod) func() error {
		return func() error {
			var errs error
			for _, pod := range pods {
				if err := sh.set(pod); err != nil {
					errs = err
				}
			}
			return errs
		}
	}
	if err := each(g.first)(); err != nil {
		return outcome{}, err
	}
	filled := (liveHeap() - base) / float64(n)

	var m meter
	m.measure(n, each(g.updated), cpu, allocated, allocations)
	updated := (liveHeap() - base) / float64(n)
	m.measure(n, func() error { // these two generations differ in no index key
		for from := 0; from < n; from += batch {
			if err := sh.setAll(g.first[from:min(n, from+batch)]); err != nil {
				return err
			}
		}
		return nil
	}, cpu, allocated, allocations)
	m.measure(len(g.moved), each(g.moved), cpu, allocated, allocations)
	var saw seen
	m.measure(n, func() error {
		for _, pod := range g.first {
			got, err := sh.get(pod.Namespace, pod.Name)
			if err != nil {
				return err
			}
			saw.digest += uint64(got.Generation)
		}
		return nil
	}, cpu, allocations)
	const lists = 10
	m.measure(lists, func() error {
		for range lists {
			pods, err := sh.list()
			if err != nil {
				return err
			}
			saw.objects += len(pods)
		}
		return nil
	}, cpu, allocated)
	m.measure(lists, func() error {
		for range lists {
			sh.visit(func(pod *corev1.Pod) { saw.digest += uint64(pod.Generation) })
		}
		return nil
	}, cpu, allocated)
	nodes := max(1, n/podsPerNode)
	lookups := 10 * nodes
	m.measure(lookups, func() error {
		for i := range lookups {
			if err := sh.visitNode(nodeName(i, nodes), func(*corev1.Pod) { saw.events++ }); err != nil {
				return err
			}
		}
		return nil
	}, cpu, allocated)
	runtime.KeepAlive(sh)
	return outcome{values: append(m.values, filled, updated), seen: saw}, m.err
}

const readers = 8

func readersBench() bench {
	return bench{
		name: "readers",
		title: func(z sizes) string {
			return fmt.Sprintf("the same with %s objects, %d goroutines that list all in a loop", digits(float64(z.pods/2)), readers)
		},
		measures: []measure{
			{name: "updates", unit: perSecond, more: true},
			{name: "lists", unit: perSecond, more: true},
		},
		prepare: func(z sizes) (func(side) (outcome, error), func() error, error) {
			g := newGenerations(z.pods / 2)
			return func(s side) (outcome, error) { return readersOnce(s, g, z.window) }, nothing, nil
		},
	}
}

func readersOnce(s side, g generations, window time.Duration) (outcome, error) {
	sh, err := newShelf(s)
	if err != nil {
		return outcome{}, err
	}
	if err := sh.setAll(g.first); err != nil {
		return outcome{}, err
	}
	runtime.GC()
	var wg sync.WaitGroup
	var over, wrong atomic.Bool
	var lists atomic.Int64
	for range readers {
		wg.Go(func() {
			for !over.Load() {
				if pods, err := sh.list(); err != nil || len(pods) != len(g.first) {
					wrong.Store(true)
				}
				lists.Add(1)
			}
		})
	}
	updates := 0
	began := time.Now()
	for time.Since(began) < window {
		from := g.updated
		if updates/len(g.first)%2 == 1 {
			from = g.first
		}
		err = errors.Join(err, sh.set(from[updates%len(g.first)]))
		updates++
	}
	took := time.Since(began).Seconds()
	over.Store(true)
	wg.Wait()
	if wrong.Load() {
		err = errors.Join(err, errors.New("a list was incomplete"))
	}
	var saw seen
	sh.visit(func(*corev1.Pod) { saw.objects++ })
	return outcome{values: []float64{float64(updates) / took, float64(lists.Load()) / took}, seen: saw}, err
}
