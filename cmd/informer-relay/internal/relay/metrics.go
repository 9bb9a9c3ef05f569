// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"errors"

	prom "github.com/prometheus/client_golang/prometheus"

	"github.com/informer-gen/informer-gen/runtime/metrics/prometheus"
)

// newExporter returns a provider for the caches, which also serves the metrics of the callers, of
// requests to the API server and of the process.
func newExporter(callers ...prom.Collector) (*prometheus.Provider, error) {
	registry := prom.NewRegistry()
	provider, err := prometheus.New(registry)
	for _, c := range callers {
		err = errors.Join(err, registry.Register(c))
	}
	return provider, err
}
