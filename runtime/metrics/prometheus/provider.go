// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"errors"
	"fmt"
	"sync"

	prom "github.com/prometheus/client_golang/prometheus"

	"github.com/informer-gen/informer-gen/runtime/metrics"
)

// Provider is a metrics.Provider whose metrics a Prometheus registry collects. Any number of
// informers may use it.
type Provider struct {
	// set once at construction
	perInformer informerVecs
	perHandler  handlerVecs

	// mu guards what follows and all that it contains. It is not held while an informer's state is
	// read.
	mu        sync.Mutex
	informers map[string]*informerSeries
}

var (
	_ metrics.Provider = (*Provider)(nil)
	_ prom.Collector   = (*Provider)(nil)
)

// New returns a Provider that is registered with registerer, which must not be nil.
// promhttp.Handler serves the metrics of prometheus.DefaultRegisterer. If registerer has a Provider
// already, the error is a prometheus.AlreadyRegisteredError: share that Provider, or distinguish
// the two with a prefix or a label. registerer.Unregister removes the Provider.
func New(registerer prom.Registerer) (*Provider, error) {
	if registerer == nil {
		return nil, errors.New("informer metrics: the registerer is nil; use prometheus.DefaultRegisterer or one of your own")
	}
	p := &Provider{
		perInformer: newInformerVecs(),
		perHandler:  newHandlerVecs(),
		informers:   map[string]*informerSeries{},
	}
	if err := registerer.Register(p); err != nil {
		return nil, fmt.Errorf("informer metrics: register: %w", err)
	}
	return p, nil
}

// BeginInformer implements metrics.Provider. Bytes of name that are not UTF-8 become U+FFFD.
func (p *Provider) BeginInformer(name string, read func() metrics.InformerState) metrics.InformerRecorder {
	name = labelValue(name)
	r := &informerRun{provider: p, read: read, before: read()}
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.informers[name]
	if s == nil {
		s = newInformerSeries(name, &p.perInformer)
		p.informers[name] = s
	}
	r.informerSeries = s
	s.runs = append(s.runs, r)
	return r
}
