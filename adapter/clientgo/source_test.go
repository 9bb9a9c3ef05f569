// SPDX-License-Identifier: Apache-2.0

package clientgo_test

import (
	"context"
	"errors"
	"io"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/features"
	featurestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	clientcachetesting "k8s.io/client-go/tools/cache/testing"

	"github.com/informer-gen/informer-gen/adapter/clientgo"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// TestFakeClientset: the objects of its tracker have no resourceVersions.
func TestFakeClientset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tracker := clienttesting.NewObjectTracker(scheme.Scheme, scheme.Codecs.UniversalDecoder())
		if err := tracker.Add(pod("a")); err != nil {
			t.Fatal(err)
		}
		w := &world{T: t}
		w.informer = clientgo.NewInformer(fakePods{&cache.ListWatch{
			ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
				return tracker.List(podResource, corev1.SchemeGroupVersion.WithKind("Pod"), "shop")
			},
			WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
				return tracker.Watch(podResource, "shop")
			},
		}}, &corev1.Pod{}, 0, nil)
		j := w.add()
		failures := w.failures()
		w.run()
		w.wantLines(j, "add a initial")
		for _, err := range []error{
			tracker.Create(podResource, pod("b"), "shop"),
			tracker.Update(podResource, pod("a", on("n1")), "shop"),
			tracker.Delete(podResource, "shop", "b"),
		} {
			if err != nil {
				t.Error(err)
			}
		}
		w.wantLines(j, "add b", "same a", "delete b") // "same": the version of a stays ""
		obj, ok, err := w.informer.GetStore().GetByKey("shop/a")
		if err != nil || !ok || obj.(*corev1.Pod).Spec.NodeName != "n1" {
			t.Errorf("GetByKey = %v, %v, %v", obj, ok, err)
		}
		if got := failures(); len(got) != 0 {
			t.Error(got)
		}
	})
}

// TestFakeWatchList: if a watch-list fails with an error of neither an API server nor a connection,
// a list replaces it at once, and the error handler is not called.
func TestFakeWatchList(t *testing.T) {
	onThese(t, engines[:2], func(w *world) {
		fake := clientcachetesting.NewFakeControllerSource()
		defer fake.Broadcaster.Shutdown()
		fake.Add(pod("a"))
		w.informer = w.construct(fake, &corev1.Pod{}, 0, nil)
		j, failures := w.add(), w.failures()
		stop := w.run()
		w.wantLines(j, "add a initial")
		if got := failures(); len(got) != 0 {
			w.Errorf("errors %v", got)
		}
		fake.Add(pod("b"))
		w.wantLines(j, "add b")
		stop()
	})
}

// TestWatchListIsRetried: a watch-list is retried after a backoff if its connection failed, or if
// the ListerWatcher has completed a watch-list before.
func TestWatchListIsRetried(t *testing.T) {
	// The gate is off by default before client-go v0.35.
	featurestesting.SetFeatureDuringTest(t, features.WatchListClient, true)
	for name, test := range map[string]struct {
		err    error
		before bool // a watch-list was completed before
	}{
		"the connection is refused": {&url.Error{Op: "Get", URL: "http://none.invalid", Err: syscall.ECONNREFUSED}, false},
		"it was cut off":            {io.ErrUnexpectedEOF, false},
		"it has worked":             {errors.New("odd"), true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ready := watch.NewFakeWithChanSize(1, false)
				ready.Action(watch.Bookmark, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
					ResourceVersion: "1", Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"},
				}})
				src := clientgo.NewSource(&cache.ListWatch{WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
					if test.before {
						test.before = false
						return ready, nil
					}
					return nil, test.err
				}})
				open := func() error {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					return src.Watch(ctx, source.WatchOptions{SendInitialEvents: true}, nil, func(source.Event[object.Object]) error { cancel(); return nil })
				}
				if test.before {
					if err := open(); err != context.Canceled {
						t.Fatal(err)
					}
				}
				if err := open(); !errors.Is(err, test.err) || reason.Of(err) != reason.Unreachable {
					t.Errorf("the watch-list failed with %v (%v), want %v", err, reason.Of(err), test.err)
				}
			})
		})
	}
}

// fakePods refuses watch-lists, like fakes since client-go v0.35.
type fakePods struct{ *cache.ListWatch }

func (fakePods) IsWatchListSemanticsUnSupported() bool { return true }

// TestFilteredWatch: the goroutine of a watch.Filter ends only if the watch is read to its end. The
// bubble finds a leaked goroutine.
func TestFilteredWatch(t *testing.T) {
	onEach(t, func(w *world) {
		if !w.ours {
			w.Skip("client-go leaves it blocked")
		}
		lw := w.lw.(*cache.ListWatch)
		hold := make(chan struct{})
		w.informer = clientgo.NewInformer(&cache.ListWatch{
			ListWithContextFunc: lw.ListWithContextFunc,
			WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
				in, err := lw.WatchFuncWithContext(ctx, options)
				if err != nil {
					return nil, err
				}
				return watch.Filter(in, func(e watch.Event) (watch.Event, bool) {
					if nameIn(e.Object) == "held" {
						<-hold
					}
					return e, true
				}), nil
			},
		}, &corev1.Pod{}, 0, nil)
		stop := w.run()
		w.create("held")
		synctest.Wait()
		go close(hold)
		stop()
	})
}

// TestObjectsOfAnotherType: a watch drops them, and delivers later events.
func TestObjectsOfAnotherType(t *testing.T) {
	widget := func(kind string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{}
		u.SetAPIVersion("example.com/v1")
		u.SetKind(kind)
		return u
	}
	for name, test := range map[string]struct {
		example runtime.Object
		want    []string
	}{
		"typed":          {&corev1.Pod{}, []string{"add pod"}},
		"a kind":         {widget("Widget"), []string{"add widget"}},
		"unstructured":   {&unstructured.Unstructured{}, []string{"add widget", "add gadget"}},
		"without a type": {nil, []string{"add config", "add widget", "add gadget", "add pod"}},
	} {
		t.Run(name, func(t *testing.T) {
			onThese(t, engines[:2], func(w *world) { // the third decodes only one type
				events := watch.NewFake()
				w.informer = w.construct(fakePods{&cache.ListWatch{
					ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
						return &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}, nil
					},
					WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return events, nil },
				}}, test.example, 0, nil)
				j := w.add()
				w.run()
				for i, obj := range []object.Object{&corev1.ConfigMap{}, widget("Widget"), widget("Gadget"), &corev1.Pod{}} {
					obj.SetName([]string{"config", "widget", "gadget", "pod"}[i])
					obj.SetResourceVersion(strconv.Itoa(10 + i))
					events.Add(obj)
				}
				w.wantLines(j, test.want...)
			})
		})
	}
}

func TestSourceFails(t *testing.T) {
	notList := func(context.Context, metav1.ListOptions) (runtime.Object, error) { return &corev1.Pod{}, nil }
	notObjects := func(context.Context, metav1.ListOptions) (runtime.Object, error) {
		return &metav1.List{Items: []runtime.RawExtension{{Object: &metav1.Status{}}}}, nil
	}
	watches := func(events ...watch.Event) func(context.Context, metav1.ListOptions) (watch.Interface, error) {
		return func(context.Context, metav1.ListOptions) (watch.Interface, error) {
			w := watch.NewFakeWithChanSize(len(events), false)
			for _, e := range events {
				w.Action(e.Type, e.Object)
			}
			return w, nil
		}
	}
	gone := metav1.Status{Status: metav1.StatusFailure, Code: 410, Reason: metav1.StatusReasonExpired, Message: "too old"}
	for name, test := range map[string]struct {
		lw          cache.ListerWatcher
		list, watch string
	}{
		"nothing":        {nil, "the ListerWatcher is nil", "the ListerWatcher is nil"},
		"no list":        {&cache.ListWatch{ListWithContextFunc: notList, WatchFuncWithContext: watches(watch.Event{Type: "FUN"})}, "*v1.Pod, which is no list", `type "FUN"`},
		"no API objects": {&cache.ListWatch{ListWithContextFunc: notObjects, WatchFuncWithContext: watches(watch.Event{Type: watch.Added, Object: &metav1.Status{}})}, "*v1.Status, which is no object", "*v1.Status, which is no object"},
		"an error event": {&cache.ListWatch{ListWithContextFunc: notList, WatchFuncWithContext: watches(watch.Event{Type: watch.Error, Object: &gone})}, "no list", "too old"},
	} {
		t.Run(name, func(t *testing.T) {
			src := clientgo.NewSource(test.lw)
			_, err := src.List(t.Context(), source.ListOptions{}, func(object.Object) error { return nil })
			if err == nil || !strings.Contains(err.Error(), test.list) {
				t.Errorf("List: error %v, want %q", err, test.list)
			}
			err = src.Watch(t.Context(), source.WatchOptions{}, nil, func(source.Event[object.Object]) error { return nil })
			if err == nil || !strings.Contains(err.Error(), test.watch) {
				t.Errorf("Watch: error %v, want %q", err, test.watch)
			}
		})
	}
}

// TestSourceEnds: a list and a watch end with an error of the callback, and with their context.
func TestSourceEnds(t *testing.T) {
	w := newWorld(t, engines[1].make, true)
	w.create("a")
	src := clientgo.NewSource(w.lw)
	enough := errors.New("enough")
	if _, err := src.List(t.Context(), source.ListOptions{}, func(object.Object) error { return enough }); err != enough {
		t.Errorf("List with a failing callback: error %v", err)
	}
	if err := src.Watch(t.Context(), source.WatchOptions{}, nil, func(source.Event[object.Object]) error { return enough }); err != enough {
		t.Errorf("Watch with a failing callback: error %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	if err := src.Watch(ctx, source.WatchOptions{}, nil, func(source.Event[object.Object]) error { cancel(enough); return nil }); err != enough {
		t.Errorf("Watch with a done context: error %v", err)
	}
	if _, err := src.List(ctx, source.ListOptions{}, func(object.Object) error { return nil }); err != enough {
		t.Errorf("List with a done context: error %v", err)
	}
	fake := clientgo.NewSource(fakePods{w.lw.(*cache.ListWatch)})
	if err := fake.Watch(t.Context(), source.WatchOptions{SendInitialEvents: true}, nil, nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a watch-list of a fake: error %v", err)
	}
}
