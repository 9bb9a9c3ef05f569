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

// bothWays are the two ways to read a full state.
var bothWays = map[string][]informer.Option{
	"watch-list": nil,
	"pages":      {informer.WithTuning(reflector.Tuning{DisableWatchList: true, PageSize: 2})},
}

// together is the state of several namespaces.
func together(t *testing.T, namespaces ...in) state {
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

// One informer reads some namespaces, among them an empty one, and not the others.
func TestSeveralNamespaces(t *testing.T) {
	t.Parallel()
	for name, opts := range bothWays {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shop, lab, later, other := shared.crates(t), shared.crates(t), shared.crates(t), shared.crates(t)
			read := []in{shop, lab, later}
			shop.createMany(t, 5)
			lab.createMany(t, 3)
			other.createMany(t, 2)
			p := newProxy(t, shared.url, nil)
			f := factories.New(connect(t, p.url), append(opts, informer.WithNamespace(shop.namespace, lab.namespace, later.namespace))...)
			i := factories.For[*Crate](f, crates)
			h, reg := listen(t, i)
			runSynced(t, f)
			await(t, "sync of the handler", reg.Synced())
			agree(t, together(t, read...), h, i.Store())
			if h.initial != 8 {
				t.Errorf("%d adds in the initial list, want 8", h.initial)
			}

			later.create(t, crate("first"))
			other.create(t, crate("unseen"))
			shop.load(t, "crate-000", 7)
			lab.delete(t, "crate-000") // of the same name, in another namespace
			lab.load(t, "crate-001", 8)
			later.load(t, "first", 7)
			agree(t, together(t, read...), h, i.Store())

			snapshot := i.Store().Snapshot()
			if n := snapshot.NamespaceLen(other.namespace); n != 0 {
				t.Errorf("%d objects of a namespace that is not read", n)
			}
			for _, ns := range read {
				if snapshot.NamespaceResourceVersion(ns.namespace) == "" {
					t.Errorf("%s stands at no resourceVersion", ns.namespace)
				}
				if n := len(p.requests(func(r *request) bool { return r.watch() && r.of(ns) })); n != 1 {
					t.Errorf("%d watches of %s, want 1", n, ns.namespace)
				}
			}
			if n := len(p.requests(func(r *request) bool { return !r.of(shop) && !r.of(lab) && !r.of(later) })); n != 0 {
				t.Errorf("%d requests for other namespaces than those asked for", n)
			}
		})
	}
}
