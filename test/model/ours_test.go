// SPDX-License-Identifier: Apache-2.0

package model

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// The indexes added by steps.
var (
	byTier = store.NewIndex("ByTier", func(c *corev1.ConfigMap, keys []string) []string { return append(keys, c.Labels["tier"]) })
	byWord = store.NewIndex("ByWord", func(c *corev1.ConfigMap, keys []string) []string {
		return append(keys, strings.Fields(c.Data["words"])...)
	})
	bySize = store.NewIndex("BySize", func(c *corev1.ConfigMap, keys []int) []int { return append(keys, len(c.Data["words"])) })
)

// ours is our informer and its handlers.
type ours struct {
	clients  []*client // one for each stream
	models   models    // of the clients
	wire     bool      // the clients answer over HTTP
	problems *problemList
	informer *informer.SharedIndexInformer[*corev1.ConfigMap]
	handlers []*ourHandler
	indexes  []bool // the added indexes

	transformed string       // set once at construction: the value of transformedBy after transform
	failing     atomic.Int64 // failures of transform to come

	cancel context.CancelCauseFunc // nil while stopped
	ended  chan error
}

// transformedBy is the annotation with the number of transforms of an object.
const transformedBy = "transformed"

// oursConfig is the part that differs between histories.
type oursConfig struct {
	clients    []*client
	wire       bool // over HTTP and JSON, not by a Source
	transforms bool
	options    []informer.Option
}

func newOurs(c oursConfig, problems *problemList) (*ours, error) {
	o := &ours{clients: c.clients, wire: c.wire, problems: problems, indexes: make([]bool, 3)}
	var namespaces []string
	for _, client := range c.clients {
		o.models = append(o.models, client.model)
		namespaces = append(namespaces, client.scope.namespace)
	}
	opts := append(c.options, informer.WithName("ours"))
	if c.transforms {
		o.transformed = "x"
		opts = append(opts, informer.WithTransform(o.transform))
	}
	var err error
	if !c.wire {
		o.informer, err = informer.New(c.clients[0], opts...)
		return o, err
	}
	o.informer, err = overHTTP(c.clients, append(opts, informer.WithNamespace(namespaces...)))
	return o, err
}

// transform counts itself in transformedBy. It fails as often as a step has set.
func (o *ours) transform(obj *corev1.ConfigMap) (*corev1.ConfigMap, error) {
	if o.failing.Add(-1) >= 0 {
		reach(untransformed)
		return nil, errors.New("a failure of the history")
	}
	annotations := maps.Clone(obj.Annotations)
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[transformedBy] += "x"
	obj.Annotations = annotations
	return obj, nil
}

var errStop = errors.New("the history stops the informer")

func (o *ours) start(ctx context.Context) {
	ctx, o.cancel = context.WithCancelCause(ctx)
	o.ended = make(chan error, 1)
	go func() { o.ended <- o.informer.Run(ctx) }()
}

// stop stops the informer. atRest means that the informer has got everything delivered.
func (o *ours) stop(atRest bool) {
	o.cancel(errStop)
	if err := <-o.ended; err != errStop {
		o.problems.add("Run returned %v, want the cause of its context", err)
	}
	o.cancel = nil
	synctest.Wait() // over HTTP, the server's end of a stream feeds the model for a moment longer
	if !atRest {
		for _, m := range o.models {
			m.markUncertain()
		}
		for _, h := range o.handlers {
			h.exact = false
		}
	}
}

// add adds a handler. atRest means that the model knows its exact events.
func (o *ours) add(name string, delay time.Duration, threshold int, resync, panics, atRest bool) {
	h := &ourHandler{recorder: newRecorder("ours", name, delay, o.problems), resync: resync, panics: panics, transformed: o.transformed}
	h.began, h.exact = o.models.mark()
	h.exact = h.exact && threshold == informer.Never && atRest
	opts := []informer.HandlerOption{informer.WithBacklogThreshold(threshold)}
	if resync {
		opts = append(opts, informer.WithResyncPeriod(2*time.Second))
	}
	reg, err := o.informer.AddEventHandler(h, opts...)
	if err != nil {
		o.problems.add("add %s: %v", name, err)
		return
	}
	h.reg.Store(reg)
	o.handlers = append(o.handlers, h)
}

func (o *ours) remove(n int) {
	o.handlers[n].remove(o.models)
	o.handlers = slices.Delete(o.handlers, n, n+1)
}

func (o *ours) addIndex(n int) {
	o.indexes[n] = true
	if err := o.informer.AddIndexers([]store.AnyIndex[*corev1.ConfigMap]{byTier, byWord, bySize}[n]); err != nil {
		o.problems.add("add index %d: %v", n, err)
	}
}

// check compares the informer with the model. Everything must be at rest.
func (o *ours) check() {
	snapshot := o.informer.Store().Snapshot()
	synced := true
	for _, c := range o.clients {
		want, version, uncertain := c.model.state()
		if uncertain {
			return
		}
		ns := c.scope.namespace
		if got := show(snapshot.Namespace(ns)); got != want || snapshot.NamespaceResourceVersion(ns) != version {
			o.problems.add("our store has in namespace %q\n\t%s at %q, want\n\t%s at %q", ns, got, snapshot.NamespaceResourceVersion(ns), want, version)
		}
		synced = synced && version != ""
	}
	if o.informer.HasSynced() != synced {
		o.problems.add("our informer: HasSynced is %t, want %t", o.informer.HasSynced(), synced)
	}
	o.checkIndexes(snapshot)
	for _, h := range o.handlers {
		h.expectSync(o.models)
	}
}

func (o *ours) checkIndexes(snapshot *store.Snapshot[*corev1.ConfigMap]) {
	tiers, words, sizes := groups(snapshot.All())
	o.checkIndex(0, tiers, func(key string) string { return show(byTier.Lookup(snapshot, key)) })
	o.checkIndex(1, words, func(key string) string { return show(byWord.Lookup(snapshot, key)) })
	o.checkIndex(2, sizes, func(key string) string { return show(bySize.Lookup(snapshot, len(key))) })
	if n := len(slices.Collect(byWord.Keys(snapshot))); n != len(words) {
		o.problems.add("our index ByWord has %d keys, want %d", n, len(words))
	}
}

func (o *ours) checkIndex(n int, want map[string][]*corev1.ConfigMap, lookup func(string) string) {
	for _, key := range append(slices.Sorted(maps.Keys(want)), "none") {
		if got, want := lookup(key), show(slices.Values(want[key])); got != want {
			o.problems.add("our index %d (added: %t) has for %q\n\t%s, want\n\t%s", n, o.indexes[n], key, got, want)
		}
	}
}

// groups returns the expected contents of the indexes: objects by tier, by word, and by a text as
// long as their size.
func groups(objects func(func(*corev1.ConfigMap) bool)) (tiers, words, sizes map[string][]*corev1.ConfigMap) {
	tiers, words, sizes = map[string][]*corev1.ConfigMap{}, map[string][]*corev1.ConfigMap{}, map[string][]*corev1.ConfigMap{}
	for obj := range objects {
		text := obj.Data["words"]
		tiers[obj.Labels["tier"]] = append(tiers[obj.Labels["tier"]], obj)
		sizes[strings.Repeat("x", len(text))] = append(sizes[strings.Repeat("x", len(text))], obj)
		fields := strings.Fields(text)
		slices.Sort(fields)
		for _, word := range slices.Compact(fields) {
			words[word] = append(words[word], obj)
		}
	}
	return tiers, words, sizes
}

// await waits in the background for the server's present version; done is closed at the end.
func (o *ours) await(ctx context.Context, version int) (done <-chan struct{}) {
	over := make(chan struct{})
	go func() {
		defer close(over)
		if err := o.informer.AwaitResourceVersion(ctx, fmt.Sprint(version)); err != nil {
			if ctx.Err() == nil {
				o.problems.add("await version %d: %v", version, err)
			}
			return
		}
		if got := o.informer.Store().Snapshot().ResourceVersion(); number(got) < version {
			o.problems.add("version %d was awaited, but the store has version %s", version, got)
		}
	}()
	return over
}
