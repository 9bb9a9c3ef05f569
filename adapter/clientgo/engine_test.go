// SPDX-License-Identifier: Apache-2.0

package clientgo_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

var podResource = informertest.PodResource

// listWithoutFirst drops the first object of each list. It does not support watch-lists.
type listWithoutFirst struct{ *cache.ListWatch }

func (listWithoutFirst) IsWatchListSemanticsUnSupported() bool { return true }

func (d listWithoutFirst) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	list, err := d.ListWatch.ListWithContext(ctx, options)
	if pods, ok := list.(*corev1.PodList); ok && len(pods.Items) > 0 {
		pods.Items = pods.Items[1:]
	}
	return list, err
}

// listWithChanges changes each listed object. It does not support watch-lists.
type listWithChanges struct {
	*cache.ListWatch
	change func(*corev1.Pod)
}

func (listWithChanges) IsWatchListSemanticsUnSupported() bool { return true }

func (c listWithChanges) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	list, err := c.ListWatch.ListWithContext(ctx, options)
	if pods, ok := list.(*corev1.PodList); ok {
		for i := range pods.Items {
			c.change(&pods.Items[i])
		}
	}
	return list, err
}

// TestKindOfTypedObjects: client-go's decoders remove kind and apiVersion from typed objects.
// Objects of an Engine have both.
func TestKindOfTypedObjects(t *testing.T) {
	onThese(t, []engine{engines[0], engines[2]}, func(w *world) {
		var kinds []string
		note := func(obj any) {
			kinds = append(kinds, strings.Join([]string{obj.(*corev1.Pod).APIVersion, obj.(*corev1.Pod).Kind}, "/"))
		}
		w.handle(cache.ResourceEventHandlerFuncs{
			AddFunc: note, UpdateFunc: func(_, obj any) { note(obj) }, DeleteFunc: note,
		})
		w.create("a")
		w.run()
		w.pods.Update(pod("a", on("n1")))
		w.pods.Delete("shop", "a")
		synctest.Wait()
		want := "/"
		if w.ours {
			want = "v1/Pod"
		}
		if !slices.Equal(kinds, []string{want, want, want}) {
			w.Errorf("the handler got the kinds %q, want %q", kinds, want)
		}
	})
}

// TestEngineReadsTheSame: an Engine's informer lists the ListerWatcher's objects. It sends its own
// requests, with another user agent than client-go's, or calls the ListerWatcher.
func TestEngineReadsTheSame(t *testing.T) {
	tweaked := func(tweak func(*metav1.ListOptions)) func(*testing.T, *rest.Config) (cache.ListerWatcher, runtime.Object) {
		return func(t *testing.T, config *rest.Config) (cache.ListerWatcher, runtime.Object) {
			return cache.NewFilteredListWatchFromClient(restClient(t, config), "pods", "shop", tweak), &corev1.Pod{}
		}
	}
	changed := func(change func(*corev1.Pod)) func(*testing.T, *rest.Config) (cache.ListerWatcher, runtime.Object) {
		return func(t *testing.T, config *rest.Config) (cache.ListerWatcher, runtime.Object) {
			return listWithChanges{cache.NewListWatchFromClient(restClient(t, config), "pods", "shop", fields.Everything()), change}, &corev1.Pod{}
		}
	}
	kind := schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	for name, test := range map[string]struct {
		make      func(*testing.T, *rest.Config) (cache.ListerWatcher, runtime.Object)
		captured  bool
		path      string // of the requests, with selectors
		wantNames []string
	}{
		"all": {func(t *testing.T, config *rest.Config) (cache.ListerWatcher, runtime.Object) {
			return cache.NewListWatchFromClient(restClient(t, config), "pods", "", fields.Everything()), &corev1.Pod{}
		}, true, "/api/v1/pods?", []string{"a", "b", "c"}},
		"a namespace": {tweaked(func(*metav1.ListOptions) {}), true, "/api/v1/namespaces/shop/pods?", []string{"a", "b"}},
		"selectors": {tweaked(func(o *metav1.ListOptions) {
			o.LabelSelector, o.FieldSelector = "tier=web", "metadata.name!=b"
		}), true, "fieldSelector=metadata.name%21%3Db&labelSelector=tier%3Dweb", []string{"a"}},
		"unstructured objects": {func(t *testing.T, config *rest.Config) (cache.ListerWatcher, runtime.Object) {
			client, err := dynamic.NewForConfig(config)
			if err != nil {
				t.Fatal(err)
			}
			example := &unstructured.Unstructured{}
			example.SetGroupVersionKind(kind)
			return &cache.ListWatch{
				ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
					return client.Resource(podResource).List(ctx, options)
				},
				WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
					return client.Resource(podResource).Watch(ctx, options)
				},
			}, example
		}, true, "/api/v1/pods?", []string{"a", "b", "c"}},
		"metadata": {func(t *testing.T, config *rest.Config) (cache.ListerWatcher, runtime.Object) {
			client, err := metadata.NewForConfig(config)
			if err != nil {
				t.Fatal(err)
			}
			example := &metav1.PartialObjectMetadata{}
			example.SetGroupVersionKind(kind)
			return &cache.ListWatch{
				ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
					return client.Resource(podResource).Namespace("bank").List(ctx, options)
				},
				WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
					return client.Resource(podResource).Namespace("bank").Watch(ctx, options)
				},
			}, example
		}, true, "/api/v1/namespaces/bank/pods?", []string{"c"}},
		"a limit":   {tweaked(func(o *metav1.ListOptions) { o.Limit = 7 }), false, "limit=7", []string{"a", "b"}},
		"a timeout": {tweaked(func(o *metav1.ListOptions) { s := int64(9); o.TimeoutSeconds = &s }), false, "timeoutSeconds=9", []string{"a", "b"}},
		"another client": {func(t *testing.T, config *rest.Config) (cache.ListerWatcher, runtime.Object) {
			uncaptured := *config
			uncaptured.WrapTransport = nil
			return cache.NewListWatchFromClient(restClient(t, &uncaptured), "pods", "shop", fields.Everything()), &corev1.Pod{}
		}, false, "/api/v1/namespaces/shop/pods?", []string{"a", "b"}},
		"changed lists": {func(t *testing.T, config *rest.Config) (cache.ListerWatcher, runtime.Object) {
			lw := cache.NewListWatchFromClient(restClient(t, config), "pods", "shop", fields.Everything())
			return listWithoutFirst{lw}, &corev1.Pod{}
		}, false, "/api/v1/namespaces/shop/pods?", []string{"b"}},
		"changed objects":     {changed(func(p *corev1.Pod) { p.Spec.NodeName = "hidden" }), false, "/api/v1/namespaces/shop/pods?", []string{"a", "b"}},
		"changed labels":      {changed(func(p *corev1.Pod) { p.Labels = map[string]string{"a": "b"} }), false, "/api/v1/namespaces/shop/pods?", []string{"a", "b"}},
		"removed annotations": {changed(func(p *corev1.Pod) { p.Annotations = nil }), false, "/api/v1/namespaces/shop/pods?", []string{"a", "b"}},
		"removed managers":    {changed(func(p *corev1.Pod) { p.ManagedFields = nil }), false, "/api/v1/namespaces/shop/pods?", []string{"a", "b"}},
		"unchanged objects":   {changed(func(*corev1.Pod) {}), true, "/api/v1/namespaces/shop/pods?", []string{"a", "b"}},
		"no example": {func(t *testing.T, config *rest.Config) (cache.ListerWatcher, runtime.Object) {
			return cache.NewListWatchFromClient(restClient(t, config), "pods", "shop", fields.Everything()), nil
		}, false, "/api/v1/namespaces/shop/pods?", []string{"a", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newServer(t)
				w.create("a", func(p *corev1.Pod) { p.Labels = map[string]string{"tier": "web"} })
				w.create("b", func(p *corev1.Pod) { p.Labels = map[string]string{"tier": "web"} })
				w.create("c", func(p *corev1.Pod) { p.Namespace = "bank" })
				config := w.server.Config()
				engine := newEngine(t, config)
				config.UserAgent = "client-go"
				lw, example := test.make(t, config)
				w.informer = engine.NewInformer(lw, example, 0, nil)
				if sent := len(w.server.Requests()); test.captured && sent != 0 {
					t.Errorf("NewInformer sent %d requests, want none", sent)
				}
				before := len(w.server.Requests())
				w.run()
				w.wantNames(test.wantNames...)
				for _, r := range w.server.Requests()[before:] {
					if own := r.UserAgent != "client-go"; own != test.captured || !strings.Contains(r.String(), test.path) {
						t.Errorf("the request %s has the user agent %s", r, r.UserAgent)
					}
				}
				w.pods.Delete("bank", "c")
				synctest.Wait()
			})
		})
	}
}

// TestEngineWithHangingServer: a client that is not captured sends the list to its server.
// NewInformer does not wait forever for the answer.
func TestEngineWithHangingServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := newEngine(t, sourcetest.New().Config())
		begin := time.Now()
		w := &world{T: t, informer: engine.NewInformer(&cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			},
			WatchFuncWithContext: func(ctx context.Context, _ metav1.ListOptions) (watch.Interface, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			},
		}, &corev1.Pod{}, 0, nil)}
		if took := time.Since(begin); took > time.Minute {
			t.Errorf("NewInformer took %v, want a minute at most", took)
		}
		w.run()()
	})
}
