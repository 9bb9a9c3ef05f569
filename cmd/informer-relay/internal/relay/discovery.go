// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/cmd/informer-relay/internal/configfile"
)

const (
	discoveryTimeout = 30 * time.Second
	// maxDiscoveryBytes bounds the bytes read of an answer.
	maxDiscoveryBytes = 16 << 20
)

// errConfigMismatch means that retrying won't help.
var errConfigMismatch = errors.New("the configuration does not fit the API server")

type discovery struct {
	http *http.Client
	base *url.URL
}

func newDiscovery(upstream *rest.Config) (*discovery, error) {
	base, _, err := rest.DefaultServerUrlFor(upstream)
	if err != nil {
		return nil, fmt.Errorf("host %q: %w", upstream.Host, err)
	}
	client, err := rest.HTTPClientFor(upstream)
	if err != nil {
		return nil, fmt.Errorf("transport to %s: %w", base.Redacted(), err)
	}
	return &discovery{client, base}, nil
}

// find returns the API server's description of a resource. It fails if the server doesn't serve it,
// or doesn't answer.
func (d *discovery) find(ctx context.Context, r configfile.Resource) (*metav1.APIResource, error) {
	gvr := r.GVR()
	address := d.base.JoinPath("apis", r.Group, r.Version)
	if r.Group == "" {
		address = d.base.JoinPath("api", r.Version)
	}
	list, err := d.read(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("looking for %s: %w", gvr.GroupResource(), err)
	}
	at := slices.IndexFunc(list.APIResources, func(known metav1.APIResource) bool { return known.Name == r.Resource })
	if at < 0 {
		return nil, fmt.Errorf("the API server has no resource %s at %s", r.Resource, address.Redacted())
	}
	found := &list.APIResources[at]
	switch {
	case !slices.Contains(found.Verbs, "list") || !slices.Contains(found.Verbs, "watch"):
		return nil, fmt.Errorf("%w: %s can't be listed and watched", errConfigMismatch, gvr.GroupResource())
	case !found.Namespaced && len(r.Namespaces) > 0:
		return nil, fmt.Errorf("%w: %s have no namespaces; remove namespaces", errConfigMismatch, gvr.GroupResource())
	}
	return found, nil
}

func (d *discovery) read(ctx context.Context, address *url.URL) (*metav1.APIResourceList, error) {
	ctx, cancel := context.WithTimeout(ctx, discoveryTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := d.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxDiscoveryBytes))
	if err != nil {
		return nil, fmt.Errorf("GET %s: reading the answer: %w", address.Redacted(), err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %s", address.Redacted(), resp.Status)
	}
	list := &metav1.APIResourceList{}
	if err := json.Unmarshal(data, list); err != nil {
		return nil, fmt.Errorf("GET %s: decoding the answer: %w", address.Redacted(), err)
	}
	return list, nil
}
