// SPDX-License-Identifier: Apache-2.0

package informertest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// Run starts a factory and waits until it has synced. The end of the test's context stops it.
func Run(t *testing.T, f *factories.Factory) {
	t.Helper()
	NoError(t, errors.Join(f.Start(t.Context()), f.WaitForCacheSync(t.Context())))
	synctest.Wait()
}

// Shutdown stops a factory and waits for it.
func Shutdown(t *testing.T, f *factories.Factory) {
	t.Helper()
	if err := f.Shutdown(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}

// InBubble runs a subtest in a synctest bubble.
func InBubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

// NoError ends the test if err is not nil.
func NoError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Error expects an error with this text.
func Error(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil || err.Error() != text {
		t.Errorf("got  %v\nwant %s", err, text)
	}
}

// Same expects got and want to be equal.
func Same(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: %s", what, diff)
	}
}

// Add adds a handler. A failure ends the test.
func Add[T object.Object](t *testing.T, i *informer.SharedIndexInformer[T], h informer.Handler[T], opts ...informer.HandlerOption) *informer.Registration {
	t.Helper()
	r, err := i.AddEventHandler(h, opts...)
	NoError(t, err)
	return r
}

// Names returns the sorted keys of the objects in the store.
func Names[T object.Object](i *informer.SharedIndexInformer[T]) []string {
	list := []string{}
	for obj := range i.Store().Snapshot().All() {
		list = append(list, object.KeyOf(obj).String())
	}
	slices.Sort(list)
	return list
}

// Pass lets d pass, and waits until no goroutine can run.
func Pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
