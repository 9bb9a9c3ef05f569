// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/gentype"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-gen/informer-gen/runtime/source"
)

// remote is a collection that is read from the server process: by our HTTP source, and by a typed
// client made of the parts that generated clientsets are made of, wired as generated informers wire
// it.
type remote[T thing, L runtime.Object] struct {
	from
	kind  kind
	empty func() T
	list  func() L
}

// from is where collections are read, and how.
type from struct {
	server string // with the part of the path before /api or /apis
	// protobuf asks for it, as both sides do for built-in kinds by default. Else both ask for JSON.
	protobuf bool
	// byList asks for lists, not for watch-lists.
	byList bool
	// strip makes ours drop managedFields. (client-go's informers get a transform.)
	strip bool
	// around wraps the transport, if it isn't nil.
	around func(http.RoundTripper) http.RoundTripper
}

func (w remote[T, L]) config() *rest.Config {
	c := &rest.Config{
		Host:          w.server,
		WrapTransport: w.around,
		QPS:           -1, // no client-side throttling
	}
	if w.protobuf {
		c.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
		c.ContentType = runtime.ContentTypeProtobuf
	} else {
		c.AcceptContentTypes, c.ContentType = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	}
	return c
}

func (w remote[T, L]) example() T { return w.empty() }

func (w remote[T, L]) source() (source.Source[T], error) {
	client, err := source.NewClient(w.config())
	if err != nil {
		return nil, err
	}
	opts := source.Options{Kind: w.kind.name, DropManagedFields: w.strip}
	if !w.protobuf {
		opts.Formats = []source.Format{source.JSON}
	}
	return source.New[T](client, w.kind.resource, opts)
}

func (w remote[T, L]) listerWatcher() (cache.ListerWatcher, error) {
	c := w.config()
	gv := w.kind.resource.GroupVersion()
	c.GroupVersion, c.APIPath = &gv, w.kind.apiPath()
	c.NegotiatedSerializer = rest.CodecFactoryForGeneratedClient(scheme, codecs).WithoutConversion()
	restClient, err := rest.RESTClientFor(c)
	if err != nil {
		return nil, fmt.Errorf("making client-go's client: %w", err)
	}
	var opts []gentype.Option[T]
	if w.protobuf {
		opts = append(opts, gentype.PrefersProtobuf[T]())
	}
	client := gentype.NewClientWithList[T, L](w.kind.resource.Resource, restClient, parameters, metav1.NamespaceAll, w.empty, w.list, opts...)
	var semantics any = restClient
	if w.byList {
		semantics = noWatchList{}
	}
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			return client.List(ctx, opts)
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			return client.Watch(ctx, opts)
		},
	}, semantics), nil
}

var (
	codecs     = serializer.NewCodecFactory(scheme)
	parameters = runtime.NewParameterCodec(scheme)
)
