// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/internal/decode"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// Options restricts a collection. The zero value means all objects of the resource in all
// namespaces.
type Options struct {
	// Namespace restricts a namespaced resource to one namespace; "" means all. It must stay empty
	// for a cluster-scoped resource, whose server answers 404 otherwise.
	Namespace string
	// LabelSelector has the form of labels.Selector.String; "" selects everything.
	LabelSelector string
	// FieldSelector has the form of fields.Selector.String; "" selects everything.
	FieldSelector string
	// Kind is the objects' kind. "" means the name of the Go type, as in API packages. For types
	// that hold any kind, and for projections (see [object.NoMeta]), "" takes the kind from the
	// first list or object whose kind has the resource as its usual plural (Pod, pods). Before
	// that, and for a kind with another plural, all objects of one response must be of one kind.
	//
	// Objects carry the kind: a *metav1.PartialObjectMetadata has this kind and the resource's
	// version, or with "" PartialObjectMetadata and meta.k8s.io/v1, whatever kind the server has
	// sent.
	Kind string
	// NewObject returns a new object at each call, always of the same pointer type. Goroutines that
	// list or watch may call it at the same time. nil means zero values of the struct that T points
	// to. It is required if T is an interface, such as object.Object.
	NewObject func() object.Object
	// Formats are the formats to ask for, in order of preference; the server chooses. nil means
	// Protobuf if T has it, then JSON; a projection has it if all its fields have protobuf tags. If
	// a server refuses all of them (406) and JSON is among them, it is asked for JSON alone from
	// then on.
	Formats []Format
	// DropManagedFields asks the server to leave out metadata.managedFields, by the parameter
	// drop=metadata.managedFields in the Accept header (KEP-5958: alpha in Kubernetes 1.38; the
	// server's feature gate ManagedFieldsOptOut, off by default). Other API servers ignore the
	// parameter; a server that refuses it (406) is asked without it from then on. If the response
	// has the field nevertheless, it is skipped without being decoded.
	DropManagedFields bool
	// DropAnnotations are keys of metadata.annotations to leave out of objects, such as
	// "kubectl.kubernetes.io/last-applied-configuration".
	DropAnnotations []string
	// ShardSelector restricts the collection to objects whose UID or namespace hashes into a range
	// (KEP-5866); "" is everything. The form is shardRange(object.metadata.uid,
	// '0x0000000000000000', '0x8000000000000000'), several of them joined by ||. The source applies
	// the selector itself, too. So a server that doesn't know the parameter gives the same result.
	ShardSelector string
}

// HTTP lists and watches one collection of an API server. It implements [Source] and is safe for
// use by several goroutines at once. Each call makes one request, or up to three if the server
// refuses the first one's format or parameters.
type HTTP[T object.Object] struct {
	// Set once at construction.
	c *collection
}

// New makes a source of the resource gvr with objects of type T. It sends no request.
//
// It fails if c is nil, if gvr has no version or resource, if opts asks for a format the type
// doesn't have or has an invalid ShardSelector, if T is not a pointer to a struct and opts has no
// NewObject, and if NewObject returns nil or something other than a pointer that is a T.
func New[T object.Object](c *Client, gvr schema.GroupVersionResource, opts Options) (*HTTP[T], error) {
	col, err := newCollection(c, gvr, reflect.TypeFor[T](), opts)
	if err != nil {
		return nil, fmt.Errorf("source.New of %s: %w", describe(gvr), err)
	}
	return &HTTP[T]{c: col}, nil
}

// In returns a source of the same objects in another namespace; "" means all. It sends no request.
// Both sources share decoders and equal parts of objects (see ReadOnly), so a source for each of
// many namespaces costs little.
//
// It fails if the namespace can't be part of a path.
func (h *HTTP[T]) In(namespace string) (*HTTP[T], error) {
	c, err := h.c.in(namespace)
	if err != nil {
		return nil, fmt.Errorf("source.HTTP.In of %s: %w", describe(h.c.gvr), err)
	}
	return &HTTP[T]{c: c}, nil
}

// Resource returns the source's resource.
func (h *HTTP[T]) Resource() schema.GroupVersionResource { return h.c.gvr }

// Identity returns a text that is equal for sources, also of other processes, of the same objects:
// the same server address and certificate authority, the same resource, namespace and selectors,
// and the same fields left out.
func (h *HTTP[T]) Identity() string { return h.c.identity() }

// Codec is for informers' checkpoints, which store objects as the source decodes them. Code outside
// this module has no use for it.
func (h *HTTP[T]) Codec() *decode.Codec { return h.c.codec }

// String returns the resource and the restrictions, for logs and status: `widgets.samples.io/v1 in
// namespace "shop"`.
func (h *HTTP[T]) String() string { return h.c.String() }

// List implements [Source]. The package documentation lists its errors. Objects handed over before
// an error are complete.
func (h *HTTP[T]) List(ctx context.Context, opts ListOptions, item func(T) error) (ListResult, error) {
	if item == nil {
		return ListResult{}, errors.New("source.HTTP.List: item is nil")
	}
	return h.c.list(ctx, opts, func(obj object.Object) error { return item(obj.(T)) })
}

// Watch implements [Source]. The package documentation lists its errors. Events handed over before
// an error are complete.
func (h *HTTP[T]) Watch(ctx context.Context, opts WatchOptions, opened func(), event func(Event[T]) error) error {
	if event == nil {
		return errors.New("source.HTTP.Watch: event is nil")
	}
	return h.c.watch(ctx, opts, opened, func(e Event[object.Object]) error {
		typed := Event[T]{Type: e.Type, ResourceVersion: e.ResourceVersion, InitialEventsEnd: e.InitialEventsEnd, More: e.More}
		if e.Object != nil {
			typed.Object = e.Object.(T)
		}
		return event(typed)
	})
}

var _ Source[object.Object] = (*HTTP[object.Object])(nil)

// Format is a format in which API servers write objects. The set is closed; the zero value is none.
type Format uint8

// The formats.
const (
	// JSON is application/json, which every server has for every resource.
	JSON Format = Format(decode.JSON)
	// Protobuf is application/vnd.kubernetes.protobuf, which servers have for built-in kinds, and
	// for the metadata of every kind. Decoding it takes a Go type with generated protobuf methods.
	Protobuf Format = Format(decode.Protobuf)
)

// String returns "JSON" or "protobuf".
func (f Format) String() string { return decode.Format(f).String() }

// Client is a connection to one API server, shared by the sources of all its resources. It is safe
// for use by several goroutines.
type Client struct {
	// Set once at construction.
	http  *http.Client
	base  *url.URL
	trust string // identifies the certificate authority

	warning func(ctx context.Context, code int, agent, text string) // nil drops warnings
}

// NewClient makes a Client from a copy of config. It opens no connection.
//
// Address, credentials, TLS, proxy, impersonation, wrapped transports and the user agent (default:
// client-go's) are taken from config. Some settings are ignored: QPS, Burst and RateLimiter,
// because sources make few requests, paced by the server and by the caller's backoff, and the
// server's priority and fairness limits writes; Timeout, because it would cut watches short
// (contexts end requests); ContentType and AcceptContentTypes, because sources ask for formats they
// can decode (Options.Formats). The server may compress responses with gzip, unless
// DisableCompression is set. Redirects are followed only if they keep the method, so a write
// redirected with 301, 302 or 303 is refused.
//
// A server's warnings (the Warning header with code 299, as for a deprecated API version) go to
// WarningHandlerWithContext, or else to WarningHandler, on the goroutine that calls List, Watch or
// Do, with its context. Without either they are dropped.
//
// It fails if config is nil, if its host is not a URL, or if its credentials or certificates can't
// be read.
func NewClient(config *rest.Config) (*Client, error) {
	if config == nil {
		return nil, errors.New("source.NewClient: config is nil; get one from clientcmd or rest.InClusterConfig")
	}
	config = rest.CopyConfig(config)
	config.Timeout = 0
	if config.UserAgent == "" {
		config.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("source.NewClient: host %q: %w", config.Host, err)
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("source.NewClient: transport to %s: %w", base.Redacted(), err)
	}
	trust, err := trustOf(config)
	if err != nil {
		return nil, fmt.Errorf("source.NewClient: certificate authority of %s: %w", base.Redacted(), err)
	}
	own := *client // may be http.DefaultClient
	own.CheckRedirect = keepMethod
	c := &Client{http: &own, base: base, trust: trust}
	switch {
	case config.WarningHandlerWithContext != nil:
		c.warning = config.WarningHandlerWithContext.HandleWarningHeaderWithContext
	case config.WarningHandler != nil:
		c.warning = func(_ context.Context, code int, agent, text string) {
			config.WarningHandler.HandleWarningHeader(code, agent, text)
		}
	}
	return c, nil
}

// String returns the address of the server, without credentials.
func (c *Client) String() string {
	if c == nil || c.base == nil {
		return "no server"
	}
	return c.base.Redacted()
}
