// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"context"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/controller-manager/pkg/informerfactory"

	"github.com/informer-gen/informer-gen/adapter/clientgo"
)

// engine makes the informers of the controllers.
type engine struct {
	name       string
	typePrefix string // of the type of its informers
	// typed returns a factory of informers of built-in kinds.
	typed func(*rest.Config) (informers.SharedInformerFactory, error)
	// all returns a factory for any resource: with the typed informer, or else one of metadata.
	all func(informers.SharedInformerFactory, *rest.Config) (informerfactory.InformerFactory, error)
}

var engines = [2]engine{
	{
		name:       "client-go",
		typePrefix: "*cache.sharedIndexInformer",
		typed:      newFactory,
		all: func(typed informers.SharedInformerFactory, config *rest.Config) (informerfactory.InformerFactory, error) {
			client, err := metadata.NewForConfig(config)
			if err != nil {
				return nil, err
			}
			return informerfactory.NewInformerFactory(typed, metadatainformer.NewSharedInformerFactory(client, 0)), nil
		},
	},
	{
		name:       "informer-gen",
		typePrefix: "*clientgo.",
		typed: func(config *rest.Config) (informers.SharedInformerFactory, error) {
			core, apps := corev1.SchemeGroupVersion.WithResource, appsv1.SchemeGroupVersion.WithResource
			return clientgo.NewFactory(config, newFactory,
				core("pods"), core("services"), core("nodes"), core("namespaces"), core("endpoints"),
				apps("deployments"), apps("replicasets"),
				batchv1.SchemeGroupVersion.WithResource("jobs"), discoveryv1.SchemeGroupVersion.WithResource("endpointslices"))
		},
		all: func(typed informers.SharedInformerFactory, config *rest.Config) (informerfactory.InformerFactory, error) {
			config = rest.CopyConfig(config)
			engine, err := clientgo.NewEngine(config)
			if err != nil {
				return nil, err
			}
			client, err := metadata.NewForConfig(config)
			if err != nil {
				return nil, err
			}
			return &metadataFactory{typed: typed, engine: engine, client: client, informers: map[schema.GroupVersionResource]*metadataInformer{}}, nil
		},
	},
}

func newFactory(config *rest.Config) (informers.SharedInformerFactory, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return informers.NewSharedInformerFactory(client, 0), nil
}

var byNamespace = cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}

// metadataFactory is a factory of our informers for any resource: typed ones, or of metadata.
type metadataFactory struct {
	typed  informers.SharedInformerFactory
	engine *clientgo.Engine
	client metadata.Interface

	mu        sync.Mutex // guards informers
	informers map[schema.GroupVersionResource]*metadataInformer
	runs      sync.WaitGroup
}

// metadataInformer is an informer of metadata.
type metadataInformer struct {
	resource schema.GroupResource
	informer cache.SharedIndexInformer
	started  bool
}

func (o *metadataInformer) Informer() cache.SharedIndexInformer { return o.informer }

func (o *metadataInformer) Lister() cache.GenericLister {
	return cache.NewGenericLister(o.informer.GetIndexer(), o.resource)
}

func (f *metadataFactory) ForResource(resource schema.GroupVersionResource) (informers.GenericInformer, error) {
	if typed, err := f.typed.ForResource(resource); err == nil {
		return typed, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.informers[resource] == nil {
		objects := f.client.Resource(resource)
		lw := &cache.ListWatch{
			ListWithContextFunc:  func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return objects.List(ctx, o) },
			WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) { return objects.Watch(ctx, o) },
		}
		f.informers[resource] = &metadataInformer{resource: resource.GroupResource(), informer: f.engine.NewInformer(lw, &metav1.PartialObjectMetadata{}, 0, byNamespace)}
	}
	return f.informers[resource], nil
}

func (f *metadataFactory) Start(stop <-chan struct{}) {
	f.typed.Start(stop)
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, one := range f.informers {
		if !one.started {
			one.started = true
			f.runs.Go(func() { one.informer.Run(stop) })
		}
	}
}
