// SPDX-License-Identifier: Apache-2.0

package deletion

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
)

type monitor struct {
	stop   context.CancelFunc
	synced <-chan struct{}
	seen   map[types.UID]struct{} // used by the informer's goroutine, and after its end by Run
	ended  chan struct{}
}

func (g *Garbage) monitor(ctx context.Context, resource Resource) *monitor {
	ctx, cancel := context.WithCancel(ctx)
	m := &monitor{stop: cancel, seen: map[types.UID]struct{}{}, ended: make(chan struct{})}
	informer := metadatainformer.NewFilteredMetadataInformer(g.objects, resource.GroupVersionResource, metav1.NamespaceAll, 0, cache.Indexers{}, nil).Informer()
	put := func(obj any) {
		o := obj.(*metav1.PartialObjectMetadata)
		m.seen[o.UID] = struct{}{}
		g.enqueue(g.graph.put(&object{resource, o.Namespace, o.Name, o.UID, o.OwnerReferences, o.DeletionTimestamp != nil, o.Finalizers}))
	}
	gone := func(obj any) {
		if last, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			obj = last.Obj
		}
		uid := obj.(*metav1.PartialObjectMetadata).UID
		delete(m.seen, uid)
		g.enqueue(g.graph.remove(uid))
	}
	handler := cache.ResourceEventHandlerFuncs{AddFunc: put, DeleteFunc: gone, UpdateFunc: func(old, obj any) {
		if old.(*metav1.PartialObjectMetadata).UID != obj.(*metav1.PartialObjectMetadata).UID {
			gone(old)
		}
		put(obj)
	}}
	registration, err := informer.AddEventHandler(handler)
	if err != nil { // only an informer that has ended refuses a handler
		panic(err)
	}
	m.synced = registration.HasSyncedChecker().Done()
	go func() {
		defer close(m.ended)
		informer.RunWithContext(ctx)
	}()
	return m
}
