// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/bench/data"
	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/report"
)

const readers = 8

// readersBench updates as fast as it can while goroutines loop over all objects. They read a field
// of each, as a search does.
func readersBench() harness.Bench {
	return harness.Bench{
		Name: "readers",
		Title: func(z harness.Sizes) string {
			return fmt.Sprintf("updates while %d goroutines loop over all %s objects; indexes by namespace and node", readers, report.Digits(float64(z.Many)))
		},
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			s, pods, err := filledStore(e.Side, e.Sizes.Many, byNode)
			next := data.ChangedAll(pods)
			return func() (harness.Outcome, error) {
				updates, took, err := contend(s, next, e.Sizes.Window, func(int, int) error {
					all, on := 0, 0
					s.scan(func(pod *corev1.Pod) {
						all++
						if pod.Spec.NodeName == data.NodeName(0) {
							on++
						}
					})
					if all != len(pods) || on != min(data.PodsOnNode, len(pods)) {
						return errors.New("a loop did not see all objects")
					}
					return nil
				})
				return harness.Outcome{Values: map[string]float64{"updates": float64(updates) / took.Seconds()}}, err
			}, nil, err
		},
	}
}
