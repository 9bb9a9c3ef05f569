// SPDX-License-Identifier: Apache-2.0

package devserver_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
)

// watchLog is a client that watches, and what it has seen.
type watchLog struct {
	how      string
	k        *loadKind
	random   *rand.Rand
	breaks   int           // it breaks off after so many events, on average; 0 means never
	pause    time.Duration // between two events
	selector string        // of labels
	initial  bool          // it begins with a watch-list

	version string // to go on from

	mu     sync.Mutex
	events []loadEvent // mu guards it
}

type loadEvent struct {
	kind                 watch.EventType
	version, name, value string
	colour               string
	uid                  types.UID
}

// run watches until ctx ends.
func (w *watchLog) run(ctx context.Context, t *testing.T, c dynamic.ResourceInterface) {
	for ctx.Err() == nil {
		opts := metav1.ListOptions{ResourceVersion: w.version, LabelSelector: w.selector, AllowWatchBookmarks: w.random.IntN(2) == 0}
		if w.initial {
			opts.ResourceVersion, opts.SendInitialEvents, opts.AllowWatchBookmarks = "", new(true), true
			opts.ResourceVersionMatch = metav1.ResourceVersionMatchNotOlderThan
		}
		err := w.watch(ctx, c, opts)
		if w.initial && err != nil && strings.Contains(err.Error(), "context canceled") {
			continue // EndWatches
		}
		if err != nil && ctx.Err() == nil {
			t.Errorf("%s of %s: watch from %q: %v", w.how, w.k.gvr.Resource, opts.ResourceVersion, err)
			return
		}
	}
}

func (w *watchLog) watch(ctx context.Context, c dynamic.ResourceInterface, opts metav1.ListOptions) error {
	stream, err := c.Watch(ctx, opts)
	if err != nil {
		return err
	}
	defer stream.Stop()
	for e := range stream.ResultChan() {
		u, ok := e.Object.(*unstructured.Unstructured)
		if !ok || e.Type == watch.Error {
			return fmt.Errorf("%s: %w", e.Type, apierrors.FromObject(e.Object))
		}
		w.version = u.GetResourceVersion()
		if e.Type != watch.Bookmark {
			if w.initial {
				continue // the state at its bookmark is not compared
			}
			w.mu.Lock()
			w.events = append(w.events, loadEvent{e.Type, u.GetResourceVersion(), u.GetName(), u.GetLabels()["value"], u.GetLabels()["colour"], u.GetUID()})
			w.mu.Unlock()
		} else if u.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true" {
			w.initial = false
			w.mu.Lock()
			w.events = append(w.events, loadEvent{kind: watch.Bookmark, version: w.version})
			w.mu.Unlock()
		}
		time.Sleep(w.pause) // a slow client; 0 for the others
		if w.breaks > 0 && w.random.IntN(w.breaks) == 0 {
			return nil
		}
	}
	return nil
}

// await waits until the watcher has seen a version. It polls, since the watcher tells no one.
func (w *watchLog) await(t *testing.T, version string) {
	t.Helper()
	want := number(version)
	for deadline := time.Now().Add(patience); time.Now().Before(deadline) && !t.Failed(); time.Sleep(5 * time.Millisecond) {
		w.mu.Lock()
		n := len(w.events)
		arrived := n > 0 && number(w.events[n-1].version) >= want
		w.mu.Unlock()
		if arrived {
			return
		}
	}
	t.Fatalf("%s of %s: it has not seen version %s", w.how, w.k.gvr.Resource, version)
}

func number(version string) uint64 {
	n, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

// check compares what the writers know with the watches, and each watch and list with the first
// watch.
func (l *load) check(k *loadKind, logs []*watchLog) {
	t, all := l.t, logs[0].events
	unknown := 0
	state := map[string]loadEvent{}
	states := []map[string]string{{}} // after each event: versions by name
	versions := []uint64{0}
	gone := map[types.UID]int{}
	seen := map[string]bool{}
	for _, e := range all {
		before, there := state[e.name]
		if number(e.version) <= versions[len(versions)-1] {
			t.Fatalf("%s: %+v comes after version %d", k.gvr.Resource, e, versions[len(versions)-1])
		}
		switch {
		case e.kind == watch.Added && there, e.kind != watch.Added && (!there || before.uid != e.uid):
			t.Fatalf("%s: %+v comes after %+v", k.gvr.Resource, e, before)
		case e.kind == watch.Deleted:
			gone[e.uid]++
			delete(state, e.name)
			if !k.deleted[e.uid] {
				unknown++
			}
		default:
			w, known := k.written[e.version]
			// The version of a deletion that finalizers put off is not among the answers.
			deletion := there && before.value == e.value && k.deleted[e.uid]
			if !known && !deletion {
				unknown++
			}
			if known && w != (loadWrite{e.name, e.value, e.uid}) {
				t.Fatalf("%s: %+v was written as %+v", k.gvr.Resource, e, w)
			}
			seen[e.version], state[e.name] = true, e
		}
		now := maps.Clone(states[len(states)-1])
		if delete(now, e.name); e.kind != watch.Deleted {
			now[e.name] = e.version
		}
		states, versions = append(states, now), append(versions, number(e.version))
	}
	for version, w := range k.written {
		if !seen[version] {
			t.Errorf("%s: no event tells of %+v at %s", k.gvr.Resource, w, version)
		}
	}
	if unknown > k.doubts {
		t.Errorf("%s: %d events are of no write, and %d writes have an unknown end", k.gvr.Resource, unknown, k.doubts)
	}
	for _, log := range logs[1:] {
		log.compare(t, all)
	}
	for _, list := range k.lists {
		at := 0
		for at+1 < len(versions) && versions[at+1] <= number(list.version) {
			at++
		}
		if !maps.Equal(states[at], list.objects) {
			t.Errorf("%s: the list with %s at %s is %v, want %v", k.gvr.Resource, list.how, list.version, list.objects, states[at])
		}
	}
	t.Logf("%s: %d events, %d writes, %d deleted objects, %d unknown ends, %d lists", k.gvr.Resource, len(all), len(k.written), len(gone), k.doubts, len(k.lists))
}

// compare asserts that a watcher has seen what it should of all events.
func (w *watchLog) compare(t *testing.T, all []loadEvent) {
	got := w.events
	if len(got) > 0 && got[0].kind == watch.Bookmark {
		from := number(got[0].version)
		got = got[1:]
		for len(all) > 0 && number(all[0].version) <= from {
			all = all[1:]
		}
	}
	if w.selector != "" {
		all = selected(all)
	}
	for n := range max(len(got), len(all)) {
		if n >= len(got) || n >= len(all) || got[n] != all[n] {
			var g, a any
			if n < len(got) {
				g = got[n]
			}
			if n < len(all) {
				a = all[n]
			}
			t.Errorf("%s of %s: event %d is %+v, want %+v", w.how, w.k.gvr.Resource, n, g, a)
			return
		}
	}
}

// selected are the events of a watch of red objects. An object that is no longer red is deleted, as
// it was.
func selected(all []loadEvent) (red []loadEvent) {
	in := map[string]loadEvent{}
	for _, e := range all {
		before, was := in[e.name]
		switch is := e.colour == "red" && e.kind != watch.Deleted; {
		case is && !was:
			e.kind = watch.Added
		case is:
			e.kind = watch.Modified
		case was && e.kind != watch.Deleted:
			before.version = e.version
			e = before
			e.kind = watch.Deleted
		case !was:
			continue
		}
		if e.kind == watch.Deleted {
			delete(in, e.name)
		} else {
			in[e.name] = e
		}
		red = append(red, e)
	}
	return red
}
