// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/probe"
	"github.com/informer-gen/informer-gen/bench/report"
	"github.com/informer-gen/informer-gen/bench/server"
)

// reads do a number of reads.
type reads struct {
	do func() error
	n  int
}

// readsBench measures reads of Pods. all returns the reads of a framework by the measure's name.
func readsBench(name string, measures []harness.Measure, open newFramework, all func(framework) (map[string]reads, error)) harness.Bench {
	has := func(z harness.Sizes) server.World { return server.World{Pods: z.Pods} }
	return harness.Bench{
		Name: "adapter/" + name,
		Title: func(z harness.Sizes) string {
			return under(name, "reads of "+report.Digits(float64(z.Pods))+" Pods")
		},
		Measures: measures,
		World:    has,
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			return func() (harness.Outcome, error) {
				f, err := openAndSync(e, has(e.Sizes), open)
				if err != nil {
					return harness.Outcome{}, err
				}
				o, err := readOnce(f, measures, all)
				return o, errors.Join(err, f.stop())
			}, nil, server.Begin(e.Server)
		},
	}
}

func readOnce(f framework, measures []harness.Measure, all func(framework) (map[string]reads, error)) (o harness.Outcome, err error) {
	if o.Seen, err = f.see(); err != nil {
		return o, err
	}
	reads, err := all(f)
	if err != nil {
		return o, err
	}
	o.Values = map[string]float64{}
	for _, m := range measures {
		r := reads[m.Name]
		times := 0
		cost, err := probe.CostOf(func() error {
			// Long enough for several collections: one alone takes as long as many rounds of Gets.
			for began := time.Now(); times < 10 || time.Since(began) < 2*time.Second; times++ {
				if err := r.do(); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return o, err
		}
		o.Values[m.Name] = cost.Per(times * r.n).CPU
	}
	return o, nil
}

const (
	getCopied    = "Get, CPU time"
	getUncopied  = "Get without a copy, CPU time"
	listCopied   = "List, CPU time"
	listUncopied = "List without copies, CPU time"
)

// controllerReadsBench measures the reads of controller-runtime's clients.
func controllerReadsBench() harness.Bench {
	return readsBench("controller-runtime/reads", []harness.Measure{
		{Name: getCopied, Unit: harness.Time, Ratio: 0.8},
		{Name: getUncopied, Unit: harness.Time, Ratio: 0.5},
		{Name: listCopied, Unit: harness.Time, Ratio: 0.8},
		{Name: listUncopied, Unit: harness.Time, Ratio: 0.5},
	}, newControllerCache, func(f framework) (map[string]reads, error) {
		c, ctx := f.(*controllerCache), context.Background()
		var all corev1.PodList
		if err := c.List(ctx, &all, client.UnsafeDisableDeepCopy); err != nil {
			return nil, err
		}
		pods := make([]*corev1.Pod, len(all.Items))
		for i := range all.Items {
			pods[i] = &all.Items[i]
		}
		keys := keysOf(pods)
		get := func(opts ...client.GetOption) reads {
			return reads{func() error {
				var pod corev1.Pod
				for _, key := range keys {
					if err := c.Get(ctx, client.ObjectKey(key), &pod, opts...); err != nil {
						return err
					}
				}
				return nil
			}, len(keys)}
		}
		list := func(opts ...client.ListOption) reads {
			return reads{func() error { return c.List(ctx, &corev1.PodList{}, opts...) }, 1}
		}
		return map[string]reads{
			getCopied:    get(),
			getUncopied:  get(client.UnsafeDisableDeepCopy),
			listCopied:   list(),
			listUncopied: list(client.UnsafeDisableDeepCopy),
		}, nil
	})
}

const (
	getByLister     = "Get by lister, CPU time"
	getByKey        = "GetByKey, CPU time"
	listByLister    = "List by lister, CPU time"
	listByNamespace = "List of each namespace by lister, CPU time"
)

// listerReadsBench measures the reads of generated listers, which make no copies. Their own part is
// the same on both sides: they make a key for each Get, and a slice for each List.
func listerReadsBench() harness.Bench {
	return readsBench("client-go/reads", []harness.Measure{
		{Name: getByLister, Unit: harness.Time, Ratio: 1},
		{Name: getByKey, Unit: harness.Time, Ratio: 1},
		{Name: listByLister, Unit: harness.Time, Ratio: 1},
		{Name: listByNamespace, Unit: harness.Time, Ratio: 1},
	}, newFactory, func(f framework) (map[string]reads, error) {
		informer := f.(*factory).Core().V1().Pods()
		lister, indexer := informer.Lister(), informer.Informer().GetIndexer()
		all, err := lister.List(everything)
		if err != nil {
			return nil, err
		}
		keys := keysOf(all)
		texts, namespaces := make([]string, len(keys)), map[string]bool{}
		for i, key := range keys {
			texts[i], namespaces[key.Namespace] = key.String(), true
		}
		return map[string]reads{
			getByLister: {func() error {
				for _, key := range keys {
					if _, err := lister.Pods(key.Namespace).Get(key.Name); err != nil {
						return err
					}
				}
				return nil
			}, len(keys)},
			getByKey: {func() error {
				for _, text := range texts {
					if _, ok, err := indexer.GetByKey(text); !ok {
						return errors.Join(err, errors.New("there is no "+text))
					}
				}
				return nil
			}, len(texts)},
			listByLister: {func() error {
				_, err := lister.List(everything)
				return err
			}, 1},
			listByNamespace: {func() error {
				for namespace := range namespaces {
					if _, err := lister.Pods(namespace).List(everything); err != nil {
						return err
					}
				}
				return nil
			}, 1},
		}, nil
	})
}
