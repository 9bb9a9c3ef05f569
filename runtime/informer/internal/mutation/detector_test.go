// SPDX-License-Identifier: Apache-2.0

package mutation

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// want asserts the mutations reported since the last call, each as "handler key path".
func (l *log) want(t *testing.T, lines ...string) {
	t.Helper()
	var got []string
	for _, m := range l.take() {
		got = append(got, fmt.Sprintf("%s %s %s", m.Handler, m.Key, m.Path))
	}
	slices.Sort(got)
	slices.Sort(lines)
	if !slices.Equal(got, lines) {
		t.Errorf("reported %q, want %q", got, lines)
	}
}

func TestMutatingHandlerIsNamed(t *testing.T) {
	var l log
	d := New("pods", l.report)
	old, pod := newPod("blue"), newPod("blue")
	d.Store(old)
	d.Store(pod)
	d.Check("", old, pod)
	pod.Spec.NodeName = "x"
	d.Check("queue", old, pod)
	if got := l.take(); len(got) != 1 || got[0] != (Mutation{
		Informer: "pods", Key: object.Key{Namespace: "shop", Name: "blue"}, UID: "uid-1", ResourceVersion: "17",
		Path: ".spec.nodeName", Handler: "queue",
	}) {
		t.Errorf("reported %+v, want one mutation of .spec.nodeName by queue", got)
	}
	d.Check("", nil, pod)
	delete(old.Labels, "app") // other handlers may still get a deleted or replaced object
	d.Check("other", old, nil)
	l.want(t, `other shop/blue .metadata.labels["app"]`)
}

func TestMutationByOtherCodeNamesNoHandler(t *testing.T) {
	var l log
	d := New("pods", l.report)
	pod := newPod("blue")
	d.Store(pod)
	pod.Spec.NodeName = "x"
	d.Check("", nil, pod)
	l.want(t, " shop/blue .spec.nodeName")
	d.Check("queue", nil, pod)
	l.want(t)
}

func TestEachChangeIsReportedOnce(t *testing.T) {
	var l log
	d := New("pods", l.report)
	pod := newPod("blue")
	d.Store(pod)
	pod.Spec.NodeName = "x"
	pod.Status.Phase = "x" // no second report
	d.CheckAll()
	d.CheckAll()
	d.Check("queue", pod, pod)
	l.want(t, " shop/blue .spec.nodeName")
	pod.Status.Phase = "y"
	pod.Name = "red" // the report has the stored name
	d.Store(pod)
	d.Check("queue", pod, pod)
	d.CheckAll()
	l.want(t, "queue shop/blue .metadata.name")
	pod.Spec.NodeName = "node-7"
	d.CheckAll()
	l.want(t, " shop/blue .spec.nodeName")
}

func TestMutatedSharedPartIsReportedForEachObject(t *testing.T) {
	var l log
	d := New("pods", l.report)
	pods := []*corev1.Pod{newPod("a"), newPod("b"), newPod("c")}
	pods[1].Labels = pods[0].Labels
	for _, pod := range pods {
		d.Store(pod)
	}
	d.Check("", nil, pods[0])
	pods[0].Labels["app"] = "red"
	d.Check("queue", nil, pods[0])
	l.want(t, `queue shop/a .metadata.labels["app"]`)
	d.CheckAll()
	l.want(t, ` shop/b .metadata.labels["app"]`)
}

func TestNilDetectorDoesNothing(t *testing.T) {
	var d *Detector
	d.Store(newPod("blue"))
	d.Check("", nil, newPod("blue"))
	d.CheckAll()
	d.Run(t.Context(), nil)
}

func TestReportIsCalledWithoutALock(t *testing.T) {
	var d *Detector
	var l log
	pod := newPod("blue")
	d = New("pods", func(m Mutation) {
		d.CheckAll()
		d.Check("", nil, pod)
		d.Store(pod)
		l.report(m)
	})
	d.Store(pod)
	pod.Spec.NodeName = "x"
	d.CheckAll()
	l.want(t, " shop/blue .spec.nodeName")
}

// forgetful is an object whose DeepCopyObject forgets its labels.
type forgetful struct{ *corev1.Pod }

func (f *forgetful) DeepCopyObject() runtime.Object {
	pod := f.Pod.DeepCopy()
	pod.Labels = nil
	return &forgetful{pod}
}

// value is an object that is not a pointer, and can't be compared.
type value struct {
	*metav1.PartialObjectMetadata
	_ []int
}

func TestUnwatchableObjects(t *testing.T) {
	var l log
	var lines []string
	logger := funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{})
	d := New("pods", l.report)
	d.logger = logger
	for range 2 {
		pod := &forgetful{newPod("blue")}
		d.Store(pod)
		d.Check("queue", nil, pod)
		pod.Spec.NodeName = "x"
		d.Check("queue", nil, pod)
	}
	if len(lines) != 1 || !strings.Contains(lines[0], `"type"="*mutation.forgetful"`) || !strings.Contains(lines[0], `"path"=".metadata.labels"`) {
		t.Errorf("logged %q, want one line about the type and the labels", lines)
	}
	v := value{PartialObjectMetadata: &metav1.PartialObjectMetadata{}}
	d.Store(v)
	d.Check("queue", v, v)
	d.CheckAll()
	l.want(t)
}

// cache holds the current objects, for Run.
type cache struct {
	mu      sync.Mutex // guards the rest
	objects []object.Object
	slow    time.Duration // for each object
}

// set calls mutate, unless nil, and replaces the cache's objects. For the race detector, the lock
// orders these writes before later passes.
func (c *cache) set(mutate func(), objects ...object.Object) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if mutate != nil {
		mutate()
	}
	c.objects = objects
}

func (c *cache) current() iter.Seq[object.Object] {
	c.mu.Lock()
	defer c.mu.Unlock()
	objects, slow := c.objects, c.slow
	return func(yield func(object.Object) bool) {
		for _, obj := range objects {
			time.Sleep(slow)
			if !yield(obj) {
				return
			}
		}
	}
}

func TestRunFindsMutationsOutsideOfCallbacks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l log
		var lines []string
		logger := funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{})
		ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logger))
		d, silent := New("pods", l.report), New("pods", nil)
		a, b := newPod("a"), newUnstructured("b")
		c := cache{objects: []object.Object{a, b}}
		var wg sync.WaitGroup
		for _, d := range []*Detector{d, silent} {
			d.Store(a)
			d.Store(b)
			wg.Go(func() { d.Run(ctx, c.current) })
		}
		synctest.Wait()
		l.want(t)

		c.set(func() { b.SetLabels(nil) }, a, b)
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		l.want(t, " shop/b .metadata.labels")
		time.Sleep(time.Minute)
		synctest.Wait()
		l.want(t)
		if len(lines) != 1 || !strings.Contains(lines[0], `"key"={"Namespace":"shop","Name":"b"}`) && !strings.Contains(lines[0], `"key"="shop/b"`) {
			t.Errorf("logged %q, want one line about shop/b", lines)
		}
		cancel()
		wg.Wait()
	})
}

func TestRemovedObjectsAreComparedOnceMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l log
		ctx, cancel := context.WithCancel(t.Context())
		d := New("pods", l.report)
		var c cache
		var wg sync.WaitGroup
		wg.Go(func() { d.Run(ctx, c.current) })
		for round := range 10 {
			pods := []object.Object{newPod("a"), newPod("b")}
			for _, pod := range pods {
				d.Store(pod)
			}
			c.set(nil, pods...)
			time.Sleep(2100 * time.Millisecond)
			synctest.Wait()
			c.set(func() { pods[1].(*corev1.Pod).Spec.NodeName = fmt.Sprint(round) })
			time.Sleep(3100 * time.Millisecond)
			synctest.Wait()
			l.want(t, " shop/b .spec.nodeName")
			if n := len(d.objects); n != 0 {
				t.Fatalf("%d removed objects are still watched", n)
			}
		}

		// An object in a callback is watched, even if it is not in the cache.
		pod := newPod("c")
		d.Check("", nil, pod)
		pod.Spec.NodeName = "x"
		d.Check("queue", nil, pod)
		l.want(t, "queue shop/c .spec.nodeName")
		cancel()
		wg.Wait()
	})
}

func TestRunPausesAndStopsInTheMiddleOfAPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		d := New("pods", nil)
		c := cache{slow: time.Millisecond} // each comparison takes that long
		for n := range 1000 {
			c.objects = append(c.objects, newPod(fmt.Sprint(n)))
		}
		var ended time.Time
		var wg sync.WaitGroup
		start := time.Now()
		wg.Go(func() {
			d.Run(ctx, c.current)
			ended = time.Now()
		})
		time.Sleep(time.Second)
		synctest.Wait()
		if n := len(d.all()); n != 100 {
			t.Errorf("%d objects compared in the first second, want 100, a tenth of the time", n)
		}
		cancel()
		wg.Wait()
		if took := ended.Sub(start); took > time.Second+workTime {
			t.Errorf("Run has returned %v after the cancellation, want at most %v", took-time.Second, workTime)
		}
	})
}

func TestConcurrentUseReportsNothing(t *testing.T) {
	var l log
	d := New("pods", l.report)
	ctx, cancel := context.WithCancel(t.Context())
	var c cache
	var watchers, users sync.WaitGroup
	watchers.Go(func() { d.Run(ctx, c.current) })
	for n := range 4 {
		users.Go(func() {
			for i := range 50 {
				old, pod := newPod(fmt.Sprint(n)), newPod(fmt.Sprint(n))
				d.Store(old)
				d.Store(pod)
				c.set(nil, old, pod)
				d.Check("", old, pod)
				_, _ = pod.Marshal()
				d.Check("queue", old, pod)
				if i%10 == 0 {
					d.CheckAll()
				}
			}
		})
	}
	users.Wait()
	cancel()
	watchers.Wait()
	l.want(t)
}

func TestConcurrentChecksReportAMutationOnce(t *testing.T) {
	var l log
	d := New("pods", l.report)
	pod := newPod("blue")
	d.Store(pod)
	pod.Spec.NodeName = "x"
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { d.Check("queue", nil, pod) })
	}
	wg.Wait()
	l.want(t, "queue shop/blue .spec.nodeName")
}
