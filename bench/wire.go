// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-gen/informer-gen/runtime/source"
)

// wire is a collection that is read from a podServer: by our HTTP source, and by the typed core/v1 client wired as
// client-go's generated Pod informer wires it. Both ask for JSON.
type wire struct {
	server *podServer
	list   bool // not by watch-list
}

func (w wire) config() *rest.Config {
	return &rest.Config{
		Host:          "http://pods.invalid",
		Transport:     w.server,
		ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeJSON, AcceptContentTypes: runtime.ContentTypeJSON},
		QPS:           -1, // no client-side throttling
	}
}

func (w wire) source() (source.Source[*corev1.Pod], error) {
	client, err := source.NewClient(w.config())
	if err != nil {
		return nil, err
	}
	return source.New[*corev1.Pod](client, podsResource, source.Options{Formats: []source.Format{source.JSON}})
}

func (w wire) listerWatcher() (cache.ListerWatcher, error) {
	client, err := typedcorev1.NewForConfig(w.config())
	if err != nil {
		return nil, fmt.Errorf("making client-go's client: %w", err)
	}
	var semantics any = client
	if w.list {
		semantics = noWatchList{}
	}
	pods := client.Pods(metav1.NamespaceAll)
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			return pods.List(ctx, opts)
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			return pods.Watch(ctx, opts)
		},
	}, semantics), nil
}
