// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// TestHotLoops has reconciles that write again and again, over a watch that lags by 10 ms, or not
// at all, so that events come while the reconcile that has written still runs.
func TestHotLoops(t *testing.T) {
	write := func(r *rig, name string) object.Token {
		return object.TokenOf(mapsResource, r.maps.Update(configMap(name, func(m *corev1.ConfigMap) {
			m.Data = map[string]string{"at": time.Now().String()}
		})))
	}
	for name, test := range map[string]struct {
		lag    time.Duration
		writes func(r *rig, n int) []object.Token // in the n-th reconcile
		rest   time.Duration                      // of a reconcile after its writes
		others bool                               // other events queue the key all the time
		want   string                             // the object of the loop; "": there is none
	}{
		"its own status": {lag: 10 * time.Millisecond, writes: func(r *rig, _ int) []object.Token { return []object.Token{write(r, "a")} }, want: "configmaps shop/a"},
		"without a lag":  {writes: func(r *rig, _ int) []object.Token { return []object.Token{write(r, "a")} }, rest: time.Millisecond, want: "configmaps shop/a"},
		"with other writes": {lag: 10 * time.Millisecond, writes: func(r *rig, n int) []object.Token {
			return []object.Token{write(r, "a"), object.TokenOf(podsResource, r.pods.Create(pod(fmt.Sprint("p", n)))), {}}
		}, want: "configmaps shop/a"},
		"writes only what differs": {lag: 10 * time.Millisecond, writes: func(r *rig, n int) []object.Token {
			m, _ := r.maps.Get("shop", "a")
			return []object.Token{object.TokenOf(mapsResource, m)}
		}},
		"one child after the other": {lag: 10 * time.Millisecond, writes: func(r *rig, n int) []object.Token {
			return []object.Token{object.TokenOf(mapsResource, r.maps.Create(configMap(fmt.Sprint("child", n))))}
		}},
		"a migration of 150 steps": {lag: 10 * time.Millisecond, writes: func(r *rig, n int) []object.Token {
			if n > 150 {
				return nil
			}
			return []object.Token{write(r, "a")}
		}},
		"because of others": {lag: 10 * time.Millisecond, others: true, writes: func(r *rig, _ int) []object.Token { return []object.Token{write(r, "a")} }},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				r.maps.Create(configMap("a"))
				r.maps.Create(configMap("other"))
				var log strings.Builder
				n := 0
				l := r.lag(test.lag)
				calls := &calls{do: func(context.Context, object.Key) (result controller.Result, _ error) {
					n++
					result.Await = l.write(func() []object.Token { return test.writes(r, n) })
					time.Sleep(test.rest)
					return result, nil
				}}
				toA := func(_ *corev1.ConfigMap, dst []object.Key) []object.Key { return append(dst, key("a")) }
				c := r.new(calls.reconcile, controller.Options{}, controller.Watches(r.mapInformer, toA))
				ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logTo(&log)))
				var wg sync.WaitGroup
				wg.Go(func() { _ = c.Run(ctx) })
				synctest.Wait()
				c.Enqueue(key("a"))
				rounds := 200
				if test.want != "" && test.lag > 0 {
					rounds = 1100
				}
				for range rounds {
					if test.others {
						r.maps.Update(configMap("other"))
					}
					time.Sleep(10 * time.Millisecond)
				}
				status := c.Status()
				cancel()
				wg.Wait()
				if test.want == "" {
					same(t, "loops", status.HotLoops, []controller.HotLoop{})
					same(t, "counted", status.Totals.HotLoops, 0)
					if strings.Contains(log.String(), "again and again") {
						t.Errorf("after %d reconciles: %s", n, log.String())
					}
					return
				}
				if len(status.HotLoops) != 1 || status.HotLoops[0].Key != "a" || status.HotLoops[0].Object != test.want || status.HotLoops[0].Reconciles < 1000 {
					t.Errorf("after %d reconciles: %+v", n, status.HotLoops)
				}
				same(t, "counted", status.Totals.HotLoops, 1)
				if lines := strings.Count(log.String(), "again and again"); lines < 1 || lines > 9 {
					t.Errorf("%d lines: %s", lines, log.String())
				}
			})
		})
	}
}
