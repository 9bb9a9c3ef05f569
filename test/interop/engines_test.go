// SPDX-License-Identifier: Apache-2.0

package interop

import (
	"context"
	"slices"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/test/internal/endstate"
)

// onBoth runs a scenario with informers of client-go and with ours, and compares the API's objects
// at its end.
func onBoth(t *testing.T, scenario func(t *testing.T, e engine) (endState []string)) {
	var states [2][]string
	for n, e := range engines {
		t.Run(e.name, func(t *testing.T) { states[n] = scenario(t, e) })
	}
	if theirs, ours := states[0], states[1]; !slices.Equal(theirs, ours) && !t.Failed() {
		t.Errorf("at the end, the API has only with %s\n%s\nonly with %s\n%s",
			engines[0].name, endstate.Without(theirs, ours), engines[1].name, endstate.Without(ours, theirs))
	}
}

// controllers run until the test ends.
type controllers struct {
	ctx context.Context
	all sync.WaitGroup
}

// newControllers returns controllers. They end before the cleanups registered so far.
func newControllers(t *testing.T) *controllers {
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	c := &controllers{ctx: ctx}
	t.Cleanup(func() { cancel(); c.all.Wait() })
	return c
}

func (c *controllers) run(f func(ctx context.Context)) { c.all.Go(func() { f(c.ctx) }) }

// runFactory starts the informers of a generated factory.
func (c *controllers) runFactory(factory interface {
	StartWithContext(ctx context.Context)
	Shutdown()
}) {
	factory.StartWithContext(c.ctx)
	c.run(func(ctx context.Context) {
		<-ctx.Done()
		factory.Shutdown()
	})
}

// endState returns the objects of resources, without the parts that differ from run to run. The
// caller has waited for the controllers' last writes.
func endState(t *testing.T, config *rest.Config, resources ...schema.GroupVersionResource) (lines []string) {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	for _, resource := range resources {
		list, err := client.Resource(resource).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		of, err := endstate.Lines(list.Items)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, of...)
	}
	return lines
}
