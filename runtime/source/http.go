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
	// LabelSelector is in the form that labels.Selector.String writes; "" selects everything.
	LabelSelector string
	// FieldSelector is in the form that fields.Selector.String writes; "" selects everything.
	FieldSelector string
	// Kind is the kind that the objects must have. "" means the name of the Go type, as in API
	// packages; for types that hold any kind, and for projections (see [object.NoMeta]), "" takes
	// the kind from the first list or object whose kind has the resource as its usual plural (Pod,
	// pods). Before, and for a kind with another plural, the objects of one response must be of one
	// kind. Objects carry the kind: a *metav1.PartialObjectMetadata has this
	// kind and the resource's version. With "" it is a PartialObjectMetadata of meta.k8s.io/v1,
	// whichever kind the server has sent.
	Kind string
	// NewObject makes the objects: a new one at each call, always of the same type, which must be a
	// pointer. Several goroutines may call it at once: those that list or watch. nil means zero
	// values of the struct that T points to. It is needed if T is an interface, such as
	// object.Object.
	NewObject func() object.Object
	// Formats are the formats asked for, in order of preference; the server chooses. nil means
	// Protobuf if T has it, then JSON; a projection has it if all its fields have protobuf tags.
	// If a server refuses all of them (406), it is asked for JSON from then on, if JSON is among
	// them.
	Formats []Format
	// DropManagedFields leaves metadata.managedFields out of objects: it is skipped in the
	// response, not decoded.
	DropManagedFields bool
	// DropAnnotations are keys of metadata.annotations that are left out of objects, such as
	// "kubectl.kubernetes.io/last-applied-configuration".
	DropAnnotations []string
	// ShardSelector restricts the collection to the objects whose UID or namespace hashes into a
	// range (KEP-5866); "" is everything. The form is shardRange(object.metadata.uid,
	// '0x0000000000000000', '0x8000000000000000'), several of them joined by ||. A server that
	// doesn't know the parameter sends all objects. The result is the same, only with more bytes on
	// the wire, because the source applies the selector to all objects, too.
	ShardSelector string
}

// HTTP lists and watches one collection of an API server. It implements [Source] and is safe for
// use by several goroutines at once; each call makes one request, or two if the server refuses the
// formats of the first. Its method Do sends requests about single objects of the resource, writes
// too.
type HTTP[T object.Object] struct {
	// Set once at construction.
	c *collection
}

// New makes the source of the resource gvr, whose objects are of type T. It sends no request.
//
// It fails if c is nil, if gvr has no version or resource, if opts asks for a format that the type
// doesn't have or has an invalid ShardSelector, if T is not a pointer to a struct and opts has no
// NewObject, and if NewObject returns nil or something other than a pointer that is a T.
//
// If T is *metav1.PartialObjectMetadata, the server is asked for the metadata of the objects only,
// whatever the resource.
func New[T object.Object](c *Client, gvr schema.GroupVersionResource, opts Options) (*HTTP[T], error) {
	col, err := newCollection(c, gvr, reflect.TypeFor[T](), opts)
	if err != nil {
		return nil, fmt.Errorf("source.New of %s: %w", describe(gvr), err)
	}
	return &HTTP[T]{c: col}, nil
}

// In returns the source of the same objects in another namespace; "" means all. It sends no
// request. Objects from both share their equal parts (see ReadOnly), and both sources use the same
// decoders. So a source for each of many namespaces costs little.
//
// It fails if the namespace can't be part of a path.
func (h *HTTP[T]) In(namespace string) (*HTTP[T], error) {
	c, err := h.c.in(namespace)
	if err != nil {
		return nil, fmt.Errorf("source.HTTP.In of %s: %w", describe(h.c.gvr), err)
	}
	return &HTTP[T]{c: c}, nil
}

// Resource returns the resource that the source reads.
func (h *HTTP[T]) Resource() schema.GroupVersionResource { return h.c.gvr }

// Identity returns a text that is the same for sources, also of other processes, that read the same
// objects: from the server of the same address and certificate authority, the same resource,
// namespace and selectors, with the same fields left out.
func (h *HTTP[T]) Identity() string { return h.c.identity() }

// Codec serves checkpoints of informers, which store objects as the source decodes them. Code
// outside of this module has no use for it.
func (h *HTTP[T]) Codec() *decode.Codec { return h.c.codec }

// String returns the resource and the restrictions, for logs and status: `widgets.samples.io/v1 in
// namespace "shop"`.
func (h *HTTP[T]) String() string { return h.c.String() }

// List implements [Source]. It reads one page; see the package documentation for its errors.
// Objects that were handed over before an error are complete.
func (h *HTTP[T]) List(ctx context.Context, opts ListOptions, item func(T) error) (ListResult, error) {
	if item == nil {
		return ListResult{}, errors.New("source.HTTP.List: item is nil")
	}
	return h.c.list(ctx, opts, func(obj object.Object) error { return item(obj.(T)) })
}

// Watch implements [Source]. It reads events until the server ends the stream; see the package
// documentation for its errors. Events that were handed over before an error are complete.
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
	// Protobuf is application/vnd.kubernetes.protobuf, which servers have for their built-in kinds,
	// and for the metadata of every kind. Only Go types with generated protobuf methods can be
	// decoded from it.
	Protobuf Format = Format(decode.Protobuf)
)

// String returns "JSON" or "protobuf".
func (f Format) String() string { return decode.Format(f).String() }

// Client is a connection to one API server, shared by the sources of all its resources. Its only
// state is net/http's connections. It is safe for use by several goroutines.
type Client struct {
	// Set once at construction.
	http  *http.Client
	base  *url.URL
	trust string // identifies whose certificates the server may have

	warning func(ctx context.Context, code int, agent, text string) // nil: warnings are not wanted
}

// NewClient makes a Client from config, which it copies. It opens no connection.
//
// Address, credentials, TLS, proxy, impersonation, wrapped transports and the user agent
// (client-go's default, when config has none) are taken from config. QPS, Burst and RateLimiter are
// ignored: sources make few requests, paced by the server and by the caller's backoff, and writes
// are limited by the server's priority and fairness. Timeout is ignored too, because it would cut
// watches short; contexts end requests. ContentType and
// AcceptContentTypes are ignored: sources ask for what they can decode (Options.Formats). The
// server may compress responses with gzip, unless DisableCompression is set. Redirects are followed
// if they keep the method; so a write that is redirected with 301, 302 or 303 is refused.
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
	own := *client // it may be http.DefaultClient
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
