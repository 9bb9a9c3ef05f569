// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/test/internal/poll"
)

// withTestLogger returns a context whose logger writes to the test.
func withTestLogger(ctx context.Context, t *testing.T) context.Context {
	return klog.NewContext(ctx, ktesting.NewLogger(t, ktesting.NewConfig()))
}

// run starts a factory, and shuts it down when the test ends.
func run(t *testing.T, f factories.SharedInformerFactory) {
	t.Helper()
	ctx := withTestLogger(t.Context(), t)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), poll.Patience)
		defer cancel()
		if err := f.Shutdown(ctx); err != nil {
			t.Error(err)
		}
	})
	if err := f.Start(ctx); err != nil {
		t.Fatal(err)
	}
}

// runSynced starts a factory and waits until it has synced.
func runSynced(t *testing.T, f factories.SharedInformerFactory) {
	t.Helper()
	run(t, f)
	if err := f.WaitForCacheSync(withTestLogger(deadline(t), t)); err != nil {
		t.Fatal(err)
	}
}

// listen adds a handler that records and checks its events.
func listen[T object.Object](t *testing.T, i *informer.SharedIndexInformer[T], opts ...informer.HandlerOption) (*history[T], *informer.Registration) {
	t.Helper()
	h := newHistory[T](t)
	reg, err := i.AddEventHandler(h, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return h, reg
}

// crateInformer returns the informer of a namespace's Crates and its factory.
func crateInformer(t *testing.T, url string, ns collection, opts ...informer.Option) (*factories.Factory, *informer.SharedIndexInformer[*Crate]) {
	t.Helper()
	opts = append([]informer.Option{informer.WithNamespace(ns.namespace)}, opts...)
	f := factories.New(connect(t, url), opts...)
	return f, factories.For[*Crate](f, ns.gvr, informer.WithIndexes(byShip))
}

// await waits until a channel is closed.
func await(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-deadline(t).Done():
		t.Fatalf("no %s", what)
	}
}

// awaitStatus waits until the informer has the wanted status.
func awaitStatus[T object.Object](t *testing.T, i *informer.SharedIndexInformer[T], what string, ok func(informer.Status) bool) {
	t.Helper()
	poll.Until(t, func() error {
		if s := i.Status(); !ok(s) {
			return fmt.Errorf("the informer is not %s: %v", what, s.Reflector)
		}
		return nil
	})
}

// namespaces numbers the namespaces, so that a test may run more than once.
var namespaces atomic.Int64

// dnsName returns a new namespace with the test's name.
func dnsName(t *testing.T) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + ('a' - 'A')
		}
		return '-'
	}, t.Name())
	return fmt.Sprintf("%s-%d", strings.Trim(name, "-"), namespaces.Add(1))
}
