// SPDX-License-Identifier: Apache-2.0

package interop

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// onBoth runs a scenario with informers of client-go and with ours, and compares what it returns:
// what is left in the API.
func onBoth(t *testing.T, scenario func(t *testing.T, e engine) (endState string)) {
	states := map[string]string{}
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) { states[e.name] = scenario(t, e) })
	}
	if theirs, ours := states[engines[0].name], states[engines[1].name]; theirs != ours && !t.Failed() {
		t.Errorf("with %s the API has at the end\n%s\nand with %s\n%s", engines[0].name, theirs, engines[1].name, ours)
	}
}

// controllers run until the test ends.
type controllers struct {
	ctx context.Context
	all sync.WaitGroup
}

// newControllers returns controllers that end before the cleanups that are registered already.
func newControllers(t *testing.T) *controllers {
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	c := &controllers{ctx: ctx}
	t.Cleanup(func() { cancel(); c.all.Wait() })
	return c
}

func (c *controllers) run(f func(ctx context.Context)) { c.all.Go(func() { f(c.ctx) }) }

// runFactory starts the informers that a generated factory has made.
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

// until waits until f reports no problem.
func until(t *testing.T, what string, f func() (problem string)) {
	t.Helper()
	began := time.Now()
	for {
		problem := f()
		if problem == "" {
			return
		}
		if time.Since(began) > patience {
			t.Fatalf("%s: %s", what, problem)
		}
		time.Sleep(20 * time.Millisecond) // what an API server has can only be polled
	}
}

// endState returns the objects of resources as JSON, without what differs from run to run.
func endState(t *testing.T, config *rest.Config, resources ...schema.GroupVersionResource) string {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, resource := range resources {
		list, err := client.Resource(resource).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&text, "%s: %d\n", resource.Resource, len(list.Items))
		for _, obj := range list.Items {
			prune(obj.Object)
			out, err := json.Marshal(obj.Object)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&text, "%s\n", out)
		}
	}
	return text.String()
}

// prune removes times, uids and versions. Conditions are put in the order of their types.
func prune(value any) {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range []string{
			"uid", "resourceVersion", "managedFields", "creationTimestamp", "deletionTimestamp", "generation",
			"lastTransitionTime", "lastHeartbeatTime", "timeAdded",
		} {
			delete(v, name)
		}
		if conditions, ok, _ := unstructured.NestedSlice(v, "status", "conditions"); ok {
			slices.SortFunc(conditions, func(a, b any) int { return strings.Compare(typeOf(a), typeOf(b)) })
			_ = unstructured.SetNestedSlice(v, conditions, "status", "conditions") // was one before
		}
		for _, child := range v {
			prune(child)
		}
	case []any:
		for _, child := range v {
			prune(child)
		}
	}
}

func typeOf(condition any) string {
	fields, _ := condition.(map[string]any)
	return fmt.Sprint(fields["type"])
}
