// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/informer-gen/informer-gen/bench/data"
	"github.com/informer-gen/informer-gen/bench/harness"
)

// BenchmarkListByIndex lists 100 of 100,000 Pods: the same ones each time, and others each time.
func BenchmarkListByIndex(b *testing.B) {
	for _, side := range []harness.Side{harness.Ours, harness.ClientGo} {
		s, pods, err := filledStore(side, 100_000, byNode)
		if err == nil {
			err = setEach(s, data.ChangedAll(pods))
		}
		if err != nil {
			b.Fatal(err)
		}
		for name, nodes := range map[string]int{"same": 1, "others": 1000} {
			b.Run(string(side)+"/"+name, func(b *testing.B) {
				for n := 0; b.Loop(); n++ {
					if found, err := s.onNode(data.NodeName(n % nodes)); err != nil || found != 100 {
						b.Fatalf("%d Pods, %v, want 100", found, err)
					}
				}
			})
		}
	}
}
