// SPDX-License-Identifier: Apache-2.0

package watchcache_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/server/memory"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

// rig is a running cache over an in-memory storage, in a synctest bubble.
type rig struct {
	*testing.T
	storage *memory.Storage
	cache   *watchcache.Cache
	stop    context.CancelFunc
}

// inBubble runs a test with a filled cache.
func inBubble(t *testing.T, config watchcache.Config, test func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{T: t, storage: memory.New("spec.node")}
		if config.Storage == nil {
			config.Storage = r.storage
		}
		r.cache = run(t, config, logr.Discard(), &r.stop)
		if err := r.cache.WaitReady(t.Context()); err != nil {
			t.Fatal(err)
		}
		test(t, r)
	})
}

// run starts a cache. It ends with the test, or when stop is called.
func run(t *testing.T, config watchcache.Config, logger logr.Logger, stop *context.CancelFunc) *watchcache.Cache {
	t.Helper()
	c, err := watchcache.New(config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logger))
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := c.Run(ctx); err == nil {
			t.Error("Run returned nil")
		}
	}()
	*stop = func() {
		cancel()
		<-done
	}
	t.Cleanup(*stop)
	return c
}

// widget returns an object's JSON. with lists labels such as "app=x", and "node=n1" for the field.
func widget(key string, with ...string) []byte {
	namespace, name, _ := strings.Cut(key, "/")
	var pairs []string
	node := ""
	for _, pair := range with {
		k, v, _ := strings.Cut(pair, "=")
		if k == "node" {
			node = v
			continue
		}
		pairs = append(pairs, fmt.Sprintf("%q:%q", k, v))
	}
	return fmt.Appendf(nil, `{"apiVersion":"samples.dev/v1","kind":"Widget","metadata":{"namespace":%q,"name":%q,"labels":{%s}},"spec":{"node":%q}}`,
		namespace, name, strings.Join(pairs, ","), node)
}

// create, update and remove change the storage and wait for the cache. They return the change's
// version.
func (r *rig) create(key string, with ...string) uint64 {
	r.Helper()
	o, err := r.storage.Create(r.Context(), widget(key, with...))
	if err != nil {
		r.Fatal(err)
	}
	synctest.Wait()
	return o.Version
}

func (r *rig) update(key string, with ...string) uint64 {
	r.Helper()
	o, err := r.storage.Update(r.Context(), widget(key, with...))
	if err != nil {
		r.Fatal(err)
	}
	synctest.Wait()
	return o.Version
}

func (r *rig) remove(key string) uint64 {
	r.Helper()
	if _, err := r.storage.Delete(r.Context(), key, watchcache.Preconditions{}); err != nil {
		r.Fatal(err)
	}
	synctest.Wait()
	return r.storage.Version()
}

// watch starts a watch that ends with the test.
func (r *rig) watch(o watchcache.WatchOptions) *watchcache.Watcher {
	r.Helper()
	w, err := r.cache.Watch(r.Context(), o)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(w.Close)
	return w
}

// next returns a watch's waiting events, and the error after them if it has ended.
func (r *rig) next(w *watchcache.Watcher) (all []string, err error) {
	r.Helper()
	for {
		ctx, cancel := context.WithTimeout(r.Context(), time.Nanosecond)
		events, err := w.Next(ctx)
		cancel()
		if err == context.DeadlineExceeded {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, eventStrings(events)...)
	}
}

// wantNext expects these waiting events of an open watch.
func (r *rig) wantNext(w *watchcache.Watcher, want ...string) {
	r.Helper()
	if got, err := r.next(w); err != nil || !slices.Equal(got, want) {
		r.Errorf("got  %q, %v\nwant %q", got, err, want)
	}
}

// eventStrings returns events such as "ADDED a/one@2" and "BOOKMARK 7".
func eventStrings(events []watchcache.Event) (all []string) {
	for _, e := range events {
		word := string(e.Type) + " "
		if e.Object != nil {
			word += e.Object.Key + "@"
		}
		word += fmt.Sprint(e.Version)
		if e.InitialEnd {
			word += " end"
		}
		all = append(all, word)
	}
	return all
}

// objectStrings returns objects such as "a/one@2".
func objectStrings(objects []*watchcache.Object) (all []string) {
	for _, o := range objects {
		all = append(all, fmt.Sprintf("%s@%d", o.Key, o.Version))
	}
	return all
}

// newFilter returns a filter by namespace and two selectors.
func newFilter(namespace, labelSelector, fieldSelector string) watchcache.Filter {
	l, err := labels.Parse(labelSelector)
	if err != nil {
		panic(err)
	}
	f, err := fields.ParseSelector(fieldSelector)
	if err != nil {
		panic(err)
	}
	return watchcache.Filter{Namespace: namespace, Labels: l, Fields: f}
}
