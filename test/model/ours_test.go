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

// The indexes that steps add.
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
	wire     bool      // the clients are reached by HTTP
	wrong    *problems
	informer *informer.SharedIndexInformer[*corev1.ConfigMap]
	handlers []*ourHandler
	indexes  []bool // which of the indexes it has

	transformed string       // set once at construction: what transform makes of objects
	failing     atomic.Int64 // how often transform fails

	cancel context.CancelCauseFunc // nil while it is stopped
	ended  chan error
}

// transformedBy is the annotation in which a transform counts how often it has seen an object.
const transformedBy = "transformed"

// oursConfig is what differs between histories.
type oursConfig struct {
	clients    []*client
	wire       bool // by HTTP and JSON, not by a Source
	transforms bool
	options    []informer.Option
}

func newOurs(c oursConfig, wrong *problems) (*ours, error) {
	o := &ours{clients: c.clients, wire: c.wire, wrong: wrong, indexes: make([]bool, 3)}
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

// transform notes that it has seen the object. It fails as often as a step has told it to.
func (o *ours) transform(obj *corev1.ConfigMap) (*corev1.ConfigMap, error) {
	if o.failing.Add(-1) >= 0 {
		reach(untransformed)
		return nil, errors.New("as the history wants it")
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

// stop stops the informer. At rest says that it has got all that the client has handed over.
func (o *ours) stop(atRest bool) {
	o.cancel(errStop)
	if err := <-o.ended; err != errStop {
		o.wrong.add("Run returned %v, want the cause of its context", err)
	}
	o.cancel = nil
	synctest.Wait() // over HTTP, the server's end of a stream feeds the model for a moment longer
	if !atRest {
		for _, m := range o.models {
			m.blur()
		}
		for _, h := range o.handlers {
			h.exact = false
		}
	}
}

// add adds a handler. At rest says that the model knows what it has to be told.
func (o *ours) add(name string, pace time.Duration, threshold int, resync, panics, atRest bool) {
	h := &ourHandler{recorder: newRecorder("ours", name, pace, o.wrong), resync: resync, panics: panics, transformed: o.transformed}
	h.began, h.exact = o.models.mark()
	h.exact = h.exact && threshold == informer.Never && atRest
	opts := []informer.HandlerOption{informer.WithBacklogThreshold(threshold)}
	if resync {
		opts = append(opts, informer.WithResyncPeriod(2*time.Second))
	}
	reg, err := o.informer.AddEventHandler(h, opts...)
	if err != nil {
		o.wrong.add("add %s: %v", name, err)
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
		o.wrong.add("add index %d: %v", n, err)
	}
}

// check compares the informer with the model. Everything must be at rest.
func (o *ours) check() {
	snapshot := o.informer.Store().Snapshot()
	synced := true
	for _, c := range o.clients {
		want, version, vague := c.model.state()
		if vague {
			return
		}
		ns := c.scope.namespace
		if got := show(snapshot.Namespace(ns)); got != want || snapshot.NamespaceResourceVersion(ns) != version {
			o.wrong.add("our store has of namespace %q\n\t%s at %q, want\n\t%s at %q", ns, got, snapshot.NamespaceResourceVersion(ns), want, version)
		}
		synced = synced && version != ""
	}
	if o.informer.HasSynced() != synced {
		o.wrong.add("our informer: HasSynced is %t, want %t", o.informer.HasSynced(), synced)
	}
	o.checkIndexes(snapshot)
	for _, h := range o.handlers {
		h.syncs(o.models)
	}
}

func (o *ours) checkIndexes(snapshot *store.Snapshot[*corev1.ConfigMap]) {
	tiers, words, sizes := groups(snapshot.All())
	o.checkIndex(0, tiers, func(key string) string { return show(byTier.Lookup(snapshot, key)) })
	o.checkIndex(1, words, func(key string) string { return show(byWord.Lookup(snapshot, key)) })
	o.checkIndex(2, sizes, func(key string) string { return show(bySize.Lookup(snapshot, len(key))) })
	if n := len(slices.Collect(byWord.Keys(snapshot))); n != len(words) {
		o.wrong.add("our index ByWord has %d keys, want %d", n, len(words))
	}
}

func (o *ours) checkIndex(n int, want map[string][]*corev1.ConfigMap, lookup func(string) string) {
	for _, key := range append(slices.Sorted(maps.Keys(want)), "none") {
		if got, want := lookup(key), show(slices.Values(want[key])); got != want {
			o.wrong.add("our index %d (added: %t) has for %q\n\t%s, want\n\t%s", n, o.indexes[n], key, got, want)
		}
	}
}

// groups is what indexes should find: objects by tier, by word, and by a text as long as their
// size.
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

// await waits in the background for what the server has now; done is closed when that is over.
func (o *ours) await(ctx context.Context, version int) (done <-chan struct{}) {
	over := make(chan struct{})
	go func() {
		defer close(over)
		if err := o.informer.AwaitResourceVersion(ctx, fmt.Sprint(version)); err != nil {
			if ctx.Err() == nil {
				o.wrong.add("await version %d: %v", version, err)
			}
			return
		}
		if got := o.informer.Store().Snapshot().ResourceVersion(); number(got) < version {
			o.wrong.add("version %d was awaited, but the store stands at %s", version, got)
		}
	}()
	return over
}
