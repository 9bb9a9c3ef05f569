// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	crcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/informer-gen/informer-gen/bench/data"
	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/server"
	"github.com/informer-gen/informer-gen/runtime/lister"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// criterion is an index of Pods. Its function is the same for all sides.
type criterion struct {
	name string
	keys func(pod *corev1.Pod, keys []string) []string
}

// criteria are typical indexes, in the order in which benchmarks use them.
var criteria = []criterion{
	{"node", func(pod *corev1.Pod, keys []string) []string { return append(keys, pod.Spec.NodeName) }},
	{"owner", func(pod *corev1.Pod, keys []string) []string {
		for i := range pod.OwnerReferences {
			keys = append(keys, string(pod.OwnerReferences[i].UID))
		}
		return keys
	}},
	{"image", func(pod *corev1.Pod, keys []string) []string {
		for i := range pod.Spec.Containers {
			keys = append(keys, pod.Spec.Containers[i].Image)
		}
		return keys
	}},
	{"account", func(pod *corev1.Pod, keys []string) []string { return append(keys, pod.Spec.ServiceAccountName) }},
	{"phase", func(pod *corev1.Pod, keys []string) []string { return append(keys, string(pod.Status.Phase)) }},
}

// unique has a key for each Pod.
var unique = criterion{"uid", func(pod *corev1.Pod, keys []string) []string { return append(keys, string(pod.UID)) }}

// ourStore is our Store, and a lister over it in the form in which they are generated.
type ourStore struct {
	store   *store.Store[*corev1.Pod]
	pods    podLister
	indexes map[string]*store.Index[*corev1.Pod, string]
}

func newOurStore(criteria ...criterion) (*ourStore, error) {
	o := &ourStore{indexes: map[string]*store.Index[*corev1.Pod, string]{}}
	var all []store.AnyIndex[*corev1.Pod]
	for _, f := range criteria {
		index := store.NewIndex(f.name, f.keys)
		o.indexes[f.name] = index
		all = append(all, index)
	}
	var err error
	o.store, err = store.New(all...)
	o.pods = newPodLister(o.store)
	return o, err
}

func (o *ourStore) set(pod *corev1.Pod) error {
	return o.store.Update(func(x *store.Txn[*corev1.Pod]) error { return x.Set(pod) })
}

func (o *ourStore) setAll(pods []*corev1.Pod) error {
	return o.store.Update(func(x *store.Txn[*corev1.Pod]) error {
		for _, pod := range pods {
			if err := x.Set(pod); err != nil {
				return err
			}
		}
		return nil
	})
}

// podLister is the lister that informer-gen generates for Pods, as far as it is used here.
type podLister interface {
	lister.Lister[*corev1.Pod]
	Pods(namespace string) lister.NamespaceLister[*corev1.Pod]
}

type resourcePodLister struct{ lister.Resource[*corev1.Pod] }

func newPodLister(reader store.Reader[*corev1.Pod]) podLister {
	return &resourcePodLister{*lister.New(reader, data.Pods.Resource.GroupResource())}
}

// Pods implements podLister.
func (l *resourcePodLister) Pods(namespace string) lister.NamespaceLister[*corev1.Pod] {
	return l.Namespace(namespace)
}

// clientGoStore is the store of client-go's informers, and its Pod lister.
type clientGoStore struct {
	indexer cache.Indexer
	pods    corelisters.PodLister
}

// newClientGoStore makes a store with an index for each criterion, with functions as one writes
// them by hand.
func newClientGoStore(byNamespace bool, criteria ...criterion) *clientGoStore {
	indexers := cache.Indexers{}
	if byNamespace {
		indexers[cache.NamespaceIndex] = cache.MetaNamespaceIndexFunc
	}
	for _, f := range criteria {
		indexers[f.name] = func(obj any) ([]string, error) { return f.keys(obj.(*corev1.Pod), nil), nil }
	}
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, indexers)
	return &clientGoStore{indexer, corelisters.NewPodLister(indexer)}
}

func (c *clientGoStore) set(pod *corev1.Pod) error { return c.indexer.Update(pod) }

// controllerRuntimeStore is client-go's store as controller-runtime's cache makes it, whose
// IndexField gives two keys for each value: in the Pod's namespace, and in all.
type controllerRuntimeStore struct {
	clientGoStore
	cache crcache.Cache
}

func newControllerRuntimeStore(criteria ...criterion) (*controllerRuntimeStore, error) {
	log.SetLogger(logr.Discard())
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Pod"), meta.RESTScopeNamespace)
	var c controllerRuntimeStore
	var err error
	c.cache, err = crcache.New(&rest.Config{Host: "http://pods.invalid"}, crcache.Options{
		Scheme: scheme, Mapper: mapper, HTTPClient: http.DefaultClient,
		NewInformer: func(_ cache.ListerWatcher, obj runtime.Object, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
			lw, _ := server.NewProducer(nil, 0).ListerWatcher() // has no error
			informer := cache.NewSharedIndexInformer(lw, obj, resync, indexers)
			c.indexer = informer.GetIndexer()
			return informer
		},
	})
	if err != nil {
		return nil, fmt.Errorf("making controller-runtime's cache: %w", err)
	}
	ctx := context.Background()
	if _, err := c.cache.GetInformer(ctx, &corev1.Pod{}, crcache.BlockUntilSynced(false)); err != nil {
		return nil, fmt.Errorf("controller-runtime's informer: %w", err)
	}
	for _, f := range criteria {
		keys := func(obj client.Object) []string { return f.keys(obj.(*corev1.Pod), nil) }
		if err := c.cache.IndexField(ctx, &corev1.Pod{}, f.name, keys); err != nil {
			return nil, fmt.Errorf("controller-runtime's index by %s: %w", f.name, err)
		}
	}
	c.pods = corelisters.NewPodLister(c.indexer)
	return &c, nil
}

// startControllerRuntime makes a store and starts its cache. Objects are put into the store
// directly; its informer gets none.
func startControllerRuntime(indexed ...criterion) (_ *controllerRuntimeStore, stop func() error, err error) {
	c, err := newControllerRuntimeStore(indexed...)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- c.cache.Start(ctx) }()
	stop = func() error {
		cancel()
		return <-ended
	}
	if !c.cache.WaitForCacheSync(ctx) {
		return nil, nil, errors.Join(errors.New("controller-runtime's cache does not sync"), stop())
	}
	return c, stop, nil
}

// everything is the selector for all objects.
var everything = labels.Everything()

// bareMap is a map from keys to Pods, the lower bound for a store.
type bareMap map[object.Key]*corev1.Pod

func (m bareMap) set(pod *corev1.Pod) error {
	m[object.Key{Namespace: pod.Namespace, Name: pod.Name}] = pod
	return nil
}

const goMap harness.Side = "a bare Go map"

// setter is a store that objects are put into one by one.
type setter interface{ set(*corev1.Pod) error }

func setEach(s setter, pods []*corev1.Pod) error {
	var failed error
	for _, pod := range pods {
		if err := s.set(pod); err != nil {
			failed = err
		}
	}
	return failed
}

// criterionNames is for titles.
func criterionNames(criteria []criterion) string {
	var names []string
	for _, f := range criteria {
		names = append(names, f.name)
	}
	return strings.Join(names, ", ")
}
