// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
)

// Client is a connection to one API server, shared by the sources of all its resources. Its only
// state is net/http's connections. It is safe for use by several goroutines.
type Client struct {
	// Set once at construction.
	http    *http.Client
	base    *url.URL
	warning func(ctx context.Context, code int, agent, text string) // nil: warnings are not wanted
}

// NewClient makes a Client from config, which it copies. It opens no connection.
//
// Address, credentials, TLS, proxy, impersonation, wrapped transports and the user agent
// (client-go's default, when config has none) are taken from config. QPS and Burst are ignored:
// sources make few requests, paced by the server and by the caller's backoff. Timeout is ignored
// too, because it would cut watches short; contexts end requests. ContentType and
// AcceptContentTypes are ignored: sources ask for what they can decode (Options.Formats). The
// server may compress responses with gzip, unless DisableCompression is set.
//
// A server's warnings (the Warning header with code 299, as for a deprecated API version) go to
// WarningHandlerWithContext, or else to WarningHandler, on the goroutine that calls List or Watch,
// with its context. Without either they are dropped.
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
	c := &Client{http: client, base: base}
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

// collectionURL returns the address at which a resource is listed and watched; namespace "" means
// all of them.
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

// get asks for one of the formats in accept. The answer may have any status; its body must be
// closed by the caller.
func (c *Client) get(ctx context.Context, address *url.URL, accept string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", accept)
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	if headers := resp.Header["Warning"]; c.warning != nil && len(headers) > 0 {
		// warnings that are not well-formed are dropped
		warnings, _ := utilnet.ParseWarningHeaders(headers)
		for _, w := range warnings {
			c.warning(ctx, w.Code, w.Agent, w.Text)
		}
	}
	return resp, nil
}
