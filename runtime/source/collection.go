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
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// collection is HTTP without its type: what is asked for, and how the answer is decoded.
type collection struct {
	// Set once at construction.
	client  *Client
	gvr     schema.GroupVersionResource
	options Options
	address *url.URL // without a query
	codec   *codec
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
		if strings.ContainsAny(part.value, "/%?#") || part.value == "." || part.value == ".." {
			return nil, fmt.Errorf("the %s %q can't be part of a path", part.what, part.value)
		}
	}
	sample := newObject()
	if sample == nil || reflect.TypeOf(sample).Kind() != reflect.Pointer || reflect.ValueOf(sample).IsNil() {
		return nil, fmt.Errorf("newObject returns %T; it has to return a new object, as in &v1.Pod{}", sample)
	}
	return &collection{
		client:  c,
		gvr:     gvr,
		options: opts,
		address: c.collectionURL(gvr, opts.Namespace),
		codec:   newCodec(gvr, opts.Kind, sample, newObject),
	}, nil
}

// String names the collection for people.
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
	return b.String()
}

// query has what all requests of the collection share.
func (c *collection) query() url.Values {
	q := url.Values{}
	if c.options.LabelSelector != "" {
		q.Set("labelSelector", c.options.LabelSelector)
	}
	if c.options.FieldSelector != "" {
		q.Set("fieldSelector", c.options.FieldSelector)
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
	resp, err := c.open(ctx, "list", c.listQuery(opts))
	if err != nil {
		return ListResult{}, c.ended(ctx, err)
	}
	defer resp.Body.Close()
	d := listDecoder{stream: c.stream("list", resp), deliver: item}
	result, err := d.decode()
	if err != nil {
		return ListResult{}, c.ended(ctx, err)
	}
	return result, nil
}

func (c *collection) watch(ctx context.Context, opts WatchOptions, opened func(), event func(Event[object.Object]) error) error {
	resp, err := c.open(ctx, "watch", c.watchQuery(opts))
	if err != nil {
		return c.ended(ctx, err)
	}
	defer resp.Body.Close()
	if opened != nil {
		opened()
	}
	d := watchDecoder{stream: c.stream("watch", resp), deliver: event}
	return c.ended(ctx, d.decode())
}

// open sends the request and turns every answer but 200 into an error.
func (c *collection) open(ctx context.Context, verb string, query url.Values) (*http.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	address := *c.address
	address.RawQuery = query.Encode()
	resp, err := c.client.get(ctx, &address)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", verb, c, err)
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		return nil, responseError(resp, verb, c.gvr.GroupResource(), time.Now())
	}
	return resp, nil
}

// ended returns the reason why a request is over. A done context explains every error but the callback's own.
func (c *collection) ended(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
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
