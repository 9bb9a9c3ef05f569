// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/gentype"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/informer-gen/informer-gen/bench/data"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// Remote is a collection read from the server process: by our HTTP source, and by a typed client
// made of the parts of generated clientsets, wired as generated informers wire it.
type Remote[T Object, L runtime.Object] struct {
	From
	Kind  data.Kind
	Empty func() T
	List  func() L
}

// From tells where and how to read collections.
type From struct {
	Server string // including the part of the path before /api or /apis
	// Protobuf asks for it, as both sides do for built-in kinds by default. Otherwise both ask for
	// JSON.
	Protobuf bool
	// ByList asks for lists, not for watch-lists.
	ByList bool
	// Strip makes ours drop managedFields. (client-go's informers get a transform.)
	Strip bool
	// Around wraps the transport, if not nil.
	Around func(http.RoundTripper) http.RoundTripper
}

// Config returns the configuration of clients.
func (f From) Config() *rest.Config {
	c := &rest.Config{
		Host:          f.Server,
		WrapTransport: f.Around,
		QPS:           -1, // no client-side throttling
	}
	if f.Protobuf {
		c.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
		c.ContentType = runtime.ContentTypeProtobuf
	} else {
		c.AcceptContentTypes, c.ContentType = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	}
	return c
}

// Example implements [Collection].
func (w Remote[T, L]) Example() T { return w.Empty() }

// Source implements [Collection].
func (w Remote[T, L]) Source() (source.Source[T], error) {
	client, err := source.NewClient(w.Config())
	if err != nil {
		return nil, err
	}
	opts := source.Options{Kind: w.Kind.Name, DropManagedFields: w.Strip}
	if !w.Protobuf {
		opts.Formats = []source.Format{source.JSON}
	}
	return source.New[T](client, w.Kind.Resource, opts)
}

// ListerWatcher implements [Collection].
func (w Remote[T, L]) ListerWatcher() (cache.ListerWatcher, error) {
	c := w.Config()
	gv := w.Kind.Resource.GroupVersion()
	c.GroupVersion, c.APIPath = &gv, w.Kind.APIPath()
	c.NegotiatedSerializer = rest.CodecFactoryForGeneratedClient(data.Scheme, Codecs).WithoutConversion()
	restClient, err := rest.RESTClientFor(c)
	if err != nil {
		return nil, fmt.Errorf("making client-go's client: %w", err)
	}
	var opts []gentype.Option[T]
	if w.Protobuf {
		opts = append(opts, gentype.PrefersProtobuf[T]())
	}
	client := gentype.NewClientWithList[T, L](w.Kind.Resource.Resource, restClient, parameters, metav1.NamespaceAll, w.Empty, w.List, opts...)
	var semantics any = restClient
	if w.ByList {
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

// PodRemote reads the server's Pods.
func PodRemote(f From) Remote[*corev1.Pod, *corev1.PodList] {
	return Remote[*corev1.Pod, *corev1.PodList]{
		From: f, Kind: data.Pods,
		Empty: func() *corev1.Pod { return &corev1.Pod{} }, List: func() *corev1.PodList { return &corev1.PodList{} },
	}
}

// CertificateRemote reads the server's Certificates.
func CertificateRemote(f From) Remote[*data.Certificate, *data.CertificateList] {
	return Remote[*data.Certificate, *data.CertificateList]{
		From: f, Kind: data.Certificates,
		Empty: func() *data.Certificate { return &data.Certificate{} }, List: func() *data.CertificateList { return &data.CertificateList{} },
	}
}

// RouteRemote reads the server's HTTPRoutes.
func RouteRemote(f From) Remote[*gatewayv1.HTTPRoute, *gatewayv1.HTTPRouteList] {
	return Remote[*gatewayv1.HTTPRoute, *gatewayv1.HTTPRouteList]{
		From: f, Kind: data.Routes,
		Empty: func() *gatewayv1.HTTPRoute { return &gatewayv1.HTTPRoute{} },
		List:  func() *gatewayv1.HTTPRouteList { return &gatewayv1.HTTPRouteList{} },
	}
}

// Codecs belong to the typed clients, and parameters encodes their options.
var (
	Codecs     = serializer.NewCodecFactory(data.Scheme)
	parameters = runtime.NewParameterCodec(data.Scheme)
)
