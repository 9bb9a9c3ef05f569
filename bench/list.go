// SPDX-License-Identifier: Apache-2.0

package main

import (
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/informer-gen/informer-gen/bench/data"
	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/probe"
	"github.com/informer-gen/informer-gen/bench/report"
)

const oneApp = 7

var ofOneApp = labels.SelectorFromSet(labels.Set{data.AppLabel: data.AppName(oneApp)})

var listQueries = []struct {
	name string
	ask  func(benchStore) (int, error)
}{
	{"namespace, a tenth", func(s benchStore) (int, error) { return s.inNamespace(data.BigNamespace) }},
	{"index, 100", func(s benchStore) (int, error) { return s.onNode(data.NodeName(0)) }},
	{"labels, a hundredth", func(s benchStore) (int, error) { return s.selected(ofOneApp) }},
}

const listTime = 200 * time.Millisecond

// listBench reads many objects at once, after replacing each once, so that objects lie in memory as
// in a cache that has run for a while.
func listBench() harness.Bench {
	return harness.Bench{
		Name: "list",
		Title: func(z harness.Sizes) string {
			return "lists of a store with " + report.Digits(float64(z.Many)) + " objects, by what is asked"
		},
		Prepare: prepared(func(e harness.Env) (o harness.Outcome, err error) {
			s, pods, err := filledStore(e.Side, e.Sizes.Many, byNode)
			if err == nil {
				err = setEach(s, data.ChangedAll(pods))
			}
			o.Values = map[string]float64{}
			for _, q := range listQueries {
				if err != nil {
					break
				}
				found, _ := q.ask(s) // a store may remember the result
				began := time.Now()  // to estimate the number of repetitions
				_, _ = q.ask(s)
				times := int(min(max(listTime/(time.Since(began)+1), 3), 2000))
				var c probe.Cost
				c, err = probe.CostOf(func() error {
					for range times {
						if _, err := q.ask(s); err != nil {
							return err
						}
					}
					return nil
				})
				o.Seen.Objects += found
				o.Values[q.name+": CPU time"] = c.Per(times).CPU
			}
			return o, err
		}),
	}
}
