// SPDX-License-Identifier: Apache-2.0

package factories_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/source/sourcetest"
	"github.com/informer-gen/informer-gen/runtime/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	podResource  = corev1.SchemeGroupVersion.WithResource("pods")
	nodeResource = corev1.SchemeGroupVersion.WithResource("nodes")
)

// PodByNode is what the generator writes for the marker
//
//	+informer:index:name=ByNode,field=.spec.nodeName
var PodByNode = store.NewIndex("ByNode", func(pod *corev1.Pod, keys []string) []string {
	return append(keys, pod.Spec.NodeName)
})

func pod(namespace, name, node string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: corev1.PodSpec{NodeName: node}}
}

// shop is an API server in memory, with pods.
type shop struct {
	*sourcetest.Server
	pods *sourcetest.Collection[*corev1.Pod]
}

func newShop(pods ...*corev1.Pod) *shop {
	server := sourcetest.New()
	s := &shop{server, sourcetest.Serve[*corev1.Pod](server, podResource, "Pod", "spec.nodeName")}
	for _, pod := range pods {
		s.pods.Create(pod)
	}
	return s
}

type failer interface{ Fatal(...any) }

func (s *shop) client(t failer) *source.Client {
	client, err := source.NewClient(s.Config())
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func (s *shop) source(t failer) source.Source[*corev1.Pod] {
	src, err := source.New[*corev1.Pod](s.client(t), podResource, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func (s *shop) factory(t failer, opts ...informer.Option) *factories.Factory {
	return factories.New(s.client(t), opts...)
}

var errOutage = errors.New("the server is away")

// outage cuts the connection, until it is ended.
func (s *shop) outage() (end func()) {
	end = s.Inject(sourcetest.Fault{Times: sourcetest.Always, Do: sourcetest.Fail(errOutage)})
	s.EndWatches()
	return end
}

func labelled(namespace, name string, labels map[string]string) *corev1.Pod {
	pod := pod(namespace, name, "")
	pod.Labels = labels
	return pod
}

// run starts a factory and waits until it has synced; the end of the test shuts it down.
func run(t *testing.T, f *factories.Factory) {
	t.Helper()
	if err := errors.Join(f.Start(t.Context()), f.WaitForCacheSync(t.Context())); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

func shutdown(t *testing.T, f *factories.Factory) {
	t.Helper()
	if err := f.Shutdown(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}

// journal is a handler that notes its events, and checks that they are a legal history.
type journal[T object.Object] struct {
	before func(what string, key object.Key) // called first, if not nil

	mu    sync.Mutex // mu guards what follows
	lines []string
	state map[object.Key]T // what the events add up to
	wrong []string
}

func (j *journal[T]) note(what string, key object.Key, old, obj object.Object, more string, legal func(known T, ok bool) bool) {
	if j.before != nil {
		j.before(what, key)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	line := what + key.Name + "@"
	if old != nil {
		line += old.GetResourceVersion() + ">"
	}
	line += obj.GetResourceVersion() + more
	j.lines = append(j.lines, line)
	if known, ok := j.state[key]; !legal(known, ok) {
		j.wrong = append(j.wrong, line)
	}
}

func (j *journal[T]) set(key object.Key, obj T) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.state == nil {
		j.state = map[object.Key]T{}
	}
	j.state[key] = obj
}

func (j *journal[T]) OnAdd(obj T, initial bool) {
	more := ""
	if initial {
		more = " initial"
	}
	j.note("+", object.KeyOf(obj), nil, obj, more, func(_ T, ok bool) bool { return !ok })
	j.set(object.KeyOf(obj), obj)
}

func (j *journal[T]) OnUpdate(old, obj T) {
	j.note("~", object.KeyOf(obj), old, obj, "", func(known T, ok bool) bool {
		return ok && object.Object(known) == object.Object(old) && old.GetUID() == obj.GetUID()
	})
	j.set(object.KeyOf(obj), obj)
}

func (j *journal[T]) OnDelete(d informer.Deleted[T]) {
	more := ""
	if d.FinalStateUnknown {
		more = " unknown"
	}
	j.note("-", d.Key, nil, d.Object, more, func(known T, ok bool) bool { return ok && known.GetUID() == d.Object.GetUID() })
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.state, d.Key)
}

// take returns the lines since the last call, once no goroutine can run.
func (j *journal[T]) take() []string {
	synctest.Wait()
	j.mu.Lock()
	defer j.mu.Unlock()
	lines := j.lines
	j.lines = nil
	return lines
}

// saw wants these lines since the last call, in this order.
func (j *journal[T]) saw(t *testing.T, lines ...string) {
	t.Helper()
	if diff := cmp.Diff(lines, j.take()); diff != "" {
		t.Error(diff)
	}
}

// check wants a legal history that ends with the objects of the store.
func (j *journal[T]) check(t *testing.T, i *informer.SharedIndexInformer[T]) {
	t.Helper()
	synctest.Wait()
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, line := range j.wrong {
		t.Errorf("illegal event: %s", line)
	}
	snapshot := i.Store().Snapshot()
	if len(j.state) != snapshot.Len() {
		t.Errorf("the events add up to %d objects, the store has %d", len(j.state), snapshot.Len())
	}
	for key, obj := range j.state {
		if stored, _ := snapshot.Get(key); object.Object(stored) != object.Object(obj) {
			t.Errorf("the events add up to %s of %s, the store has another one", obj.GetResourceVersion(), key)
		}
	}
}

func add[T object.Object](t *testing.T, i *informer.SharedIndexInformer[T], h informer.Handler[T], opts ...informer.HandlerOption) *informer.Registration {
	t.Helper()
	r, err := i.AddEventHandler(h, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// names returns the sorted keys of a snapshot's objects.
func names[T object.Object](i *informer.SharedIndexInformer[T]) []string {
	list := []string{}
	for obj := range i.Store().Snapshot().All() {
		list = append(list, object.KeyOf(obj).String())
	}
	slices.Sort(list)
	return list
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: %s", what, diff)
	}
}

// pass lets time pass, until no goroutine can run.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func podsOf(f factories.SharedInformerFactory, opts ...informer.Option) *informer.SharedIndexInformer[*corev1.Pod] {
	return factories.For[*corev1.Pod](f, podResource, opts...)
}

func want(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil || err.Error() != text {
		t.Errorf("got  %v\nwant %s", err, text)
	}
}

func keep[T object.Object](obj T) (T, error) { return obj, nil }
