// SPDX-License-Identifier: Apache-2.0

package main

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-gen/informer-gen/bench/data"
	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/runtime/lister"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

type criterion struct {
	name string
	keys func(pod *corev1.Pod, keys []string) []string
}

var (
	byNode  = criterion{"node", func(pod *corev1.Pod, keys []string) []string { return append(keys, pod.Spec.NodeName) }}
	byOwner = criterion{"owner", func(pod *corev1.Pod, keys []string) []string {
		for i := range pod.OwnerReferences {
			keys = append(keys, string(pod.OwnerReferences[i].UID))
		}
		return keys
	}}
	byAccount = criterion{"account", func(pod *corev1.Pod, keys []string) []string { return append(keys, pod.Spec.ServiceAccountName) }}
	byUID     = criterion{"uid", func(pod *corev1.Pod, keys []string) []string { return append(keys, string(pod.UID)) }}
)

// benchStore is a store of either side, with an index by namespace and others. Methods that read
// many objects return their number.
type benchStore interface {
	set(*corev1.Pod) error
	delete(*corev1.Pod) error
	get(namespace, name string) (*corev1.Pod, error)
	// scan reads all objects, by the cheapest public way.
	scan(func(*corev1.Pod))
	inNamespace(string) (int, error)
	selected(labels.Selector) (int, error)
	onNode(string) (int, error)
}

func newStore(s harness.Side, criteria ...criterion) (benchStore, error) {
	if s == harness.Ours {
		return newOurStore(criteria...)
	}
	return newClientGoStore(criteria...), nil
}

func filledStore(s harness.Side, n int, criteria ...criterion) (benchStore, []*corev1.Pod, error) {
	into, err := newStore(s, criteria...)
	if err != nil {
		return nil, nil, err
	}
	pods := data.SlimPods(n)
	return into, pods, setEach(into, pods)
}

func setEach(s benchStore, pods []*corev1.Pod) error {
	for _, pod := range pods {
		if err := s.set(pod); err != nil {
			return err
		}
	}
	return nil
}

type ourStore struct {
	store *store.Store[*corev1.Pod]
	pods  *lister.Resource[*corev1.Pod]
	node  *store.Index[*corev1.Pod, string]
}

func newOurStore(criteria ...criterion) (*ourStore, error) {
	o := &ourStore{}
	var all []store.AnyIndex[*corev1.Pod]
	for _, c := range criteria {
		index := store.NewIndex(c.name, c.keys)
		if c.name == byNode.name {
			o.node = index
		}
		all = append(all, index)
	}
	var err error
	o.store, err = store.New(all...)
	o.pods = lister.New(o.store, data.Pods.Resource.GroupResource())
	return o, err
}

func (o *ourStore) set(pod *corev1.Pod) error {
	return o.store.Update(func(x *store.Txn[*corev1.Pod]) error { return x.Set(pod) })
}

func (o *ourStore) delete(pod *corev1.Pod) error {
	return o.store.Update(func(x *store.Txn[*corev1.Pod]) error {
		x.Delete(object.KeyOf(pod))
		return nil
	})
}

func (o *ourStore) get(namespace, name string) (*corev1.Pod, error) {
	return o.pods.Namespace(namespace).Get(name)
}

func (o *ourStore) scan(f func(*corev1.Pod)) {
	for pod := range o.store.Snapshot().All() {
		f(pod)
	}
}

func (o *ourStore) inNamespace(namespace string) (int, error) {
	return sizeOf(o.pods.Namespace(namespace).List(labels.Everything()))
}

func (o *ourStore) selected(by labels.Selector) (int, error) { return sizeOf(o.pods.List(by)) }

func (o *ourStore) onNode(node string) (int, error) {
	return sizeOf(o.node.List(o.store.Snapshot(), node), nil)
}

type clientGoStore struct {
	indexer cache.Indexer
	pods    corelisters.PodLister
}

// newClientGoStore has index functions as written by hand.
func newClientGoStore(criteria ...criterion) *clientGoStore {
	indexers := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	for _, c := range criteria {
		indexers[c.name] = func(obj any) ([]string, error) { return c.keys(obj.(*corev1.Pod), nil), nil }
	}
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, indexers)
	return &clientGoStore{indexer, corelisters.NewPodLister(indexer)}
}

func (c *clientGoStore) set(pod *corev1.Pod) error    { return c.indexer.Update(pod) }
func (c *clientGoStore) delete(pod *corev1.Pod) error { return c.indexer.Delete(pod) }

func (c *clientGoStore) get(namespace, name string) (*corev1.Pod, error) {
	return c.pods.Pods(namespace).Get(name)
}

func (c *clientGoStore) scan(f func(*corev1.Pod)) {
	for _, obj := range c.indexer.List() {
		f(obj.(*corev1.Pod))
	}
}

func (c *clientGoStore) inNamespace(namespace string) (int, error) {
	return sizeOf(c.pods.Pods(namespace).List(labels.Everything()))
}

func (c *clientGoStore) selected(by labels.Selector) (int, error) { return sizeOf(c.pods.List(by)) }

func (c *clientGoStore) onNode(node string) (int, error) {
	return sizeOf(c.indexer.ByIndex(byNode.name, node))
}

func sizeOf[T any](objs []T, err error) (int, error) { return len(objs), err }
