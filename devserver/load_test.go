// SPDX-License-Identifier: Apache-2.0

package devserver_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"github.com/informer-gen/informer-gen/devserver"
)

var loadSeed = flag.Uint64("seed", 0, "seed of TestLoad; 0 means another one each time")

// load has many clients of one server.
type load struct {
	t     *testing.T
	s     *devserver.Server
	kinds []*loadKind
}

// loadKind is a collection under load.
type loadKind struct {
	gvr     schema.GroupVersionResource
	kind    string
	content string // a field without a limit of its length

	mu      sync.Mutex
	written map[string]string // names by the versions of answers to writes; mu guards it
}

// TestLoad has writers, and watchers that are slow or break off and go on, while history is
// compacted, watches end, and CRDs come and go. The watchers see each write that was answered, in
// the order of versions, and end with the state of a list.
func TestLoad(t *testing.T) {
	t.Parallel()
	clients, writes := 50, 60
	if testing.Short() {
		clients, writes = 6, 25
	}
	seed := *loadSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-seed %d", seed)

	s := start(t, devserver.Options{CRDs: crds{boatCRD()}, BuiltInKinds: true, CollectGarbage: true})
	l := &load{t: t, s: s, kinds: []*loadKind{
		{gvr: boats, kind: "Boat", content: "spec", written: map[string]string{}},
		{gvr: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, kind: "ConfigMap", content: "data", written: map[string]string{}},
	}}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	var others, writers sync.WaitGroup
	watches := map[*loadKind][]*loadWatch{}
	for n, k := range l.kinds {
		empty, err := l.client().Resource(k.gvr).List(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		state := map[string]string{}
		for _, u := range empty.Items { // those of the start
			state[u.GetNamespace()+"/"+u.GetName()] = u.GetResourceVersion()
		}
		watches[k] = []*loadWatch{
			{how: "all"}, {how: "breaks off", breaks: 5}, {how: "slow", pause: 3 * time.Millisecond, breaks: 200}, {how: "watch-list", initial: true, breaks: 20},
		}
		for i, w := range watches[k] {
			w.random = rand.New(rand.NewPCG(seed, uint64(10*n+i)))
			w.version, w.state, w.seen = empty.GetResourceVersion(), maps.Clone(state), map[string]bool{}
			c := l.client().Resource(k.gvr)
			others.Go(func() { w.run(ctx, t, c) })
		}
		others.Go(func() { l.read(ctx, k) })
	}
	others.Go(func() { l.disturb(ctx, rand.New(rand.NewPCG(seed, 1<<40))) })
	for n := range clients {
		writers.Go(func() {
			random := rand.New(rand.NewPCG(seed, 1<<32+uint64(n)))
			for range writes {
				k := l.kinds[random.IntN(len(l.kinds))]
				k.write(ctx, t, l.client().Resource(k.gvr).Namespace("default"), random)
			}
		})
	}
	writers.Wait()
	for _, k := range l.kinds {
		c := l.client().Resource(k.gvr)
		// All watchers wait for this one.
		last, err := c.Namespace("default").Create(ctx, k.object("last", 0), metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		list, err := c.List(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{}
		for _, u := range list.Items {
			want[u.GetNamespace()+"/"+u.GetName()] = u.GetResourceVersion()
		}
		for _, w := range watches[k] {
			w.await(t, last.GetResourceVersion())
			w.mu.Lock()
			if !maps.Equal(w.state, want) {
				t.Errorf("%s of %s: got %v, want %v", w.how, k.gvr.Resource, w.state, want)
			}
			for version, name := range k.written {
				if w.how == "all" && !w.seen[version] {
					t.Errorf("%s: no event tells of %s at %s", k.gvr.Resource, name, version)
				}
			}
			w.mu.Unlock()
		}
	}
	end()
	others.Wait()
}

// client makes a client with connections of its own.
func (l *load) client() dynamic.Interface {
	config := l.s.Config()
	transport := &http.Transport{}
	l.t.Cleanup(transport.CloseIdleConnections)
	config.Transport = transport
	c, err := dynamic.NewForConfig(config)
	if err != nil {
		l.t.Error(err)
	}
	return c
}

func (k *loadKind) object(name string, size int) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": k.gvr.GroupVersion().String(), "kind": k.kind, "metadata": map[string]any{"name": name},
		k.content: map[string]any{"berth": strings.Repeat("x", size)},
	}}
}

// write does something to an object that other clients write to as well.
func (k *loadKind) write(ctx context.Context, t *testing.T, c dynamic.ResourceInterface, random *rand.Rand) {
	name, value, size := fmt.Sprint("n", random.IntN(12)), fmt.Sprint("v", random.Uint64()), 10
	if random.IntN(200) == 0 {
		size = 1 << 20
	}
	var got *unstructured.Unstructured
	var err error
	switch what := random.IntN(10); {
	case what < 4:
		got, err = c.Create(ctx, k.object(name, size), metav1.CreateOptions{})
	case what < 6:
		if got, err = c.Get(ctx, name, metav1.GetOptions{}); err == nil {
			got.SetLabels(map[string]string{"value": value})
			if random.IntN(8) == 0 {
				got.SetFinalizers([]string{"example.com/hold"})
			}
			got, err = c.Update(ctx, got, metav1.UpdateOptions{})
		}
	case what < 8:
		patch := fmt.Appendf(nil, `{"metadata":{"finalizers":null,"labels":{"value":%q}}}`, value)
		got, err = c.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
	default:
		err = c.Delete(ctx, name, metav1.DeleteOptions{})
	}
	switch {
	case err != nil && apierrors.ReasonForError(err) == metav1.StatusReasonUnknown:
		t.Error(err)
	case err != nil, got == nil:
	case got.GetDeletionTimestamp() != nil && len(got.GetFinalizers()) == 0: // the last state
	default:
		k.mu.Lock()
		defer k.mu.Unlock()
		k.written[got.GetResourceVersion()] = name
	}
}

// read lists in pages until ctx ends: all of a list have one version.
func (l *load) read(ctx context.Context, k *loadKind) {
	c := l.client().Resource(k.gvr)
	for n := 0; ctx.Err() == nil; n++ {
		how, version := metav1.ListOptions{Limit: int64(1 + n%4)}, ""
		for page := 0; page == 0 || how.Continue != ""; page++ {
			list, err := c.List(ctx, how)
			if err != nil {
				if ctx.Err() == nil && !apierrors.IsResourceExpired(err) {
					l.t.Errorf("list with limit %d: %v", how.Limit, err)
				}
				break
			}
			if page > 0 && list.GetResourceVersion() != version {
				l.t.Errorf("a page of %s follows one of %s", list.GetResourceVersion(), version)
			}
			version, how.Continue = list.GetResourceVersion(), list.GetContinue()
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// loadWatch is a client that watches.
type loadWatch struct {
	how    string
	random *rand.Rand
	breaks int           // it breaks off after so many events, on average; 0 means never
	pause  time.Duration // between two events

	mu      sync.Mutex        // mu guards the fields below
	initial bool              // it begins with a watch-list, whose end has not come yet
	version string            // to go on from
	state   map[string]string // versions by key
	seen    map[string]bool   // versions
}

// run watches until ctx ends.
func (w *loadWatch) run(ctx context.Context, t *testing.T, c dynamic.ResourceInterface) {
	for ctx.Err() == nil {
		opts := metav1.ListOptions{ResourceVersion: w.version, AllowWatchBookmarks: w.random.IntN(2) == 0}
		if w.initial {
			w.state = map[string]string{}
			opts.ResourceVersion, opts.SendInitialEvents, opts.AllowWatchBookmarks = "", new(true), true
			opts.ResourceVersionMatch = metav1.ResourceVersionMatchNotOlderThan
		}
		err := w.watch(ctx, c, opts)
		if w.initial && err != nil && strings.Contains(err.Error(), "context canceled") {
			continue // EndWatches
		}
		if err != nil && ctx.Err() == nil {
			t.Errorf("%s: watch from %q: %v", w.how, opts.ResourceVersion, err)
			return
		}
	}
}

func (w *loadWatch) watch(ctx context.Context, c dynamic.ResourceInterface, opts metav1.ListOptions) error {
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
		if err := w.apply(e.Type, u); err != nil {
			return err
		}
		time.Sleep(w.pause) // a slow client; 0 for the others
		if w.breaks > 0 && w.random.IntN(w.breaks) == 0 {
			return nil
		}
	}
	return nil
}

func (w *loadWatch) apply(kind watch.EventType, u *unstructured.Unstructured) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	key, version := u.GetNamespace()+"/"+u.GetName(), u.GetResourceVersion()
	if _, there := w.state[key]; kind != watch.Bookmark && there != (kind != watch.Added) {
		return fmt.Errorf("%s of %s at %s, which is there: %t", kind, key, version, there)
	}
	if !w.initial && kind != watch.Bookmark && number(version) <= number(w.version) {
		return fmt.Errorf("%s of %s at %s comes after %s", kind, key, version, w.version)
	}
	switch kind {
	case watch.Bookmark:
		w.initial = w.initial && u.GetAnnotations()[metav1.InitialEventsAnnotationKey] != "true"
	case watch.Deleted:
		delete(w.state, key)
	default:
		w.state[key], w.seen[version] = version, true
	}
	w.version = version
	return nil
}

// await waits until the watcher has come to a version. It polls, since the watcher tells no one.
func (w *loadWatch) await(t *testing.T, version string) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline) && !t.Failed(); time.Sleep(5 * time.Millisecond) {
		w.mu.Lock()
		arrived := w.seen[version] && !w.initial
		w.mu.Unlock()
		if arrived {
			return
		}
	}
	t.Fatalf("%s: it has not seen version %s", w.how, version)
}

func number(version string) uint64 {
	n, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

// disturb compacts, ends watches, and changes, installs and removes CRDs until ctx ends.
func (l *load) disturb(ctx context.Context, random *rand.Rand) {
	other := boatCRD()
	other.Name, other.Spec.Names.Plural, other.Spec.Names.Singular = "ships.harbour.example.com", "ships", "ship"
	other.Spec.Names.Kind, other.Spec.Names.ListKind, other.Spec.Names.ShortNames = "Ship", "ShipList", nil
	crds := l.client().Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	for n := 0; ctx.Err() == nil; n++ {
		var err error
		switch what := random.IntN(4); {
		case what == 0:
			_, err = l.s.Compact(ctx)
		case what == 1:
			_, err = l.s.EndWatches(ctx)
		case what == 2:
			patch := fmt.Sprintf(`{"metadata":{"annotations":{"n":"%d"}}}`, n)
			_, err = crds.Patch(ctx, "boats.harbour.example.com", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		default:
			if err = l.s.InstallCRDs(ctx, other); err == nil {
				err = crds.Delete(ctx, other.Name, metav1.DeleteOptions{})
			}
			if err == nil {
				err = l.gone(ctx, crds, other.Name)
			}
		}
		if err != nil && ctx.Err() == nil {
			l.t.Errorf("disturb: %v", err)
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

func (l *load) gone(ctx context.Context, c dynamic.ResourceInterface, name string) error {
	for {
		if _, err := c.Get(ctx, name, metav1.GetOptions{}); apierrors.IsNotFound(err) {
			return nil
		} else if err != nil {
			return err
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
