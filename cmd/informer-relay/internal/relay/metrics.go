// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"errors"
	"net/http"

	prom "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/informer-gen/informer-gen/runtime/metrics/prometheus"
)

type exporter struct {
	http.Handler
	caches *prometheus.Caches
}

func newExporter(callers ...prom.Collector) (*exporter, error) {
	registry := prom.NewRegistry()
	caches, err := prometheus.NewCaches(registry)
	for _, c := range callers {
		err = errors.Join(err, registry.Register(c))
	}
	err = errors.Join(err,
		registry.Register(collectors.NewGoCollector()),
		registry.Register(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})),
	)
	return &exporter{promhttp.HandlerFor(registry, promhttp.HandlerOpts{}), caches}, err
}
