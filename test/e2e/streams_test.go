// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/store"
	"github.com/informer-gen/informer-gen/runtime/watch"
)

// A loop over an informer yields the existing objects, a mark, and then each change, across a
// broken connection and a relist. It leaves nothing behind when it has ended.
func TestEventsAsAWatch(t *testing.T) {
	t.Parallel()
	for name, opts := range bothWays {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := shared.crates(t)
			ns.createMany(t, 3)
			p := newProxy(t, shared.url, nil)
			f, i := crateInformer(t, p.url, ns, opts...)
			run(t, f)
			steps := map[string]func(){ // what the body does next
				"BOOKMARK": func() {
					ns.load(t, "crate-000", 1)
				},
				"MODIFIED crate-000": func() {
					p.cut()
					ns.delete(t, "crate-001")
				},
				"DELETED crate-001": func() {
					p.disconnect(t)
					ns.create(t, crate("crate-001"))
					p.setFaults(next(p, fault{status: http.StatusGone}))
					p.cut()
				},
			}
			replica := state{}
			var lines []string
			for e := range i.Events(deadline(t)) {
				switch e.Type {
				case source.Added, source.Modified:
					replica.put(e.Object)
				case source.Deleted:
					delete(replica, e.Key)
				}
				line := strings.TrimSpace(e.Type.String() + " " + e.Key.Name)
				if e.IsInInitialList {
					line += ", initial"
				}
				lines = append(lines, line)
				if step := steps[line]; step != nil {
					step()
				}
				if line == "ADDED crate-001" {
					break
				}
			}
			if len(lines) > 3 {
				slices.Sort(lines[:3]) // the initial ones come in any order
			}
			want := []string{
				"ADDED crate-000, initial", "ADDED crate-001, initial", "ADDED crate-002, initial", "BOOKMARK",
				"MODIFIED crate-000", "DELETED crate-001", "ADDED crate-001",
			}
			if diff := cmp.Diff(want, lines); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if want := ns.state(t); !maps.Equal(want, replica) {
				t.Errorf("the loop has %v, the server %v", replica, want)
			}
			if n := len(i.Status().Handlers); n != 0 {
				t.Errorf("%d registrations are left of a loop that has ended", n)
			}

			// A loop without a break ends with its context.
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			for e := range i.Events(ctx) {
				if e.Type == source.Bookmark {
					cancel()
				}
			}
			if n := len(i.Status().Handlers); n != 0 {
				t.Errorf("%d registrations are left of a loop whose context is done", n)
			}
		})
	}
}

// Until waits for a state of the cache, which may be there already, and may take several objects.
func TestUntilWaitsForAStateOfTheCache(t *testing.T) {
	t.Parallel()
	ns := shared.crates(t)
	ns.createMany(t, 2)
	p := newProxy(t, shared.url, nil)
	f, i := crateInformer(t, p.url, ns)
	run(t, f)
	heavy := func(n int) func(*store.Snapshot[*Crate]) (bool, error) {
		return func(s *store.Snapshot[*Crate]) (bool, error) { return byWeight.Len(s, 100) == n, nil }
	}
	if err := i.Until(deadline(t), heavy(0)); err != nil {
		t.Fatal(err)
	}
	if n := i.Store().Snapshot().Len(); n != 2 {
		t.Errorf("Until has looked at a store of %d objects, before the sync", n)
	}
	light := []string{"crate-000", "crate-001"}
	if err := i.Until(deadline(t), func(s *store.Snapshot[*Crate]) (bool, error) {
		if len(light) > 0 {
			p.cut()
			ns.load(t, light[0], 100)
			light = light[1:]
		}
		return heavy(2)(s)
	}); err != nil {
		t.Fatal(err)
	}
	if err := i.Until(deadline(t), func(*store.Snapshot[*Crate]) (bool, error) { return false, errEnough }); err != errEnough {
		t.Errorf("a condition that fails gives %v, want %v", err, errEnough)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	asked := 0
	err := i.Until(ctx, func(*store.Snapshot[*Crate]) (bool, error) {
		if asked++; asked == 1 {
			cancel(errEnough)
		}
		return false, nil
	})
	if !errors.Is(err, errEnough) {
		t.Errorf("Until gives %v, want %v", err, errEnough)
	}
}

// source gives a source of a namespace, and the version at which it stands.
func (i in) source(t *testing.T, url string) (src source.Source[*Crate], resourceVersion string) {
	t.Helper()
	src, err := source.New[*Crate](connect(t, url), i.gvr, source.Options{Namespace: i.namespace})
	if err != nil {
		t.Fatal(err)
	}
	result, err := src.List(deadline(t), source.ListOptions{}, func(*Crate) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return src, result.ResourceVersion
}

// A watch that is ended, in good order or not, goes on without a gap and without a repetition.
func TestRetryAcrossEndedWatches(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	ns := c.crates(t)
	ns.create(t, crate("crate-000"))
	last := ns.create(t, crate("crate-001"))
	p := newProxy(t, c.url, nil)
	src, version := ns.source(t, p.url)
	var lines, want []string
	line := func(what source.EventType, obj object.Object) string {
		return fmt.Sprintf("%s %s (%s, generation %d)", what, obj.GetName(), obj.GetUID(), obj.GetGeneration())
	}
	opts := watch.Options{Backoff: reflector.Backoff{Initial: 1, Max: 1}}
	rounds := []func(){
		func() {
			if _, err := c.child.EndWatches(deadline(t)); err != nil {
				t.Fatal(err)
			}
		},
		func() { p.end() },
		func() { p.cut() },
		func() { p.setFaults(next(p, fault{status: http.StatusInternalServerError})); p.end() },
		// in the middle of an event
		func() { p.setFaults(next(p, fault{cut: true, bytes: 100})); p.end() },
		func() { p.setFaults(next(p, fault{status: http.StatusNotFound})); p.cut() },
	}
	round := 0
	write := func() {
		want = append(want, line(source.Modified, ns.load(t, "crate-000", int64(round+1))), line(source.Deleted, last))
		ns.delete(t, "crate-001")
		last = ns.create(t, crate("crate-001"))
		want = append(want, line(source.Added, last))
	}
	write()
	err := watch.Retry(deadline(t), src, version, opts, func(e source.Event[*Crate]) error {
		lines = append(lines, line(e.Type, e.Object))
		if len(lines) < len(want) {
			return nil
		}
		if round == len(rounds) {
			return errEnough
		}
		rounds[round]()
		round++
		write()
		return nil
	})
	if err != errEnough {
		t.Fatalf("Retry gives %v, want %v", err, errEnough)
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if n := len(p.requests((*request).list)); n != 1 {
		t.Errorf("%d lists, want only the test's own", n)
	}
}

// When the server no longer has the next change, a watch ends with that error; the next watch
// begins at a new list.
func TestRetryAfterExpiry(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		flags  []string
		expire func(context.Context, *cluster) error
	}{
		{"watch cache", nil, expireWatches},
		{"etcd, compacted", []string{"--no-watch-cache"}, compact},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, tt.flags...)
			ns := c.crates(t)
			ns.createMany(t, 3)
			p := newProxy(t, c.url, nil)
			src, version := ns.source(t, p.url)
			ns.load(t, "crate-000", 1)
			events := 0
			err := watch.Retry(deadline(t), src, version, watch.Options{}, func(e source.Event[*Crate]) error {
				if events++; events > 1 {
					return fmt.Errorf("got %v of %s after the expiry", e.Type, id(e.Object))
				}
				p.end() // the next watch comes when this function has returned
				for n := range int64(5) {
					ns.load(t, "crate-001", n+1)
				}
				ns.delete(t, "crate-002")
				return tt.expire(deadline(t), c)
			})
			if !apierrors.IsResourceExpired(err) || reason.Of(err) != reason.Expired {
				t.Fatalf("Retry gives %v, want 410", err)
			}
			src, version = ns.source(t, p.url)
			ns.load(t, "crate-001", 100)
			e, err := watch.Until(deadline(t), src, version, watch.Options{}, func(e source.Event[*Crate]) (bool, error) {
				return e.Object.Spec.Weight == 100, nil
			})
			if err != nil || e.Type != source.Modified || e.Object.Name != "crate-001" {
				t.Errorf("Until gives %v, %v", e, err)
			}
		})
	}
}

// One condition after the other, as of a command that waits for an object to be made, to be ready,
// and to be gone.
func TestUntilConditions(t *testing.T) {
	t.Parallel()
	ns := shared.crates(t)
	p := newProxy(t, shared.url, nil)
	src, version := ns.source(t, p.url)
	key := object.Key{Namespace: ns.namespace, Name: "job"}
	ns.create(t, crate("job"))
	var asked []string
	condition := func(name string, is func(source.Event[*Crate]) bool, then func()) watch.Condition[*Crate] {
		return func(e source.Event[*Crate]) (bool, error) {
			if object.KeyOf(e.Object) != key || !is(e) {
				return false, nil
			}
			asked = append(asked, name)
			then()
			return true, nil
		}
	}
	last, err := watch.Until(deadline(t), src, version, watch.Options{},
		condition("made", func(e source.Event[*Crate]) bool { return e.Type == source.Added }, func() {
			p.end()
			ns.create(t, crate("other"))
			ns.load(t, "job", 50)
			ns.load(t, "job", 100)
		}),
		condition("ready", func(e source.Event[*Crate]) bool { return e.Object.Spec.Weight == 100 }, func() {
			p.cut()
			ns.delete(t, "job")
		}),
		condition("gone", func(e source.Event[*Crate]) bool { return e.Type == source.Deleted }, func() {}))
	if err != nil || last.Type != source.Deleted || last.Object.Spec.Weight != 100 {
		t.Errorf("Until gives %v, %v", last, err)
	}
	if diff := cmp.Diff([]string{"made", "ready", "gone"}, asked); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
}
