// SPDX-License-Identifier: Apache-2.0

package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/metrics"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// readers is a Provider that only keeps the functions that read states.
type readers struct {
	mu     sync.Mutex // mu guards the field below
	byName map[string]func() metrics.InformerState
}

func (r *readers) BeginInformer(name string, read func() metrics.InformerState) metrics.InformerRecorder {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.byName[name] = read
	return nothing{}
}

type nothing struct{}

func (nothing) ListDone(time.Duration, int)  {}
func (nothing) WatchDone(time.Duration, int) {}
func (nothing) BatchDone(time.Duration, int) {}
func (nothing) Failed(string)                {}
func (nothing) Close()                       {}

func (nothing) BeginHandler(string, func() metrics.HandlerState) metrics.HandlerRecorder {
	return nothingOfHandler{}
}

type nothingOfHandler struct{}

func (nothingOfHandler) CallbackDone(time.Duration, bool) {}
func (nothingOfHandler) Close()                           {}

// A minimal implementation of Provider.
func ExampleProvider() {
	server := sourcetest.New()
	resource := corev1.SchemeGroupVersion.WithResource("pods")
	pods := sourcetest.Serve[*corev1.Pod](server, resource, "Pod")
	for _, name := range []string{"blue", "green"} {
		pods.Create(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}})
	}
	client, err := source.NewClient(server.Config())
	if err != nil {
		log.Fatal(err)
	}

	provider := &readers{byName: map[string]func() metrics.InformerState{}}
	factory := factories.New(client, informer.WithMetrics(provider))
	factories.For[*corev1.Pod](factory, resource)
	ctx := context.Background()
	if err := errors.Join(factory.Start(ctx), factory.WaitForCacheSync(ctx)); err != nil {
		log.Fatal(err)
	}
	provider.mu.Lock()
	read := provider.byName["pods/v1"]
	provider.mu.Unlock()
	state := read()
	fmt.Println(state.Objects, state.Listed, state.Synced)
	if err := factory.Shutdown(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: 2 2 true
}
