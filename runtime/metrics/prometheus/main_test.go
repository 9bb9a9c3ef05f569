// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"sync"
	"testing"

	prom "github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"github.com/informer-gen/informer-gen/runtime/metrics"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake has the states that a Provider reads, behind a lock as those of real informers.
type fake struct {
	mu      sync.Mutex // guards what follows
	state   metrics.InformerState
	handler metrics.HandlerState
}

func (i *fake) set(change func(*metrics.InformerState, *metrics.HandlerState)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	change(&i.state, &i.handler)
}

func (i *fake) read() metrics.InformerState {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.state
}

func (i *fake) readHandler() metrics.HandlerState {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.handler
}

func newProvider(t testing.TB) (*Provider, *prom.Registry) {
	t.Helper()
	registry := prom.NewPedanticRegistry()
	p, err := New(registry)
	if err != nil {
		t.Fatal(err)
	}
	return p, registry
}
