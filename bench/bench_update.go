// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/bench/data"
	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/probe"
	"github.com/informer-gen/informer-gen/bench/report"
)

// updates is a benchmark of updates in a store with some indexes.
type updates struct {
	name, title string
	mark        float64
	// client-go's store has an index by namespace; ours always answers by namespace
	byNamespace bool
	doubled     bool // client-go's index functions are those of controller-runtime's IndexField
	moved       bool // the node's key changes
	criteria    []criterion
	others      []harness.Side
}

// updateBenches update one object after the other, with more indexes from row to row. In the rows
// called doubled, client-go's indexes are those of controller-runtime's IndexField, which have two
// keys for each value: one in the namespace, and one in all. Ours find objects in a namespace and
// in all by one key. So in these rows both sides can answer the same questions. With functions
// written by hand, in the rows before them, client-go's can't.
func updateBenches() []harness.Bench {
	return []harness.Bench{
		updates{name: "none", title: "without an index", others: []harness.Side{goMap}}.bench(),
		updates{name: "namespace", title: "index by namespace", byNamespace: true}.bench(),
		updates{name: "namespace+1", title: "indexes by namespace and node", byNamespace: true, criteria: criteria[:1], mark: 0.8}.bench(),
		updates{name: "namespace+1/doubled", title: "the same, by controller-runtime's IndexField", byNamespace: true, criteria: criteria[:1], doubled: true, mark: 0.8}.bench(),
		updates{name: "namespace+2", title: "indexes by namespace, node and owner", byNamespace: true, criteria: criteria[:2]}.bench(),
		updates{name: "namespace+5", title: "indexes by namespace, " + criterionNames(criteria), byNamespace: true, criteria: criteria}.bench(),
		updates{name: "namespace+5/doubled", title: "the same, by controller-runtime's IndexField", byNamespace: true, criteria: criteria, doubled: true, mark: 0.25}.bench(),
		updates{name: "moved", title: "indexes by namespace and node, the node changes", byNamespace: true, criteria: criteria[:1], moved: true}.bench(),
	}
}

func (u updates) bench() harness.Bench {
	return harness.Bench{
		Name: "update/" + u.name,
		Title: func(z harness.Sizes) string {
			return "update of one object of " + report.Digits(float64(z.Many)) + ", " + u.title
		},
		Measures: []harness.Measure{
			{Name: "CPU time, per update", Unit: harness.Time, Ratio: u.mark},
			{Name: "allocated, per update", Unit: harness.Bytes},
			{Name: "allocations, per update"},
		},
		Others: u.others,
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			s, err := setterFor(e.Side, u.byNamespace, u.doubled, u.criteria)
			if err != nil {
				return nil, nil, err
			}
			first := data.SlimPods(e.Sizes.Many)
			next := data.ChangedAll(first)
			if u.moved {
				for i, pod := range next {
					pod.Spec.NodeName = data.NodeName(i % max(1, len(next)/data.PodsOnNode))
				}
			}
			if err := setEach(s, first); err != nil {
				return nil, nil, err
			}
			return func() (harness.Outcome, error) { return updateOnce(s, next) }, nil, nil
		},
	}
}

func setterFor(s harness.Side, byNamespace, doubled bool, indexed []criterion) (setter, error) {
	switch {
	case s == harness.Ours:
		return newOurStore(indexed...)
	case s == goMap:
		return bareMap{}, nil
	case doubled:
		return newControllerRuntimeStore(indexed...)
	default:
		return newClientGoStore(byNamespace, indexed...), nil
	}
}

// updateOnce puts one object after the other into s, each published at once.
func updateOnce(s setter, next []*corev1.Pod) (harness.Outcome, error) {
	c, err := probe.CostOf(func() error { return setEach(s, next) })
	runtime.KeepAlive(s)
	per := c.Per(len(next))
	return harness.Outcome{Values: map[string]float64{
		"CPU time, per update":    per.CPU,
		"allocated, per update":   per.Bytes,
		"allocations, per update": per.Allocs,
	}}, err
}
