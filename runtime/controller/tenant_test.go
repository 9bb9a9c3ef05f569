// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/object"
)

func mapIn(namespace, name string) *corev1.ConfigMap {
	return configMap(name, func(m *corev1.ConfigMap) { m.Namespace = namespace })
}

func TestTenantsTakeTurns(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		for n := range 100 {
			r.maps.Create(mapIn("large", fmt.Sprintf("map-%02d", n)))
		}
		r.maps.Create(mapIn("small", "blue"))
		r.maps.Create(mapIn("small", "green"))
		calls := &calls{do: sleep(time.Second)}
		options := controller.Options{Tenant: func(key object.Key) string { return key.Namespace }}
		c, _ := r.run(calls, options, controller.For(r.mapInformer))
		same(t, "tenants", c.Status().Queue.Tenants, 2)
		time.Sleep(4 * time.Second)
		same(t, "reconciles", calls.take(), []string{"large/map-00", "small/blue", "large/map-01", "small/green", "large/map-02"})
		time.Sleep(time.Hour)
		same(t, "further reconciles", len(calls.take()), 97)
		same(t, "tenants at the end", c.Status().Queue.Tenants, 0)
	})
}

// TestPanickingTenant: a panic in a handler concerns only that key; one in Enqueue and in Run is
// the caller's, and the controller can run again.
func TestPanickingTenant(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		for _, name := range []string{"a", "b", "c"} {
			r.maps.Create(configMap(name))
		}
		bad := object.Key{Namespace: "shop", Name: "b"}
		panics, calls := true, &calls{}
		c := r.new(calls.reconcile, controller.Options{Tenant: func(key object.Key) string {
			if panics && key == bad {
				panic("in the test")
			}
			return key.Namespace
		}}, controller.For(r.mapInformer))
		mustPanic := func(name string, f func()) {
			t.Helper()
			defer func() { same(t, "panic in "+name, recover(), any("in the test")) }()
			f()
		}
		c.Enqueue(bad)
		mustPanic("Run", func() { _ = c.Run(t.Context()) })
		same(t, "running", c.Status().Running, false)

		panics = false
		r.start(c)
		synctest.Wait()
		same(t, "reconciles", calls.sorted(), []string{"shop/a", "shop/b", "shop/c"})

		panics = true
		r.maps.Update(configMap("b"))
		r.maps.Update(configMap("c"))
		same(t, "reconciles after updates", calls.sorted(), []string{"shop/c"})
		mustPanic("Enqueue", func() { c.Enqueue(bad) })
	})
}
