// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informer-gen/informer-gen/adapter/controllerruntime"
	"github.com/informer-gen/informer-gen/test/internal/poll"
)

// TestNamespacesComeAndGo adds and removes namespaces: the handlers and indexes of a kind follow,
// also those added later.
func TestNamespacesComeAndGo(t *testing.T) {
	c := start(t, controllerruntime.NewCache, cache.Options{
		DefaultNamespaces: map[string]cache.Config{"one": {}},
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}:       {Label: label("app=web")},
			&corev1.ConfigMap{}: {Namespaces: map[string]cache.Config{"one": {}}},
		},
	}, indexes).(*controllerruntime.Cache)
	i, err := c.GetInformer(t.Context(), &corev1.Pod{})
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{}
	if _, err := i.AddEventHandler(r); err != nil {
		t.Fatal(err)
	}
	pods := func(want int, opts ...client.ListOption) {
		t.Helper()
		for _, v := range views {
			list := v.list("Pod")
			if err := c.List(t.Context(), list, opts...); err != nil || len(itemsOf(t, list)) != want {
				t.Errorf("%s: %d Pods, want %d; %v", v, len(itemsOf(t, list)), want, err)
			}
		}
	}
	pods(1)
	if err := errors.Join(c.AddNamespace("two"), c.AddNamespace("two")); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(t.Context(), key("two", "web-2"), &corev1.Pod{}); err != nil {
		t.Error(err)
	}
	pods(2)
	pods(1, client.InNamespace("two"), client.MatchingFields{"app": "web"})
	r.has(t, "add *v1.Pod web-1 initial true", "add *v1.Pod web-2 initial false")
	if err := c.Get(t.Context(), key("two", "none"), &corev1.Secret{}); !apierrors.IsNotFound(err) {
		t.Errorf("Get of a kind without an informer before: %v", err)
	}
	if err := c.Get(t.Context(), key("two", "settings"), &corev1.ConfigMap{}); err == nil || apierrors.IsNotFound(err) {
		t.Errorf("Get of a kind with namespaces of its own: %v", err)
	}
	if err := errors.Join(c.RemoveNamespace(t.Context(), "two"), c.RemoveNamespace(t.Context(), "two")); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(t.Context(), key("two", "web-2"), &corev1.Pod{}); err == nil || apierrors.IsNotFound(err) {
		t.Errorf("Get in a removed namespace: error %v", err)
	}
	pods(1)
	r.has(t, "add *v1.Pod web-1 initial true", "add *v1.Pod web-2 initial false", "delete cache.DeletedFinalStateUnknown web-2")
	if err := c.RemoveNamespace(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	pods(0)
	if err := c.AddNamespace("three"); err != nil {
		t.Fatal(err)
	}
	if !c.WaitForCacheSync(within(t, poll.Patience)) {
		t.Error("WaitForCacheSync() = false")
	}
	pods(1)
}

func TestNamespacesThatCannotChange(t *testing.T) {
	for name, opts := range map[string]cache.Options{
		"all":         {},
		"all by name": {DefaultNamespaces: map[string]cache.Config{"one": {}, cache.AllNamespaces: {}}},
	} {
		c := newUnstarted(t, controllerruntime.NewCache, opts).(*controllerruntime.Cache)
		if c.AddNamespace("two") == nil || c.RemoveNamespace(t.Context(), "one") == nil {
			t.Errorf("AddNamespace or RemoveNamespace with the namespaces %q returned no error", name)
		}
	}
	c := newUnstarted(t, controllerruntime.NewCache, cache.Options{DefaultNamespaces: map[string]cache.Config{"one": {}}}).(*controllerruntime.Cache)
	if c.AddNamespace("") == nil || c.AddNamespace("a/b") == nil {
		t.Error("AddNamespace of an invalid name returned no error")
	}
}

// TestOneNamespaceHangs: reads of other namespaces work.
func TestOneNamespaceHangs(t *testing.T) {
	bothEngines(t, func(t *testing.T, newCache cache.NewCacheFunc) {
		opts := cache.Options{DefaultNamespaces: map[string]cache.Config{"one": {}, "two": {}}}
		c := newUnstarted(t, newCache, opts, instead(in("two"), hang))
		run(t, c)
		if err := c.List(within(t, time.Second), &corev1.PodList{}); !apierrors.IsTimeout(err) {
			t.Errorf("List of all: %v", err)
		}
		if err := c.Get(within(t, poll.Patience), key("one", "web-1"), &corev1.Pod{}); err != nil {
			t.Errorf("Get in the other namespace: %v", err)
		}
		if err := c.Get(within(t, time.Second), key("two", "web-2"), &corev1.Pod{}); !apierrors.IsTimeout(err) {
			t.Errorf("Get in the hanging namespace: error %v, want a timeout", err)
		}
	})
}
