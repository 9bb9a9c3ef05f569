// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/tools/metrics"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// collectionURL returns the URL for listing and watching a resource; namespace "" means all.
func (c *Client) collectionURL(gvr schema.GroupVersionResource, namespace string) *url.URL {
	parts := []string{"api", gvr.Version}
	if gvr.Group != "" {
		parts = []string{"apis", gvr.Group, gvr.Version}
	}
	if namespace != "" {
		parts = append(parts, "namespaces", namespace)
	}
	return c.base.JoinPath(append(parts, gvr.Resource)...)
}

// objectURL returns the URL of an object, or of a subresource if that is not "". For the name "" it
// is the collection to create objects in.
func (c *Client) objectURL(gvr schema.GroupVersionResource, key object.Key, subresource string) *url.URL {
	address := c.collectionURL(gvr, key.Namespace)
	if key.Name != "" {
		address = address.JoinPath(key.Name)
	}
	if subresource != "" {
		address = address.JoinPath(subresource)
	}
	return address
}

// keepMethod lets net/http follow only redirects that keep the method. Otherwise it would turn a
// write into a GET, whose answer looks like the write's.
func keepMethod(req *http.Request, via []*http.Request) error {
	switch {
	case req.Method != via[0].Method:
		return http.ErrUseLastResponse
	case len(via) >= 10: // as net/http
		return errors.New("stopped after 10 redirects")
	}
	return nil
}

// get asks for one of the formats in accept. The answer may have any status; the caller must close
// its body.
func (c *Client) get(ctx context.Context, address *url.URL, accept string) (*http.Response, error) {
	return c.send(ctx, http.MethodGet, address, accept, nil, "")
}

// send sends a request, with a body if contentType is not "". The answer is as for get.
func (c *Client) send(ctx context.Context, method string, address *url.URL, accept string, body []byte, contentType string) (*http.Response, error) {
	var content io.Reader
	if contentType != "" {
		content = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, address.String(), content)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", accept)
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	began := time.Now()
	resp, err := c.http.Do(req)
	c.countRequest(req, resp, err, began)
	if err != nil {
		return nil, err
	}
	if headers := resp.Header["Warning"]; c.warning != nil && len(headers) > 0 {
		// malformed warnings are dropped
		warnings, _ := utilnet.ParseWarningHeaders(headers)
		for _, w := range warnings {
			c.warning(ctx, w.Code, w.Agent, w.Text)
		}
	}
	return resp, nil
}

// countRequest reports a request to the metrics of client-go, as client-go's own clients do: its
// result and, unless it is a watch, the time until the answer was read.
func (c *Client) countRequest(req *http.Request, resp *http.Response, err error, began time.Time) {
	ctx, code := req.Context(), "<error>"
	if resp != nil {
		code = strconv.Itoa(resp.StatusCode)
	}
	metrics.RequestResult.Increment(ctx, code, req.Method, c.base.Host)
	if req.URL.Query().Get("watch") == "true" {
		return
	}
	end := func() {
		metrics.RequestLatency.Observe(ctx, req.Method, url.URL{Scheme: c.base.Scheme, Host: c.base.Host}, time.Since(began))
	}
	if err != nil {
		end()
		return
	}
	resp.Body = &countedBody{resp.Body, sync.OnceFunc(end)}
}

// countedBody calls end when it is closed.
type countedBody struct {
	io.ReadCloser
	end func()
}

// Close closes the body.
func (b *countedBody) Close() error {
	b.end()
	return b.ReadCloser.Close()
}
