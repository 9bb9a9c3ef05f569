// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"fmt"
	"net/http"
	"net/http/httputil"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/cmd/informer-relay/internal/access"
)

// newProxy returns a handler that forwards requests to an API server with their callers' tokens,
// and without any credentials of the relay.
func newProxy(upstream *rest.Config) (http.Handler, error) {
	anonymous := rest.AnonymousClientConfig(upstream)
	base, _, err := rest.DefaultServerUrlFor(anonymous)
	if err != nil {
		return nil, fmt.Errorf("host %q: %w", upstream.Host, err)
	}
	transport, err := rest.TransportFor(anonymous)
	if err != nil {
		return nil, fmt.Errorf("transport to %s: %w", base.Redacted(), err)
	}
	return &httputil.ReverseProxy{
		Transport:     transport,
		Rewrite:       func(req *httputil.ProxyRequest) { req.SetURL(base) },
		FlushInterval: -1, // logs of a Pod are a stream
		ErrorHandler: func(w http.ResponseWriter, req *http.Request, err error) {
			if req.Context().Err() == nil { // else the client has gone
				klog.FromContext(req.Context()).Error(err, "A request could not be passed on to the API server")
			}
			access.Refuse(w, apierrors.NewServiceUnavailable("the API server can't be reached; try again"))
		},
	}, nil
}
