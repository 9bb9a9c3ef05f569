// SPDX-License-Identifier: Apache-2.0

package clientgo_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-gen/informer-gen/adapter/clientgo"
	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

func TestMain(m *testing.M) {
	// The second handler limits the rate of errors, and mixes up the times of several bubbles.
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1]
	goleak.VerifyTestMain(m)
}

// constructor is the constructor of client-go's informer, or of ours.
type constructor func(cache.ListerWatcher, runtime.Object, time.Duration, cache.Indexers) cache.SharedIndexInformer

// engine makes informers for clients of a config.
type engine struct {
	name string
	ours bool
	make func(*testing.T, *rest.Config) constructor
}

// engines are the engines of each scenario.
var engines = []engine{
	{"client-go", false, func(*testing.T, *rest.Config) constructor { return cache.NewSharedIndexInformer }},
	{"a ListerWatcher", true, func(*testing.T, *rest.Config) constructor { return clientgo.NewInformer }},
	{"own requests", true, func(t *testing.T, config *rest.Config) constructor { return newEngine(t, config).NewInformer }},
}

func newEngine(t *testing.T, config *rest.Config) *clientgo.Engine {
	t.Helper()
	e, err := clientgo.NewEngine(config)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// onEach runs a scenario in a bubble for each engine. A sleep in a bubble ends as soon as every
// goroutine waits.
func onEach(t *testing.T, scenario func(w *world)) {
	t.Helper()
	onThese(t, engines, scenario)
}

// onThese is onEach for some of the engines.
func onThese(t *testing.T, some []engine, scenario func(w *world)) {
	t.Helper()
	for _, e := range some {
		t.Run(e.name, func(t *testing.T) {
			if _, recent := reflect.TypeFor[cache.DeltaFIFOOptions]().FieldByName("Name"); !recent && !e.ours {
				t.Skip("before v0.36, informers of client-go don't run in bubbles")
			}
			synctest.Test(t, func(t *testing.T) { scenario(newWorld(t, e.make, e.ours)) })
		})
	}
}

// world is a server with Pods, and an informer of the Pods.
type world struct {
	*testing.T
	ours      bool // the informer is not client-go's
	server    *sourcetest.Server
	pods      *sourcetest.Collection[*corev1.Pod]
	lw        cache.ListerWatcher
	construct constructor
	informer  cache.SharedIndexInformer
}

func newWorld(t *testing.T, engine func(*testing.T, *rest.Config) constructor, ours bool) *world {
	w := newServer(t)
	w.ours = ours
	config := w.server.Config()
	w.construct = engine(t, config)
	w.lw = cache.NewListWatchFromClient(restClient(t, config), "pods", "", fields.Everything())
	w.informer = w.make(0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	return w
}

// newServer returns a world without an informer.
func newServer(t *testing.T) *world {
	w := &world{T: t, ours: true, server: sourcetest.New()}
	w.pods = sourcetest.Serve[*corev1.Pod](w.server, podResource, "")
	return w
}

// make returns one more informer of the same Pods.
func (w *world) make(resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	return w.construct(w.lw, &corev1.Pod{}, resync, indexers)
}

func restClient(t *testing.T, config *rest.Config) *rest.RESTClient {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	config = rest.CopyConfig(config)
	config.ContentConfig = rest.ContentConfig{GroupVersion: &corev1.SchemeGroupVersion, NegotiatedSerializer: serializer.NewCodecFactory(scheme).WithoutConversion()}
	config.APIPath, config.QPS = "/api", -1
	client, err := rest.RESTClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// run runs the informer until the test ends or stop is called. stop waits for the end of the run.
func (w *world) run() (stop func()) {
	ctx, cancel := context.WithCancel(context.WithValue(w.Context(), keyOfRun{}, "run"))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.informer.RunWithContext(ctx)
	}()
	stop = func() {
		cancel()
		<-ended
	}
	w.Cleanup(stop)
	synctest.Wait()
	return stop
}

// keyOfRun is the key of a value in the context of a run.
type keyOfRun struct{}

// create creates a Pod in the namespace "shop".
func (w *world) create(name string, edits ...func(*corev1.Pod)) *corev1.Pod {
	return w.pods.Create(pod(name, edits...))
}

var pod = informertest.Edited

// on sets the node of a Pod.
func on(node string) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Spec.NodeName = node } }

// add adds a handler that records its events.
func (w *world) add() *journal { return w.addHeld(nil) }

// addHeld adds a handler that calls before and then records the event.
func (w *world) addHeld(before func()) *journal {
	w.Helper()
	j := &journal{before: before}
	j.handle = w.handle(j)
	return j
}

// handle adds a handler.
func (w *world) handle(h cache.ResourceEventHandler) cache.ResourceEventHandlerRegistration {
	w.Helper()
	handle, err := w.informer.AddEventHandler(h)
	w.ok(err)
	return handle
}

// ok fails the test if err is not nil.
func (w *world) ok(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// wantLines compares the sorted lines of a journal since the last call. client-go's order of
// initial objects, and of the events of a relist, differs from run to run.
func (w *world) wantLines(j *journal, lines ...string) {
	w.Helper()
	got := j.take()
	slices.Sort(got)
	slices.Sort(lines)
	if diff := cmp.Diff(lines, got); diff != "" {
		w.Error(diff)
	}
}

// wantNames compares the names of the Pods in the informer's store.
func (w *world) wantNames(names ...string) {
	w.Helper()
	synctest.Wait()
	got := names[:0:0]
	for _, obj := range w.informer.GetStore().List() {
		got = append(got, nameIn(obj))
	}
	slices.Sort(got)
	if !slices.Equal(got, names) {
		w.Errorf("the store has %q, want %q", got, names)
	}
}

// journal is a handler that records its events as lines.
type journal struct {
	handle cache.ResourceEventHandlerRegistration
	before func() // called first, if not nil

	mu    sync.Mutex // guards lines
	lines []string
}

func (j *journal) note(format string, args ...any) {
	if j.before != nil {
		j.before()
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, fmt.Sprintf(format, args...))
}

func (j *journal) OnAdd(obj any, initial bool) {
	if initial {
		j.note("add %s initial", nameIn(obj))
		return
	}
	j.note("add %s", nameIn(obj))
}

func (j *journal) OnUpdate(old, obj any) {
	if versionOf(old) == versionOf(obj) {
		j.note("same %s", nameIn(obj))
		return
	}
	j.note("update %s", nameIn(obj))
}

func (j *journal) OnDelete(obj any) {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		j.note("lost %s %s on %s", tombstone.Key, nameIn(tombstone.Obj), tombstone.Obj.(*corev1.Pod).Spec.NodeName)
		return
	}
	j.note("delete %s", nameIn(obj))
}

// take returns the lines since the last call, once no goroutine can run.
func (j *journal) take() []string {
	synctest.Wait()
	j.mu.Lock()
	defer j.mu.Unlock()
	lines := j.lines
	j.lines = nil
	return lines
}

func nameIn(obj any) string {
	m, err := meta.Accessor(obj)
	if err != nil {
		return err.Error()
	}
	return m.GetName()
}

func versionOf(obj any) string {
	m, err := meta.Accessor(obj)
	if err != nil {
		return err.Error()
	}
	return m.GetResourceVersion()
}
