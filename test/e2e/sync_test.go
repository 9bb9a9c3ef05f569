// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/reflector"
)

func TestSyncByWatchList(t *testing.T) {
	t.Parallel()
	ns := shared.crates(t)
	ns.createMany(t, 100)
	p := newProxy(t, shared.url, nil)
	f, i := crateInformer(t, p.url, ns)
	h, reg := listen(t, i)
	runSynced(t, f)
	await(t, "sync of the handler", reg.Synced())
	agree(t, ns.state(t), h, i.Store())
	if h.initial != 100 {
		t.Errorf("%d adds in the initial list, want 100", h.initial)
	}

	// The same stream goes on with the changes.
	ns.setWeight(t, "crate-007", 7)
	h.awaitLine("update crate-007")
	if all := p.requests(anyRequest); len(all) != 1 || !all[0].watchList() {
		t.Errorf("%d requests, the first one %v; want one watch-list", len(all), all[0].query)
	}
}

func TestSyncByPagedList(t *testing.T) {
	t.Parallel()
	ns := shared.crates(t)
	ns.createMany(t, 100)
	p := newProxy(t, shared.url, nil)
	f, i := crateInformer(t, p.url, ns, informer.WithTuning(reflector.Tuning{DisableWatchList: true, PageSize: 7}))
	h, reg := listen(t, i)
	runSynced(t, f)
	await(t, "sync of the handler", reg.Synced())
	agree(t, ns.state(t), h, i.Store())
	if h.initial != 100 {
		t.Errorf("%d adds in the initial list, want 100", h.initial)
	}

	ns.setWeight(t, "crate-007", 7)
	h.awaitLine("update crate-007")
	lists := p.requests((*request).list)
	if len(lists) != 15 {
		t.Errorf("%d requests for pages, want 15", len(lists))
	}
	for n, page := range lists {
		if token := page.query.Get("continue"); (token == "") != (n == 0) || page.query.Get("limit") != "7" {
			t.Errorf("page %d has the query %v", n+1, page.query)
		}
	}
	if watches := p.requests((*request).watch); len(watches) != 1 || watches[0].watchList() {
		t.Errorf("%d watches, want one, without initial events", len(watches))
	}
}

func TestSyncOfNothing(t *testing.T) {
	t.Parallel()
	for _, watchList := range []bool{true, false} {
		ns := shared.crates(t)
		f, i := crateInformer(t, shared.url, ns, informer.WithTuning(reflector.Tuning{DisableWatchList: !watchList}))
		h, reg := listen(t, i)
		runSynced(t, f)
		await(t, "sync of the handler", reg.Synced())
		if n := i.Store().Snapshot().Len(); n != 0 || len(h.callbacks()) != 0 {
			t.Errorf("%d objects, callbacks %q, want none", n, h.callbacks())
		}
		if rv := i.Store().Snapshot().ResourceVersion(); rv == "" || rv == "0" {
			t.Errorf("the store has the resourceVersion %q", rv)
		}
	}
}
