// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// TestErrorsNameTheCall shows that an error about wrong use names the informer and the call.
func TestErrorsNameTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pods := newPods(t, newShop().Source(t), informer.WithName("pods"))
		_, acquire := pods.Acquire(noContext)
		lease, err := pods.Acquire(t.Context())
		noError(t, err)
		running := pods.Run(t.Context())
		if !errors.Is(running, informer.ErrRunning) {
			t.Errorf("Run() = %v, want ErrRunning", running)
		}
		fresh := pod("shop", "blue", "")
		for text, err := range map[string]error{
			"Run: the informer is running already": running,
			"Run: the context is nil":              pods.Run(noContext),
			"Acquire: the context is nil":          acquire,
			"Release: the context is nil":          lease.Release(noContext),
			"WaitForCacheSync: the context is nil": pods.WaitForCacheSync(noContext),
			"WaitForCacheSync: option 1 is nil":    pods.WaitForCacheSync(t.Context(), nil),
			"Until: the context is nil":            pods.Until(noContext, func(podSnapshot) (bool, error) { return true, nil }),
			"Until: the condition is nil":          pods.Until(t.Context(), nil),
			"AwaitObject: the object is nil":       pods.AwaitObject(t.Context(), nil),
			"AwaitDeleted: the object is nil":      pods.AwaitDeleted(t.Context(), nil),
			"AwaitObject: shop/blue has no resourceVersion; pass the object that the server returned":  pods.AwaitObject(t.Context(), fresh),
			"AwaitDeleted: shop/blue has no resourceVersion; pass the object that the server returned": pods.AwaitDeleted(t.Context(), fresh),
			"AwaitToken: the token of shop/blue has no resourceVersion":                                pods.AwaitToken(t.Context(), object.TokenOf(podResource, fresh)),
		} {
			want(t, err, "informer pods: "+text)
		}
		noError(t, lease.Release(t.Context()))
	})
}

// TestNothingPanics calls all methods of nil and zero values, and of broken informers. The errors
// name the cause.
func TestNothingPanics(t *testing.T) {
	var nilFactory *factories.Factory
	for call, err := range map[string]error{
		"Start": nilFactory.Start(t.Context()), "Shutdown": nilFactory.Shutdown(t.Context()), "WaitForCacheSync": nilFactory.WaitForCacheSync(t.Context()),
		"Stop": nilFactory.Stop(t.Context(), podsOf(nil)), "Remove": nilFactory.Remove(t.Context(), podsOf(nil)),
	} {
		want(t, err, "informer factory: "+call+": the factory is nil; make one with factories.New")
	}
	if nilFactory.Base() != nil || nilFactory.Informers() != nil {
		t.Error("a nil factory has a Base or informers")
	}
	var zero factories.Factory
	podsOf(&zero)
	want(t, zero.Start(t.Context()), "informer factory: Start: factories.For pods/v1: the factory has no client")

	var none *informer.Registration
	none.Remove()
	if none.HasSynced() || none.Synced() != nil || none.Status().Name != "" {
		t.Error("a nil registration has synced, or has a name")
	}
	want(t, (*informer.Lease)(nil).Release(t.Context()), "informer: Release: the lease is nil; Acquire has failed")
	want(t, (*informer.Lease)(nil).WaitForCacheSync(t.Context()), "informer: WaitForCacheSync: the lease is nil; Acquire has failed")
	same(t, "a nil lease has synced", (*informer.Lease)(nil).HasSynced(), false)

	for why, broken := range map[string]*informer.SharedIndexInformer[*corev1.Pod]{
		"factories.For pods/v1: the factory is nil":                                           podsOf(nil),
		"factories.For pods/v1: the factory has no client":                                    podsOf(factories.New(nil)),
		"factories.For pods/v1: WithTuning: negative Tuning.PageSize -1; 0 means its default": podsOf(newShop().Factory(t), informer.WithTuning(reflector.Tuning{PageSize: -1})),
	} {
		_, acquire := broken.Acquire(t.Context())
		_, handler := broken.AddEventHandler(&journal[*corev1.Pod]{})
		want(t, handler, "informer pods/v1: AddEventHandler: "+why)
		want(t, broken.Until(t.Context(), func(podSnapshot) (bool, error) { return true, nil }), "informer pods/v1: Until: "+why)
		for _, err := range []error{
			acquire, broken.Run(t.Context()), broken.WaitForCacheSync(t.Context()), broken.Run(t.Context()), broken.AwaitResourceVersion(t.Context(), "1"),
			broken.AwaitObject(t.Context(), &corev1.Pod{}), broken.AwaitDeleted(t.Context(), &corev1.Pod{}), broken.AwaitToken(t.Context(), object.Token{}),
		} {
			want(t, err, why)
		}
		want(t, errors.New(broken.Status().String()), "pods/v1: not running: "+why+"; not synced")
		if broken.Status().Reflector.LastError == nil || broken.HasSynced() || broken.Store().Snapshot().Len() != 0 {
			t.Errorf("status of a broken informer: %+v", broken.Status())
		}
	}
	want(t, podsOf((*factories.Factory)(nil)).Run(t.Context()), "factories.For pods/v1: the factory is nil")
}

// TestFactoryRemembersErrors passes every wrong argument to New and For. Start returns an error for
// each.
func TestFactoryRemembersErrors(t *testing.T) {
	server := newShop()
	client := server.Client(t)
	other := store.NewIndex("ByNode", func(_ *corev1.Pod, keys []int) []int { return keys })
	for _, test := range []struct {
		name string
		make func() *factories.Factory
		want string
	}{
		{"no client", func() *factories.Factory { return factories.New(nil) }, "factories.New: the client is nil"},
		{"no option", func() *factories.Factory { return factories.New(client, nil) }, "factories.New: option 1 is nil"},
		{"indexes", func() *factories.Factory { return factories.New(client, informer.WithIndexes(PodByNode)) },
			"factories.New: WithIndexes: not an option of factories.New; use it with factories.For or informer.New"},
		{"no selector", func() *factories.Factory { return factories.New(client, informer.WithLabelSelector(nil)) },
			"factories.New: WithLabelSelector: the selector is nil; use labels.Everything"},
		{"no resource", func() *factories.Factory {
			f := factories.New(client)
			factories.For[*corev1.Pod](f, schema.GroupVersionResource{Version: "v1"})
			return f
		}, `factories.For /v1: "/v1, Resource=" lacks a resource or a version`},
		{"not a pointer", func() *factories.Factory {
			f := factories.New(client)
			factories.For[object.Object](f, podResource)
			factories.For[object.Object](f, podResource) // the error appears once
			return f
		}, "factories.For pods/v1: can't make objects of type object.Object; want a pointer to a struct"},
		{"other options", func() *factories.Factory {
			f := factories.New(client, informer.WithTuning(reflector.Tuning{PageSize: 7}))
			podsOf(f)
			podsOf(f, informer.WithTuning(reflector.Tuning{PageSize: 7}), informer.WithTuning(reflector.Tuning{PageSize: 8}), informer.WithIndexes(PodByNode))
			return f
		}, "factories.For pods/v1: WithTuning: the informer was made with another value; give it to the first For, or to none, or make another informer by WithName"},
		{"other indexes", func() *factories.Factory {
			f := factories.New(client)
			podsOf(f, informer.WithIndexes(PodByNode))
			podsOf(f, informer.WithIndexes(PodByNode))
			podsOf(f, informer.WithIndexes(other))
			return f
		}, `factories.For pods/v1: two indexes have the name "ByNode"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := test.make()
			want(t, f.Start(t.Context()), "informer factory: Start: "+test.want)
			noError(t, f.Shutdown(t.Context()))
		})
	}
	f := factories.New(client)
	for call, f := range map[string]func(context.Context) error{"Start": f.Start, "Shutdown": f.Shutdown, "WaitForCacheSync": func(ctx context.Context) error { return f.WaitForCacheSync(ctx) }} {
		want(t, f(noContext), "informer factory: "+call+": the context is nil")
	}
}
