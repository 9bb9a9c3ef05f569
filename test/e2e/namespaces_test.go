// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"maps"
	"slices"
	"testing"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/reflector"
)

// listModes are the two ways to read a full state.
var listModes = map[string][]informer.Option{
	"watch-list": nil,
	"pages":      {informer.WithTuning(reflector.Tuning{DisableWatchList: true, PageSize: 2})},
}

// unionOf returns the state of several namespaces.
func unionOf(t *testing.T, namespaces ...collection) state {
	t.Helper()
	all := state{}
	for _, ns := range namespaces {
		maps.Copy(all, ns.state(t))
	}
	return all
}

// watching reports whether the watches of all streams are open.
func watching(s informer.Status) bool {
	return !slices.ContainsFunc(s.Streams, func(stream informer.StreamStatus) bool {
		return stream.Reflector.State != reflector.StateWatching
	})
}

// TestSeveralNamespaces has an informer read some namespaces, one of them empty, and not the
// others.
func TestSeveralNamespaces(t *testing.T) {
	t.Parallel()
	for name, opts := range listModes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shop, lab, later, other := shared.crates(t), shared.crates(t), shared.crates(t), shared.crates(t)
			read := []collection{shop, lab, later}
			shop.createMany(t, 5)
			lab.createMany(t, 3)
			other.createMany(t, 2)
			p := newProxy(t, shared.url, nil)
			f := factories.New(connect(t, p.url), append(opts, informer.WithNamespace(shop.namespace, lab.namespace, later.namespace))...)
			i := factories.For[*Crate](f, crates)
			h, reg := listen(t, i)
			runSynced(t, f)
			await(t, "sync of the handler", reg.Synced())
			agree(t, unionOf(t, read...), h, i.Store())
			if h.initial != 8 {
				t.Errorf("%d adds in the initial list, want 8", h.initial)
			}

			later.create(t, crate("first"))
			other.create(t, crate("unseen"))
			shop.setWeight(t, "crate-000", 7)
			lab.delete(t, "crate-000") // same name, other namespace
			lab.setWeight(t, "crate-001", 8)
			later.setWeight(t, "first", 7)
			agree(t, unionOf(t, read...), h, i.Store())

			snapshot := i.Store().Snapshot()
			if n := snapshot.NamespaceLen(other.namespace); n != 0 {
				t.Errorf("the store has %d objects of a namespace outside of its scope", n)
			}
			for _, ns := range read {
				if snapshot.NamespaceResourceVersion(ns.namespace) == "" {
					t.Errorf("namespace %s has no resourceVersion", ns.namespace)
				}
				if n := len(p.requests(func(r *request) bool { return r.watch() && r.of(ns) })); n != 1 {
					t.Errorf("%d watches of namespace %s, want 1", n, ns.namespace)
				}
			}
			if n := len(p.requests(func(r *request) bool { return !r.of(shop) && !r.of(lab) && !r.of(later) })); n != 0 {
				t.Errorf("%d requests for namespaces outside of the scope, want none", n)
			}
		})
	}
}
