// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net/http"
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

	// The stream goes on with the changes, on the same request.
	ns.load(t, "crate-007", 7)
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

	ns.load(t, "crate-007", 7)
	h.awaitLine("update crate-007")
	lists := p.requests((*request).list)
	if len(lists) != 15 {
		t.Errorf("%d requests for pages, want 15", len(lists))
	}
	for n, page := range lists {
		if token := page.query.Get("continue"); (token == "") != (n == 0) || page.query.Get("limit") != "7" {
			t.Errorf("page %d was asked for by %v", n+1, page.query)
		}
	}
	if watches := p.requests((*request).watch); len(watches) != 1 || watches[0].watchList() {
		t.Errorf("%d watches, want one that is no watch-list", len(watches))
	}
}

// Servers before 1.32 refuse watch-lists.
func TestSyncWhereWatchListIsRefused(t *testing.T) {
	t.Parallel()
	ns := shared.crates(t)
	ns.createMany(t, 20)
	p := newProxy(t, shared.url, func(r *request) fault {
		if r.watchList() {
			return fault{status: http.StatusUnprocessableEntity}
		}
		return fault{}
	})
	f, i := crateInformer(t, p.url, ns)
	h, _ := listen(t, i)
	runSynced(t, f)
	agree(t, ns.state(t), h, i.Store())
	ns.delete(t, "crate-003")
	h.awaitLine("delete crate-003")

	all := p.requests(anyRequest)
	if len(all) != 3 || !all[0].watchList() || !all[1].list() || !all[2].watch() || all[2].watchList() {
		t.Errorf("%d requests, want a watch-list, a list and a watch", len(all))
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
		if n := i.Store().Snapshot().Len(); n != 0 || len(h.told()) != 0 {
			t.Errorf("%d objects, callbacks %q, want none", n, h.told())
		}
		if rv := i.Store().Snapshot().ResourceVersion(); rv == "" || rv == "0" {
			t.Errorf("the store stands at resourceVersion %q", rv)
		}
	}
}
