// SPDX-License-Identifier: Apache-2.0

package server

import (
	"errors"
	"math/rand/v2"
	"slices"

	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-gen/informer-gen/bench/data"
)

// World is the content of a server. The same world is the same bytes each time.
type World struct {
	Pods, Certificates, Routes int

	Distinct bool // all strings differ
	Protobuf bool // serve everything in protobuf, not JSON
	// Changed is the number of Pods, at random places, that differ in the second state.
	Changed int
	// Events is the number of MODIFIED events of Pods sent in a watch, each of a random Pod.
	Events int
}

// The streams of random numbers for changes. The data have others.
const (
	seedOfChanges = 10
	seedOfEvents  = 13
)

// Objects returns the number of objects.
func (w World) Objects() int {
	return w.Pods + w.Certificates + w.Routes
}

// Kinds returns the kinds that have objects.
func (w World) Kinds() (kinds []data.Kind) {
	if w.Pods > 0 {
		kinds = append(kinds, data.Pods)
	}
	for _, c := range w.staticCollections() {
		kinds = append(kinds, c.kind)
	}
	return kinds
}

func (w World) staticCollections() []staticCollection {
	all := []staticCollection{
		{data.Certificates, w.Certificates, func(i, n int) apiruntime.Object { return data.NewCertificate(i, n) }},
		{data.Routes, w.Routes, func(i, n int) apiruntime.Object { return data.NewRoute(i, n) }},
	}
	return slices.DeleteFunc(all, func(c staticCollection) bool { return c.n == 0 })
}

// staticCollection is a collection of n objects that doesn't change; at returns the i-th.
type staticCollection struct {
	kind data.Kind
	n    int
	at   func(i, n int) apiruntime.Object
}

func (w World) collections() (_ map[string]*served, err error) {
	all := map[string]*served{}
	defer func() {
		for _, s := range all {
			if err != nil {
				err = errors.Join(err, s.close())
			}
		}
	}()
	if w.Pods > 0 {
		plan := data.NewPodPlan(w.Pods)
		s := &served{kind: data.Pods, rendering: newRendering(data.Pods, w.Protobuf)}
		all[data.Pods.Path()] = s
		// The same strings in each revision, except where a restart changes them.
		pod := func(i, revision, version int) apiruntime.Object {
			p := plan.Pod(i, revision, version)
			if w.Distinct {
				data.MakeDistinct(i, p)
			}
			return p
		}
		if err := s.add(w.Pods, func(i int) apiruntime.Object { return pod(i, 0, 0) }); err != nil {
			return nil, err
		}
		if err := s.change(w.Changed, w.Pods, func(i, version int) apiruntime.Object { return pod(i, 1, version) }); err != nil {
			return nil, err
		}
		revisions := make([]int, w.Pods)
		r := rand.New(rand.NewPCG(seedOfEvents, uint64(w.Events)))
		next := make([][2]int, w.Events)
		for k := range next {
			i := r.IntN(len(revisions))
			revisions[i]++
			next[k] = [2]int{i, revisions[i]}
		}
		if err := s.watchEvents.render(w.Events, func(k int) ([]byte, error) {
			return s.rendering.event(watch.Modified, pod(next[k][0], next[k][1], data.CollectionVersion+1+k))
		}); err != nil {
			return nil, err
		}
	}
	for _, c := range w.staticCollections() {
		s := &served{kind: c.kind, rendering: newRendering(c.kind, w.Protobuf)}
		all[c.kind.Path()] = s
		if err := s.add(c.n, func(i int) apiruntime.Object { return c.at(i, c.n) }); err != nil {
			return nil, err
		}
	}
	return all, nil
}
