// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"net/http"
	"net/url"

	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

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
