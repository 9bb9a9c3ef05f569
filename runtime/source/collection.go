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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// collection is an HTTP source without its type parameter: it knows the requests, and how answers
// are decoded.
type collection struct {
	// Set once at construction.
	client  *Client
	gvr     schema.GroupVersionResource
	options Options
	address *url.URL // without a query
	codec   *codec
	formats []Format
}

func newCollection(c *Client, gvr schema.GroupVersionResource, newObject func() object.Object, opts Options) (*collection, error) {
	if c == nil || c.http == nil {
		return nil, errors.New("the client is nil; make one with NewClient")
	}
	if gvr.Version == "" || gvr.Resource == "" {
		return nil, fmt.Errorf("the resource %q of version %q is incomplete: both are needed, as in {Group: \"apps\", Version: \"v1\", Resource: \"deployments\"}",
			gvr.Resource, gvr.Version)
	}
	for _, part := range []struct{ what, value string }{
		{"group", gvr.Group}, {"version", gvr.Version}, {"resource", gvr.Resource}, {"namespace", opts.Namespace},
	} {
		if err := checkPath(part.what, part.value); err != nil {
			return nil, err
		}
	}
	sample := newObject()
	if sample == nil || reflect.TypeOf(sample).Kind() != reflect.Pointer || reflect.ValueOf(sample).IsNil() {
		return nil, fmt.Errorf("newObject returns %T; it has to return a new object, as in &v1.Pod{}", sample)
	}
	codec, err := newCodec(gvr, opts, sample, newObject)
	if err != nil {
		return nil, err
	}
	formats, err := checkFormats(opts.Formats, codec.protobuf, fmt.Sprintf("%T", sample))
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
	}, nil
}

func checkPath(what, value string) error {
	if strings.ContainsAny(value, "/%?#") || value == "." || value == ".." {
		return fmt.Errorf("the %s %q can't be part of a path", what, value)
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

// String describes the collection in error messages and logs.
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

// query returns the parameters that all requests of the collection share.
func (c *collection) query() url.Values {
	q := url.Values{}
	if c.options.LabelSelector != "" {
		q.Set("labelSelector", c.options.LabelSelector)
	}
	if c.options.FieldSelector != "" {
		q.Set("fieldSelector", c.options.FieldSelector)
	}
	if c.options.ShardSelector != "" {
		q.Set("shardSelector", c.options.ShardSelector)
	}
	return q
}

func (c *collection) listQuery(opts ListOptions) url.Values {
	q := c.query()
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
	q := c.query()
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
	s, err := c.open(ctx, "list", c.listQuery(opts))
	if err != nil {
		return ListResult{}, c.ended(ctx, err)
	}
	defer s.close()
	s.promised(ctx, opts.ReadOnly, opts.Known)
	l := listReader{stream: s, deliver: func(obj object.Object) error {
		if ctx.Err() != nil {
			return context.Cause(ctx) // even if more has been read ahead
		}
		return item(obj)
	}}
	result, err := l.read()
	if err = c.ended(ctx, err); err != nil {
		return ListResult{}, err
	}
	return result, nil
}

func (c *collection) watch(ctx context.Context, opts WatchOptions, opened func(), event func(Event[object.Object]) error) error {
	s, err := c.open(ctx, "watch", c.watchQuery(opts))
	if err != nil {
		return c.ended(ctx, err)
	}
	defer s.close()
	s.promised(ctx, opts.ReadOnly, opts.Known)
	if opened != nil {
		opened()
	}
	w := watchReader{stream: s, deliver: func(e Event[object.Object]) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return event(e)
	}}
	return c.ended(ctx, w.read())
}

// open sends the request and returns an error for every answer other than 200.
func (c *collection) open(ctx context.Context, verb string, query url.Values) (*stream, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	address := *c.address
	address.RawQuery = query.Encode()
	formats, accept := c.accept(verb)
	resp, err := c.client.get(ctx, &address, accept)
	if err == nil && resp.StatusCode == http.StatusNotAcceptable && c.refused(accept) {
		resp.Body.Close()
		formats, accept = c.accept(verb)
		resp, err = c.client.get(ctx, &address, accept)
	}
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", verb, c, err)
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		return nil, responseError(resp, verb, c.gvr.GroupResource())
	}
	f, err := formatOf(resp.Header.Get("Content-Type"), formats)
	if err != nil {
		resp.Body.Close()
		return nil, &DecodeError{Verb: verb, Resource: c.gvr, Err: err}
	}
	return newStream(c.codec, verb, resp.Body, f), nil
}

// accept returns the formats to ask for, and the header that asks for them.
func (c *collection) accept(verb string) ([]Format, string) {
	if c.codec.jsonOnly.Load() {
		return []Format{JSON}, JSON.mediaType()
	}
	as := ""
	if c.codec.partial {
		as = metadataKind
		if verb == "list" {
			as = metadataListKind
		}
	}
	return c.formats, acceptHeader(c.formats, as)
}

// refused is called when the server has refused the formats with 406. It reports whether another
// request, for JSON alone, makes sense.
func (c *collection) refused(accept string) bool {
	if accept == JSON.mediaType() || !slices.Contains(c.formats, JSON) {
		return false
	}
	c.codec.jsonOnly.Store(true)
	return true
}

// ended returns the error of a request that is over: the callback's own error, else the cause of a
// done context, else err.
func (c *collection) ended(ctx context.Context, err error) error {
	if cb, ok := err.(callbackError); ok {
		return cb.err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// callbackError carries a callback's error out of a decoder untouched.
type callbackError struct{ err error }

func (e callbackError) Error() string { return e.err.Error() }
