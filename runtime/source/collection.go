// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/internal/shard"
	"github.com/informer-gen/informer-gen/runtime/internal/decode"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// collection is an HTTP source without its type parameter: it makes requests and picks the decoder.
type collection struct {
	// Set once at construction.
	client  *Client
	gvr     schema.GroupVersionResource
	options Options
	address *url.URL // without a query
	codec   *decode.Codec
	formats []Format
	// refused is shared with the collections of other namespaces.
	refused *refused
}

// refused has the parts of requests refused by the server with 406.
type refused struct {
	drop    atomic.Bool // the parameter drop
	formats atomic.Bool // all but JSON alone
}

func newCollection(c *Client, gvr schema.GroupVersionResource, t reflect.Type, opts Options) (*collection, error) {
	if c == nil || c.http == nil {
		return nil, errors.New("the client is nil; make one with NewClient")
	}
	if gvr.Version == "" || gvr.Resource == "" {
		return nil, fmt.Errorf("the resource %q of version %q is incomplete: both are needed, as in {Group: \"apps\", Version: \"v1\", Resource: \"deployments\"}",
			gvr.Resource, gvr.Version)
	}
	for _, part := range []struct{ name, value string }{
		{"group", gvr.Group}, {"version", gvr.Version}, {"resource", gvr.Resource}, {"namespace", opts.Namespace},
	} {
		if err := checkPath(part.name, part.value); err != nil {
			return nil, err
		}
	}
	newObject := opts.NewObject
	if newObject == nil {
		if t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
			return nil, fmt.Errorf("%v is not a pointer to a struct; set Options.NewObject", t)
		}
		elem := t.Elem()
		newObject = func() object.Object { return reflect.New(elem).Interface().(object.Object) }
	}
	codec, err := decode.New(decode.Options{
		Resource:          gvr,
		Kind:              opts.Kind,
		DropManagedFields: opts.DropManagedFields,
		DropAnnotations:   opts.DropAnnotations,
		ShardSelector:     opts.ShardSelector,
		NewObject:         newObject,
	})
	if err != nil {
		return nil, err
	}
	if !codec.Type().AssignableTo(t) {
		return nil, fmt.Errorf("NewObject returns %v, which is not a %v", codec.Type(), t)
	}
	formats, err := checkFormats(opts.Formats, codec)
	if err != nil {
		return nil, err
	}
	return &collection{
		client:  c,
		gvr:     gvr,
		options: opts,
		address: c.collectionURL(gvr, opts.Namespace),
		codec:   codec,
		formats: formats,

		refused: new(refused),
	}, nil
}

func checkPath(name, value string) error {
	if strings.ContainsAny(value, "/%?#") || value == "." || value == ".." {
		return fmt.Errorf("the %s %q can't be part of a path", name, value)
	}
	return nil
}

// in returns the collection of another namespace, with the same codec.
func (c *collection) in(namespace string) (*collection, error) {
	if err := checkPath("namespace", namespace); err != nil {
		return nil, err
	}
	other := *c
	other.options.Namespace = namespace
	other.address = c.client.collectionURL(c.gvr, namespace)
	return &other, nil
}

func (c *collection) String() string {
	var b strings.Builder
	b.WriteString(describe(c.gvr))
	if c.options.Namespace != "" {
		fmt.Fprintf(&b, " in namespace %q", c.options.Namespace)
	}
	if c.options.LabelSelector != "" {
		fmt.Fprintf(&b, " with labels %q", c.options.LabelSelector)
	}
	if c.options.FieldSelector != "" {
		fmt.Fprintf(&b, " with fields %q", c.options.FieldSelector)
	}
	if c.options.ShardSelector != "" {
		fmt.Fprintf(&b, " in shard %q", c.options.ShardSelector)
	}
	return b.String()
}

func (c *collection) query(shardSelector string) url.Values {
	q := url.Values{}
	if c.options.LabelSelector != "" {
		q.Set("labelSelector", c.options.LabelSelector)
	}
	if c.options.FieldSelector != "" {
		q.Set("fieldSelector", c.options.FieldSelector)
	}
	if shardSelector == "" {
		shardSelector = c.options.ShardSelector
	}
	if shardSelector != "" {
		q.Set("shardSelector", shardSelector)
	}
	return q
}

func (c *collection) listQuery(opts ListOptions) url.Values {
	q := c.query(opts.ShardSelector)
	if opts.Limit > 0 {
		q.Set("limit", strconv.FormatInt(opts.Limit, 10))
	}
	if opts.Continue != "" {
		q.Set("continue", opts.Continue)
	}
	if opts.ResourceVersion != "" {
		q.Set("resourceVersion", opts.ResourceVersion)
	}
	if opts.ResourceVersionMatch != "" {
		q.Set("resourceVersionMatch", opts.ResourceVersionMatch)
	}
	return q
}

func (c *collection) watchQuery(opts WatchOptions) url.Values {
	q := c.query(opts.ShardSelector)
	q.Set("watch", "true")
	q.Set("allowWatchBookmarks", "true")
	if opts.ResourceVersion != "" {
		q.Set("resourceVersion", opts.ResourceVersion)
	}
	if opts.SendInitialEvents {
		q.Set("sendInitialEvents", "true")
		q.Set("resourceVersionMatch", string(metav1.ResourceVersionMatchNotOlderThan))
	}
	if opts.Timeout > 0 {
		q.Set("timeoutSeconds", strconv.FormatInt(int64(math.Ceil(opts.Timeout.Seconds())), 10))
	}
	return q
}

func (c *collection) list(ctx context.Context, opts ListOptions, item func(object.Object) error) (ListResult, error) {
	part, err := c.shard(opts.ShardSelector)
	if err != nil {
		return ListResult{}, fmt.Errorf("list %s: %w", c, err)
	}
	s, err := c.open(ctx, "list", c.listQuery(opts), decode.Promises{
		ReadOnly: opts.ReadOnly, Known: opts.Known, Keep: opts.Keep, KeepByController: opts.KeepByController, Skipped: opts.Skipped, Shard: part,
	})
	if err != nil {
		return ListResult{}, c.requestError(ctx, err)
	}
	defer s.Close()
	list, err := s.List(func(obj object.Object) error {
		if ctx.Err() != nil {
			return context.Cause(ctx) // even if more has been read ahead
		}
		return item(obj)
	})
	if err = c.requestError(ctx, c.streamError("list", err)); err != nil {
		return ListResult{}, err
	}
	return ListResult{ResourceVersion: list.ResourceVersion, Continue: list.Continue, Skipped: list.Skipped, Sharded: list.Sharded}, nil
}

func (c *collection) watch(ctx context.Context, opts WatchOptions, opened func(), event func(Event[object.Object]) error) error {
	part, err := c.shard(opts.ShardSelector)
	if err != nil {
		return fmt.Errorf("watch %s: %w", c, err)
	}
	s, err := c.open(ctx, "watch", c.watchQuery(opts), decode.Promises{
		ReadOnly: opts.ReadOnly, Known: opts.Known, Keep: opts.Keep, KeepByController: opts.KeepByController, Skipped: opts.Skipped, Shard: part,
		Initial: opts.SendInitialEvents, Unordered: opts.ResourceVersion == "" || opts.ResourceVersion == "0",
	})
	if err != nil {
		return c.requestError(ctx, err)
	}
	defer s.Close()
	if opened != nil {
		opened()
	}
	err = s.Watch(func(r *decode.Item) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return event(Event[object.Object]{
			Type:             r.Type,
			Object:           r.Object,
			ResourceVersion:  r.ResourceVersion(),
			InitialEventsEnd: r.InitialEventsEnd,
			More:             r.More,
		})
	})
	return c.requestError(ctx, c.streamError("watch", err))
}

// shard parses the selector of a request.
func (c *collection) shard(selector string) (*shard.Shard, error) {
	if selector != "" && c.options.ShardSelector != "" {
		return nil, errors.New("the source has a ShardSelector in its Options; a request can't have another")
	}
	return shard.Parse(selector)
}

func (c *collection) open(ctx context.Context, verb string, query url.Values, promises decode.Promises) (*decode.Stream, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	address := *c.address
	address.RawQuery = query.Encode()
	formats, accept := c.accept(verb)
	resp, err := c.client.get(ctx, &address, accept)
	for err == nil && resp.StatusCode == http.StatusNotAcceptable && c.fallBack(accept) {
		resp.Body.Close()
		formats, accept = c.accept(verb)
		resp, err = c.client.get(ctx, &address, accept)
	}
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", verb, c, err)
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		return nil, responseError(resp, verb, c.gvr.GroupResource(), "")
	}
	f, err := formatOf(resp.Header.Get("Content-Type"), formats)
	if err != nil {
		resp.Body.Close()
		return nil, &DecodeError{Verb: verb, Resource: c.gvr, Err: err}
	}
	return c.codec.Open(ctx, resp.Body, decode.Format(f), promises), nil
}

func (c *collection) accept(verb string) ([]Format, string) {
	if c.refused.formats.Load() {
		return []Format{JSON}, JSON.mediaType()
	}
	drop := c.options.DropManagedFields && !c.refused.drop.Load()
	return c.formats, acceptHeader(c.formats, c.codec.SentAs(verb == "list"), drop)
}

// fallBack is called when the server has refused a request with 406. It reports whether to try
// again: without the parameter drop, or else with JSON alone.
func (c *collection) fallBack(accept string) bool {
	if strings.Contains(accept, dropManagedFields) {
		c.refused.drop.Store(true)
		return true
	}
	return c.fallBackToJSON(accept)
}

// fallBackToJSON is called when the server has refused the formats. It reports whether to try again
// with JSON alone.
func (c *collection) fallBackToJSON(accept string) bool {
	if accept == JSON.mediaType() || !slices.Contains(c.formats, JSON) {
		return false
	}
	c.refused.formats.Store(true)
	return true
}

// requestError returns the error of a finished request: the callback's own error, else the cause of
// a done context, else err.
func (c *collection) requestError(ctx context.Context, err error) error {
	if callback, ok := err.(decode.CallbackError); ok {
		return callback.Err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func (c *collection) streamError(verb string, err error) error {
	switch err := err.(type) {
	case *decode.Error:
		return &DecodeError{Verb: verb, Resource: c.gvr, Item: err.Item, Offset: err.Offset, Key: err.Key, Err: err.Err}
	case *decode.BrokenError:
		return fmt.Errorf("%s %s: reading the response: %w", verb, describe(c.gvr), err.Err)
	}
	return err
}

// describe names a resource for people: "pods/v1", "widgets.samples.io/v1".
func describe(gvr schema.GroupVersionResource) string {
	return gvr.GroupResource().String() + "/" + gvr.Version
}
