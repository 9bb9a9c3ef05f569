// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"math"

	prom "github.com/prometheus/client_golang/prometheus"

	"github.com/informer-gen/informer-gen/runtime/metrics"
)

var _ metrics.ElectionProvider = (*Provider)(nil)

// BeginElection implements metrics.ElectionProvider. Invalid UTF-8 in name becomes U+FFFD.
func (p *Provider) BeginElection(name string, leading func() bool) (end func()) {
	return p.elections.begin(named(name), nil, leading)
}

var electionMetrics = []metric[bool]{
	gauge(prom.NewDesc("leader_election_master_status", "1 if this process leads, else 0. name is that of the Lease.", []string{"name"}, nil),
		math.Max, func(leading *bool) float64 { return oneIf(*leading) }),
}
