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
)

// asked is a query of a store.
type asked int

const (
	forAll       asked = iota
	forNamespace       // a tenth
	forLabel           // a hundredth matches
	forIndex           // podsOnNode have the key
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

const goSlice side = "a Go slice"

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
func listBenches() []bench {
	var measures []measure
	for _, q := range questions {
		measures = append(measures,
			measure{name: q.name + ": slice, CPU time", unit: inTime, ratio: q.mark},
			measure{name: q.name + ": slice, allocated", unit: inBytes},
			measure{name: q.name + ": slice, allocations"},
			measure{name: q.name + ": slice, the first time", unit: inTime},
			measure{name: q.name + ": loop, CPU time", unit: inTime},
			measure{name: q.name + ": loop, allocated", unit: inBytes},
			measure{name: q.name + ": loop, allocations", limit: atMost(0)},
		)
	}
	return []bench{{
		name: "list",
		title: func(z sizes) string {
			return "lists of a store with " + digits(float64(z.Many)) + " objects, by what is asked"
		},
		measures: measures,
		others:   []side{controllerRuntime, goSlice},
		prepare: func(e env) (func() (outcome, error), func() error, error) {
			pods := slimPods(e.sizes.Many)
			l, done, err := listsFor(e.side, pods)
			return func() (outcome, error) { return listAll(l, pods) }, done, err
		},
	}}
}

func listAll(l lists, pods []*corev1.Pod) (outcome, error) {
	o := outcome{Values: map[string]float64{}}
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

var ofOneApp = labels.SelectorFromSet(labels.Set{appLabel: appName(oneApp)})

func withSharedLabels(pods []*corev1.Pod) []*corev1.Pod {
	shared := map[string]map[string]string{}
	next := changedAll(pods)
	for _, pod := range next {
		app := pod.Labels[appLabel]
		if shared[app] == nil {
			shared[app] = pod.Labels
		}
		pod.Labels = shared[app]
	}
	return next
}

// listsFor fills a store and replaces every object once, so that objects lie in memory as in a
// cache that has run for a while.
func listsFor(s side, pods []*corev1.Pod) (l lists, done func() error, err error) {
	switch s {
	case ours:
		l, err = newOurStore(criteria[0])
	case clientGo:
		l = newClientGoStore(true, criteria[0])
	case controllerRuntime:
		l, done, err = startControllerRuntime(criteria[0])
	default:
		return bareSlice(changedAll(pods)), nil, nil
	}
	if err == nil {
		err = setEach(l, pods)
	}
	if err == nil {
		err = setEach(l, changedAll(pods))
	}
	return l, done, err
}

// listTime is about how long a query is repeated.
const listTime = 200 * time.Millisecond

// listOnce measures both answers to a question, and adds the number of objects found to what the
// side has seen.
func listOnce(o *outcome, name string, q queries) error {
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
		c, err := costOf(func() error {
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
		per := c.per(times)
		o.Values[name+": "+m.name+", CPU time"] = per.cpu
		// Whole ones, as testing.AllocsPerRun has them: what the rest of the process does now and
		// then isn't the query's.
		o.Values[name+": "+m.name+", allocations"] = math.Floor(per.allocs)
		o.Values[name+": "+m.name+", allocated"] = 0
		if per.allocs >= 1 {
			o.Values[name+": "+m.name+", allocated"] = per.bytes
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
			func() (int, error) { return sizeOf(o.pods.Pods(bigNamespace).List(everything)) },
			func() (int, error) { return count(o.store.Snapshot().Namespace(bigNamespace)) },
		}
	case forLabel:
		return queries{
			func() (int, error) { return sizeOf(o.pods.List(ofOneApp)) },
			func() (int, error) { return count(o.store.Snapshot().Select(ofOneApp)) },
		}
	case forIndex:
		return queries{
			func() (int, error) { return sizeOf(node.List(o.store.Snapshot(), nodeName(0)), nil) },
			func() (int, error) { return count(node.Lookup(o.store.Snapshot(), nodeName(0))) },
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
			func() (int, error) { return sizeOf(c.pods.Pods(bigNamespace).List(everything)) },
			func() (int, error) { return count(c.indexer.ByIndex(cache.NamespaceIndex, bigNamespace)) },
		}
	case forLabel:
		return queries{
			func() (int, error) { return sizeOf(c.pods.List(ofOneApp)) },
			func() (int, error) { return countAll(c.pods.List(ofOneApp)) },
		}
	case forIndex: // what its index gives is []any in both
		return queries{
			func() (int, error) { return sizeOf(c.indexer.ByIndex(criteria[0].name, nodeName(0))) },
			func() (int, error) { return count(c.indexer.ByIndex(criteria[0].name, nodeName(0))) },
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
		opts = append(opts, client.InNamespace(bigNamespace))
	case forLabel:
		opts = append(opts, client.MatchingLabelsSelector{Selector: ofOneApp})
	case forIndex:
		opts = append(opts, client.MatchingFields{criteria[0].name: nodeName(0)})
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
			return pod.Namespace != bigNamespace
		case forLabel:
			return pod.Labels[appLabel] != appName(oneApp)
		case forIndex:
			return pod.Spec.NodeName != nodeName(0)
		}
		return false
	})
	return queries{
		func() (int, error) { return sizeOf([]*corev1.Pod(slices.Clone(wanted)), nil) },
		func() (int, error) { return countAll(wanted, nil) },
	}
}
