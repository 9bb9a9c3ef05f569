// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/lister"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/reflector"
)

// soon is a backoff for tests that wait for the end of a fault.
var soon = informer.WithTuning(reflector.Tuning{Backoff: reflector.Backoff{Initial: 20 * time.Millisecond, Max: 100 * time.Millisecond}})

// bothWays are the two ways to read a full state.
var bothWays = map[string][]informer.Option{
	"watch-list": nil,
	"pages":      {informer.WithTuning(reflector.Tuning{DisableWatchList: true, PageSize: 2})},
}

// several gives one informer of the crates of several namespaces.
func several(t *testing.T, url string, namespaces []in, opts ...informer.Option) (*factories.Factory, *informer.SharedIndexInformer[*Crate]) {
	t.Helper()
	var all []string
	for _, ns := range namespaces {
		all = append(all, ns.namespace)
	}
	f := factories.New(connect(t, url), append(slices.Clone(opts), informer.WithNamespace(all...))...)
	return f, factories.For[*Crate](f, crates, informer.WithIndexes(byWeight))
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

// One informer reads some namespaces, among them an empty one, and not the others.
func TestSeveralNamespaces(t *testing.T) {
	t.Parallel()
	for name, opts := range bothWays {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shop, lab, later, other := shared.crates(t), shared.crates(t), shared.crates(t), shared.crates(t)
			read := []in{shop, lab, later}
			shop.createMany(t, 5)
			lab.createMany(t, 3, func(c *Crate, _ int) { c.Spec.Weight = 7 })
			other.createMany(t, 2)
			p := newProxy(t, shared.url, nil)
			f, i := several(t, p.url, read, opts...)
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
			if got := names(byWeight.List(snapshot, 7)); !slices.Equal(got, []string{"crate-000", "crate-002", "first"}) {
				t.Errorf("the index gives %q over all namespaces", got)
			}
			all := lister.New(i.Store(), crates.GroupResource())
			if c, err := all.Namespace(shop.namespace).Get("crate-000"); err != nil || c.Spec.Weight != 7 {
				t.Errorf("Get gives %+v, %v", c, err)
			}
			if c, err := all.Namespace(lab.namespace).Get("crate-000"); !apierrors.IsNotFound(err) {
				t.Errorf("Get of the deleted one gives %+v, %v", c, err)
			}
			if list, err := all.Namespace(lab.namespace).List(labels.Everything()); err != nil || len(list) != 2 {
				t.Errorf("List gives %q, %v", names(list), err)
			}
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

// watching reports whether the watches of all streams are open.
func watching(s informer.Status) bool {
	return !slices.ContainsFunc(s.Streams, func(stream informer.StreamStatus) bool {
		return stream.Reflector.State != reflector.StateWatching
	})
}

// The account may not read one of the namespaces: the other namespaces' objects arrive and change,
// the wait's error names the namespace and the reason, and once the right is granted, the informer
// syncs.
func TestOneNamespaceIsForbidden(t *testing.T) {
	t.Parallel()
	for name, opts := range bothWays {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shop, secret := shared.crates(t), shared.crates(t)
			shop.createMany(t, 3)
			secret.createMany(t, 4)
			forbid := func(r *request) fault {
				if r.of(secret) {
					return fault{status: http.StatusForbidden}
				}
				return fault{}
			}
			p := newProxy(t, shared.url, forbid)
			f, i := several(t, p.url, []in{shop, secret}, append(opts, soon)...)
			h, reg := listen(t, i)
			run(t, f)
			agree(t, shop.state(t), h)
			ctx := deadline(t)
			err := f.WaitForCacheSync(ctx, informer.FailOn())
			if !apierrors.IsForbidden(err) || ctx.Err() != nil || !strings.Contains(err.Error(), secret.namespace) {
				t.Errorf("WaitForCacheSync gives %v, want the forbidden namespace", err)
			}
			if i.HasSynced() || reg.HasSynced() {
				t.Errorf("synced: informer %v, handler %v; want neither", i.HasSynced(), reg.HasSynced())
			}
			written := asCrate(t, shop.load(t, "crate-000", 1))
			if err := i.AwaitObject(deadline(t), written); err != nil {
				t.Fatal(err)
			}
			if c, ok := i.Store().Snapshot().Get(object.KeyOf(written)); !ok || c.Spec.Weight != 1 {
				t.Errorf("the store has %+v", c)
			}

			p.setFaults(nil)
			if err := f.WaitForCacheSync(deadline(t)); err != nil {
				t.Fatal(err)
			}
			await(t, "sync of the handler", reg.Synced())
			agree(t, together(t, shop, secret), h, i.Store())
			if h.initial != 7 {
				t.Errorf("%d adds in the initial list, want 7", h.initial)
			}

			// The right is taken away, and with it the open watch.
			awaitStatus(t, i, "watching", watching)
			p.setFaults(forbid)
			p.cut()
			before := secret.state(t)
			awaitStatus(t, i, "told 403", func(s informer.Status) bool { return s.Reflector.Reason == reason.Forbidden })
			secret.load(t, "crate-000", 2)
			secret.delete(t, "crate-001")
			shop.load(t, "crate-001", 2)
			shop.delete(t, "crate-002")
			want := shop.state(t)
			maps.Copy(want, before)
			agree(t, want, h, i.Store())
			for _, s := range i.Status().Streams {
				forbidden := s.Reflector.Reason == reason.Forbidden || s.Reflector.Reason == reason.WatchForbidden
				if bad := s.Namespace == secret.namespace; bad != forbidden || !s.Synced {
					t.Errorf("the stream of %s: %v", s.Namespace, s.Reflector)
				}
			}
			p.setFaults(nil)
			agree(t, together(t, shop, secret), h, i.Store())
			if n := i.Status().Streams[0].Reflector.Relists + i.Status().Streams[1].Reflector.Relists; n > 1 {
				t.Errorf("%d relists, want one at most: watches can go on after a 403", n)
			}
		})
	}
}

// Waiting for a version of one namespace does not depend on the others; a namespace that is not
// read can't be awaited.
func TestAwaitInOneOfSeveralNamespaces(t *testing.T) {
	t.Parallel()
	shop, lab, other := shared.crates(t), shared.crates(t), shared.crates(t)
	p := newProxy(t, shared.url, nil)
	f, i := several(t, p.url, []in{shop, lab})
	runSynced(t, f)
	held := make(chan struct{})
	p.setFaults(func(r *request) fault {
		if r.of(lab) {
			return fault{hold: held}
		}
		return fault{}
	})
	p.end()
	await(t, "request to hold back", held)
	p.setFaults(nil)

	inShop, inLab := asCrate(t, shop.create(t, crate("blue"))), asCrate(t, lab.create(t, crate("blue")))
	if err := i.AwaitObject(deadline(t), inShop); err != nil {
		t.Fatal(err)
	}
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(20*time.Millisecond, func() { cancel(why) })
	if err := i.AwaitObject(ctx, inLab); !errors.Is(err, why) {
		t.Errorf("waiting in the namespace that is cut off gives %v, want %v", err, why)
	}
	if err := i.AwaitResourceVersion(ctx, inLab.ResourceVersion); !errors.Is(err, why) {
		t.Errorf("waiting for all namespaces gives %v, want %v", err, why)
	}
	if err := i.AwaitObject(deadline(t), asCrate(t, other.create(t, crate("blue")))); err == nil || !strings.Contains(err.Error(), other.namespace) {
		t.Errorf("waiting in a namespace that is not read gives %v", err)
	}
	p.cut()
	if err := i.AwaitObject(deadline(t), inLab); err != nil {
		t.Fatal(err)
	}
	// without it, this namespace would be there with the next bookmark
	later := shop.create(t, crate("green"))
	if err := i.AwaitResourceVersion(deadline(t), inLab.ResourceVersion); err != nil {
		t.Fatal(err)
	}
	if rv := i.Store().Snapshot().NamespaceResourceVersion(shop.namespace); rv != later.GetResourceVersion() {
		t.Errorf("%s stands at %s, want %s", shop.namespace, rv, later.GetResourceVersion())
	}
}

// One namespace's history has expired. Its relist finds the deletions there, and changes nothing in
// the others.
func TestOneNamespaceIsReadAnew(t *testing.T) {
	t.Parallel()
	for name, opts := range bothWays {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shop, lab := shared.crates(t), shared.crates(t)
			shop.createMany(t, 4)
			lab.createMany(t, 4)
			p := newProxy(t, shared.url, nil)
			f, i := several(t, p.url, []in{shop, lab}, append(opts, soon)...)
			h, _ := listen(t, i)
			runSynced(t, f)
			agree(t, together(t, shop, lab), h, i.Store())
			told := len(h.told())

			// Both are cut off; then one goes on where it was, and the other can't.
			held := make(chan struct{})
			p.setFaults(func(r *request) fault {
				if r.of(lab) {
					return fault{hold: held}
				}
				return fault{}
			})
			p.end()
			await(t, "request to hold back", held)
			lab.delete(t, "crate-000")
			lab.delete(t, "crate-001")
			lab.create(t, crate("crate-001"))
			lab.create(t, crate("new"))
			lab.settle(t)
			var expired atomic.Bool
			p.setFaults(func(r *request) fault {
				if r.of(lab) && expired.CompareAndSwap(false, true) {
					return fault{status: http.StatusGone}
				}
				return fault{}
			})
			p.cut()
			agree(t, together(t, shop, lab), h, i.Store())
			got := slices.Clone(h.told()[told:])
			slices.Sort(got)
			if want := []string{"add crate-001", "add new", "delete crate-000 unseen", "delete crate-001 unseen"}; !slices.Equal(got, want) {
				t.Errorf("callbacks of the relist: %q, want %q", got, want)
			}
			// Handlers may be called before the reflector counts the full state.
			awaitStatus(t, i, "watching", watching)
			for _, s := range i.Status().Streams {
				want := int64(0)
				if s.Namespace == lab.namespace {
					want = 1
				}
				if s.Reflector.Relists != want {
					t.Errorf("%s was relisted %d times, want %d", s.Namespace, s.Reflector.Relists, want)
				}
			}
		})
	}
}

// Random changes in three namespaces under one informer, with connections that break, versions that
// expire and full states that are cut short, in any of them.
func TestRandomChangesInNamespaces(t *testing.T) {
	t.Parallel()
	rnd := randomly(t)
	namespaces := []in{shared.crates(t), shared.crates(t), shared.crates(t)}
	for _, ns := range namespaces[:2] {
		ns.createMany(t, 10)
	}
	var subjects []*subject
	for name, opts := range bothWays {
		s := &subject{name: name, proxy: newProxy(t, shared.url, nil)}
		_, s.informer = several(t, s.proxy.url, namespaces, append(opts, soon)...)
		s.keen, _ = listen(t, s.informer, informer.WithBacklogThreshold(informer.Never))
		s.slow = newHistory[*Crate](t)
		if _, err := s.informer.AddEventHandler(lazy{s.slow}, informer.WithBacklogThreshold(3)); err != nil {
			t.Fatal(err)
		}
		subjects = append(subjects, s)
	}
	for range 2 {
		for _, s := range subjects {
			s.run(t)
		}
		for change := range 90 {
			if change%15 == 7 {
				for _, s := range subjects {
					s.disturb(t, rnd)
				}
			}
			namespaces[rnd.IntN(len(namespaces))].randomChange(t, rnd)
		}
		want := together(t, namespaces...)
		for _, s := range subjects {
			agree(t, want, s.keen, s.informer.Store())
			agree(t, want, s.slow)
			s.stop()
		}
	}
}
