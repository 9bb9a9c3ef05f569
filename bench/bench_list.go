// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"math"
	"runtime"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informer-gen/informer-gen/bench/data"
	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/probe"
	"github.com/informer-gen/informer-gen/bench/report"
)

// asked is a query of a store.
type asked int

const (
	forAll       asked = iota
	forNamespace       // a tenth
	forLabel           // a hundredth matches
	forIndex           // PodsOnNode have the key
)

// query asks a store for objects and returns how many it got.
type query func() (int, error)

func (q query) timed() (took time.Duration, found int, err error) {
	began := time.Now()
	found, err = q()
	return time.Since(began), found, err
}

// queries are one side's two ways to answer one question: as the slice that a lister returns, and
// as a loop over the objects by the cheapest public way, which is an iterator where there is one.
type queries struct{ slice, each query }

// lists is a store that answers several questions.
type lists interface {
	setter
	queries(asked) queries
}

const goSlice harness.Side = "a Go slice"

// questions are the questions, with the mark for the slice.
var questions = []struct {
	name         string
	ask          asked
	mark         float64
	sharedLabels bool // Pods of one app share their label map, else each has its own; comes last
}{
	{"all", forAll, 0.35, false},
	{"namespace, a tenth", forNamespace, 0.35, false},
	{"index, 100", forIndex, 0.35, false},
	{"labels, a hundredth", forLabel, 0.2, false},
	{"shared labels, a hundredth", forLabel, 0, true},
}

// listBenches read many objects at once.
func listBenches() []harness.Bench {
	var measures []harness.Measure
	for _, q := range questions {
		measures = append(measures,
			harness.Measure{Name: q.name + ": slice, CPU time", Unit: harness.Time, Ratio: q.mark},
			harness.Measure{Name: q.name + ": slice, allocated", Unit: harness.Bytes},
			harness.Measure{Name: q.name + ": slice, allocations"},
			harness.Measure{Name: q.name + ": slice, the first time", Unit: harness.Time},
			harness.Measure{Name: q.name + ": loop, CPU time", Unit: harness.Time},
			harness.Measure{Name: q.name + ": loop, allocated", Unit: harness.Bytes},
			harness.Measure{Name: q.name + ": loop, allocations", Limit: harness.AtMost(0)},
		)
	}
	return []harness.Bench{{
		Name: "list",
		Title: func(z harness.Sizes) string {
			return "lists of a store with " + report.Digits(float64(z.Many)) + " objects, by what is asked"
		},
		Measures: measures,
		Others:   []harness.Side{harness.ControllerRuntime, goSlice},
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			pods := data.SlimPods(e.Sizes.Many)
			l, done, err := listsFor(e.Side, pods)
			return func() (harness.Outcome, error) { return listAll(l, pods) }, done, err
		},
	}}
}

func listAll(l lists, pods []*corev1.Pod) (harness.Outcome, error) {
	o := harness.Outcome{Values: map[string]float64{}}
	for _, q := range questions {
		if q.sharedLabels {
			if err := setEach(l, withSharedLabels(pods)); err != nil {
				return o, err
			}
		}
		if err := listOnce(&o, q.name, l.queries(q.ask)); err != nil {
			return o, err
		}
	}
	return o, nil
}

const oneApp = 7

var ofOneApp = labels.SelectorFromSet(labels.Set{data.AppLabel: data.AppName(oneApp)})

func withSharedLabels(pods []*corev1.Pod) []*corev1.Pod {
	shared := map[string]map[string]string{}
	next := data.ChangedAll(pods)
	for _, pod := range next {
		app := pod.Labels[data.AppLabel]
		if shared[app] == nil {
			shared[app] = pod.Labels
		}
		pod.Labels = shared[app]
	}
	return next
}

// listsFor fills a store and replaces every object once, so that objects lie in memory as in a
// cache that has run for a while.
func listsFor(s harness.Side, pods []*corev1.Pod) (l lists, done func() error, err error) {
	switch s {
	case harness.Ours:
		l, err = newOurStore(criteria[0])
	case harness.ClientGo:
		l = newClientGoStore(true, criteria[0])
	case harness.ControllerRuntime:
		l, done, err = startControllerRuntime(criteria[0])
	default:
		return bareSlice(data.ChangedAll(pods)), nil, nil
	}
	if err == nil {
		err = setEach(l, pods)
	}
	if err == nil {
		err = setEach(l, data.ChangedAll(pods))
	}
	return l, done, err
}

// listTime is about how long a query is repeated.
const listTime = 200 * time.Millisecond

// listOnce measures both answers to a question, and adds the number of objects found to what the
// side has seen.
func listOnce(o *harness.Outcome, name string, q queries) error {
	for _, m := range []struct {
		name string
		ask  query
	}{{"slice", q.slice}, {"loop", q.each}} {
		if m.ask == nil {
			continue
		}
		first, found, err := m.ask.timed()
		if err != nil {
			return err
		}
		if m.name == "slice" {
			o.Seen.Objects += found
			o.Values[name+": slice, the first time"] = float64(first)
		}
		again, _, err := m.ask.timed() // says how often it must be done to take a while
		if err != nil {
			return err
		}
		times := int(min(max(listTime/(again+1), 3), 2000))
		c, err := probe.CostOf(func() error {
			for range times {
				if _, err := m.ask(); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		per := c.Per(times)
		o.Values[name+": "+m.name+", CPU time"] = per.CPU
		// Whole ones, as testing.AllocsPerRun has them: what the rest of the process does now and
		// then isn't the query's.
		o.Values[name+": "+m.name+", allocations"] = math.Floor(per.Allocs)
		o.Values[name+": "+m.name+", allocated"] = 0
		if per.Allocs >= 1 {
			o.Values[name+": "+m.name+", allocated"] = per.Bytes
		}
	}
	runtime.KeepAlive(q)
	return nil
}

// look is the work of a loop on one Pod. It returns 0, but the compiler can't know that.
func look(pod *corev1.Pod) int { return int(pod.Generation) >> 62 }

// sizeOf returns the length of a list that is otherwise unused.
func sizeOf[T any](objs []T, err error) (int, error) { return len(objs), err }

func (o *ourStore) queries(ask asked) queries {
	node := o.indexes[criteria[0].name]
	count := func(seq func(func(*corev1.Pod) bool)) (int, error) {
		n := 0
		for pod := range seq {
			n += 1 + look(pod)
		}
		return n, nil
	}
	switch ask {
	case forNamespace:
		return queries{
			func() (int, error) { return sizeOf(o.pods.Pods(data.BigNamespace).List(everything)) },
			func() (int, error) { return count(o.store.Snapshot().Namespace(data.BigNamespace)) },
		}
	case forLabel:
		return queries{
			func() (int, error) { return sizeOf(o.pods.List(ofOneApp)) },
			func() (int, error) { return count(o.store.Snapshot().Select(ofOneApp)) },
		}
	case forIndex:
		return queries{
			func() (int, error) { return sizeOf(node.List(o.store.Snapshot(), data.NodeName(0)), nil) },
			func() (int, error) { return count(node.Lookup(o.store.Snapshot(), data.NodeName(0))) },
		}
	}
	return queries{
		func() (int, error) { return sizeOf(o.pods.List(everything)) },
		func() (int, error) { return count(o.store.Snapshot().All()) },
	}
}

func (c *clientGoStore) queries(ask asked) queries {
	count := func(objs []any, err error) (int, error) {
		n := len(objs)
		for _, obj := range objs {
			n += look(obj.(*corev1.Pod))
		}
		return n, err
	}
	switch ask {
	case forNamespace:
		return queries{
			func() (int, error) { return sizeOf(c.pods.Pods(data.BigNamespace).List(everything)) },
			func() (int, error) { return count(c.indexer.ByIndex(cache.NamespaceIndex, data.BigNamespace)) },
		}
	case forLabel:
		return queries{
			func() (int, error) { return sizeOf(c.pods.List(ofOneApp)) },
			func() (int, error) { return countAll(c.pods.List(ofOneApp)) },
		}
	case forIndex: // what its index gives is []any in both
		return queries{
			func() (int, error) { return sizeOf(c.indexer.ByIndex(criteria[0].name, data.NodeName(0))) },
			func() (int, error) { return count(c.indexer.ByIndex(criteria[0].name, data.NodeName(0))) },
		}
	}
	return queries{
		func() (int, error) { return sizeOf(c.pods.List(everything)) },
		func() (int, error) { return count(c.indexer.List(), nil) },
	}
}

func countAll(pods []*corev1.Pod, err error) (int, error) {
	n := len(pods)
	for _, pod := range pods {
		n += look(pod)
	}
	return n, err
}

func (c *controllerRuntimeStore) queries(ask asked) queries {
	var opts []client.ListOption
	switch ask {
	case forNamespace:
		opts = append(opts, client.InNamespace(data.BigNamespace))
	case forLabel:
		opts = append(opts, client.MatchingLabelsSelector{Selector: ofOneApp})
	case forIndex:
		opts = append(opts, client.MatchingFields{criteria[0].name: data.NodeName(0)})
	}
	return queries{slice: func() (int, error) {
		var list corev1.PodList
		err := c.cache.List(context.Background(), &list, opts...)
		return len(list.Items), err
	}}
}

// bareSlice has exactly the wanted objects, to be copied or looped over: nothing has to be found.
type bareSlice []*corev1.Pod

func (b bareSlice) set(*corev1.Pod) error { return nil }

func (b bareSlice) queries(ask asked) queries {
	wanted := slices.DeleteFunc(slices.Clone(b), func(pod *corev1.Pod) bool {
		switch ask {
		case forNamespace:
			return pod.Namespace != data.BigNamespace
		case forLabel:
			return pod.Labels[data.AppLabel] != data.AppName(oneApp)
		case forIndex:
			return pod.Spec.NodeName != data.NodeName(0)
		}
		return false
	})
	return queries{
		func() (int, error) { return sizeOf([]*corev1.Pod(slices.Clone(wanted)), nil) },
		func() (int, error) { return countAll(wanted, nil) },
	}
}
