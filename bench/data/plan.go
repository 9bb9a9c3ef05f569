// SPDX-License-Identifier: Apache-2.0

package data

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	maxWorkloads = 200
	maxReplicas  = 2000
	podsPerNode  = 50
)

// epoch is the creation time of a cluster's first object.
var epoch = time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)

// PodPlan plans n Pods of up to 200 workloads, in etcd's order, by namespace and name. The Pods of
// a workload follow one another, even if several workloads share a namespace, because a Pod's name
// begins with its workload's.
//
// The same n gives the same plan. Pods can be made in any order, by several goroutines.
type PodPlan struct {
	workloads []workload
	pods      []plannedPod
	nodes     int
}

type plannedPod struct {
	workload int
	name     string
	seed     uint64
}

// NewPodPlan returns the plan of n Pods.
func NewPodPlan(n int) *PodPlan {
	p := &PodPlan{nodes: max(1, n/podsPerNode)}
	seed := uint64(0)
	for w, replicas := range replicasOf(n) {
		p.workloads = append(p.workloads, newWorkload(w))
		for range replicas {
			seed++
			p.pods = append(p.pods, plannedPod{
				workload: w, seed: seed,
				name: p.workloads[w].generateName + word(rand.New(rand.NewPCG(seedOfNames, seed)), 5),
			})
		}
	}
	slices.SortFunc(p.pods, func(a, b plannedPod) int {
		if c := strings.Compare(p.workloads[a.workload].namespace, p.workloads[b.workload].namespace); c != 0 {
			return c
		}
		return strings.Compare(a.name, b.name)
	})
	// Of 2,000, two may have the same five characters. API servers would draw others.
	for i := 1; i < len(p.pods); i++ {
		if p.pods[i].name == p.pods[i-1].name {
			p.pods[i].name += "2"
		}
	}
	return p
}

// replicasOf splits n Pods into workloads: 200 of 1 to 2,000 replicas, or fewer if there are few
// Pods. The sizes follow Zipf's law: the w-th is the quantile (w+½)/200 of a distribution on
// 1…2,000 in which k has the weight k^-s, with the s that makes them add up to n.
func replicasOf(n int) []int {
	workloads := min(maxWorkloads, max(1, n/8))
	sizes := func(s float64) (list []int, sum int) {
		total := 0.0
		for k := 1; k <= maxReplicas; k++ {
			total += math.Pow(float64(k), -s)
		}
		k, below := 1, 1.0
		for w := range workloads {
			for want := (float64(w) + 0.5) / float64(workloads) * total; below < want && k < maxReplicas; {
				k++
				below += math.Pow(float64(k), -s)
			}
			list = append(list, k)
			sum += k
		}
		return list, sum
	}
	low, high := -8.0, 8.0 // the sum falls with s
	for range 60 {
		if _, sum := sizes((low + high) / 2); sum > n {
			low = (low + high) / 2
		} else {
			high = (low + high) / 2
		}
	}
	list, sum := sizes(high) // at most n
	for w := workloads - 1; sum < n; w = (w - 1 + workloads) % workloads {
		// the remainder from rounding goes to the larger ones
		add := min(n-sum, max(1, (maxReplicas-list[w])/2))
		list[w] += add
		sum += add
	}
	return list
}

// The streams of random numbers. Each object has its own, so the order of making them doesn't
// matter.
const (
	seedOfWorkloads = 7 + iota
	seedOfNames
	seedOfPods
	seedOfRevisions
	seedOfCertificates
	seedOfRoutes
)

func word(r *rand.Rand, n int) string { return pick(r, "bcdfghjklmnpqrstvwxz2456789", n) }

func hexadecimal(r *rand.Rand, n int) string { return pick(r, "0123456789abcdef", n) }

func pick(r *rand.Rand, chars string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = chars[r.IntN(len(chars))]
	}
	return string(b)
}

func newUID(r *rand.Rand) types.UID {
	return types.UID(fmt.Sprintf("%s-%s-4%s-8%s-%s",
		hexadecimal(r, 8), hexadecimal(r, 4), hexadecimal(r, 3), hexadecimal(r, 3), hexadecimal(r, 12)))
}

// The resourceVersions: objects' come in no order, below the collection's; events' are above it.
const (
	firstVersion      = 100_000_000
	CollectionVersion = 200_000_000
)

// oldVersion returns the i-th object's resourceVersion, which is unique.
func oldVersion(i uint64) int { return firstVersion + int(i*40_503_791%99_999_989) }
