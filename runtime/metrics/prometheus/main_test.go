// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"os"
	"strings"
	"sync"
	"testing"

	prom "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	"github.com/informer-gen/informer-gen/runtime/metrics"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake has the states read by a Provider, with a lock as in informers.
type fake struct {
	mu      sync.Mutex // guards the fields below
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

// registered returns a Provider, without the process's requests, with a registry of its own.
func registered(t testing.TB) (*Provider, *prom.Registry) {
	t.Helper()
	registry := prom.NewPedanticRegistry()
	p := newProvider()
	if err := registry.Register(p); err != nil {
		t.Fatal(err)
	}
	return p, registry
}

// golden compares all metrics with a file, and lints them.
func golden(t *testing.T, registry *prom.Registry, file string) {
	t.Helper()
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := testutil.GatherAndCompare(registry, strings.NewReader(string(want))); err != nil {
		t.Error(err)
	}
	lint(t, registry)
}

func lint(t *testing.T, registry *prom.Registry) {
	t.Helper()
	problems, err := testutil.GatherAndLint(registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		t.Errorf("%s: %s", problem.Metric, problem.Text)
	}
}

// wantSamples compares some samples; -1 means no sample.
func wantSamples(t *testing.T, registry *prom.Registry, samples map[string]float64) {
	t.Helper()
	got := gather(t, registry)
	for name, value := range samples {
		if v, ok := got[name]; !ok && value != -1 || ok && v != value {
			t.Errorf("%s = %v (exists: %v), want %v", name, v, ok, value)
		}
	}
}
