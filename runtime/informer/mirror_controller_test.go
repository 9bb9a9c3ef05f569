// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// TestHammerController changes objects from many goroutines, with deletions and new objects of the
// same name. Every handler gets a legal history that ends with the server's objects.
func TestHammerController(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop()
		pods := newPods(t, server.Source(t))
		all := []*journal[*corev1.Pod]{{}, {}}
		informertest.Add(t, pods, all[0], informer.WithBacklogThreshold(informer.Never))
		informertest.Add(t, pods, all[1], informer.WithBacklogThreshold(0))
		start(t, pods)
		var writers sync.WaitGroup
		for writer := range 10 {
			writers.Go(func() {
				existing, next := sets.New[string](), 0
				for range 100 {
					name, exists := existing.PopAny()
					switch {
					case !exists || rand.IntN(3) == 0:
						if exists {
							existing.Insert(name)
						}
						name = fmt.Sprintf("pod-%d-%d", writer, next%7)
						if next++; existing.Has(name) {
							continue
						}
						server.Pods.Create(pod("shop", name, ""))
						existing.Insert(name)
					case rand.IntN(2) == 0:
						server.Move(name, "node")
						existing.Insert(name)
					default:
						server.Pods.Delete("shop", name)
					}
				}
			})
		}
		writers.Wait()
		for _, j := range all {
			j.Check(t, pods)
		}
		same(t, "objects", pods.Store().Snapshot().Len(), len(server.Pods.All()))
		// Without a threshold, each change is one event; the server's first version is 2.
		same(t, "version", fmt.Sprint(len(all[0].Take())+1), server.ResourceVersion())
	})
}

// TestTransformingInformerRace has a transform change objects while handlers and readers read the
// store.
func TestTransformingInformerRace(t *testing.T) {
	server := newShop()
	for n := range 5 {
		server.Pods.Create(labelled("shop", numbered(n), map[string]string{"kept": "no"}))
	}
	pods := newPods(t, server.Source(t), informer.WithResyncPeriod(time.Second), informer.WithTransform(func(pod *corev1.Pod) (*corev1.Pod, error) {
		pod.Labels = map[string]string{"kept": "yes"}
		return pod, nil
	}))
	check := func(pod *corev1.Pod) {
		if pod.Labels["kept"] != "yes" {
			t.Errorf("pod %s is not transformed", pod.Name)
		}
	}
	informertest.Add(t, pods, informer.HandlerFuncs[*corev1.Pod]{
		AddFunc:    func(pod *corev1.Pod, _ bool) { check(pod) },
		UpdateFunc: func(old, pod *corev1.Pod) { check(old); check(pod) },
		DeleteFunc: func(d informer.Deleted[*corev1.Pod]) { check(d.Object) },
	})
	ctx, cancel := context.WithCancel(t.Context())
	var all, writers sync.WaitGroup
	all.Go(func() { _ = pods.Run(ctx) })
	all.Go(func() {
		for ctx.Err() == nil {
			for pod := range pods.Store().Snapshot().All() {
				check(pod)
			}
		}
	})
	for n := range 5 {
		writers.Go(func() {
			for range 100 {
				server.Pods.Update(labelled("shop", numbered(n), map[string]string{"kept": "no"}))
			}
		})
	}
	writers.Wait()
	noError(t, pods.AwaitResourceVersion(ctx, server.ResourceVersion()))
	cancel()
	all.Wait()
}

// TestStoreResourceVersionWithNonMetaTransform has transforms with wrong results. Each is an error,
// and the store stays as it is. A result without metadata does not compile: it must have the
// informer's type.
func TestStoreResourceVersionWithNonMetaTransform(t *testing.T) {
	for name, transform := range map[string]informer.Option{
		"another type": informer.WithTransform(func(object.Object) (object.Object, error) { return &metav1.PartialObjectMetadata{}, nil }),
		"nil":          informer.WithTransform(func(*corev1.Pod) (*corev1.Pod, error) { return nil, nil }),
		"no metadata":  informer.WithTransform(func(*corev1.Pod) (*corev1.Pod, error) { return &corev1.Pod{}, nil }),
		"an error":     informer.WithTransform(func(pod *corev1.Pod) (*corev1.Pod, error) { return pod, errors.New("no") }),
		"a panic":      informer.WithTransform(func(*corev1.Pod) (*corev1.Pod, error) { panic("no") }),
	} {
		inBubble(t, name, func(t *testing.T) {
			pods := newPods(t, newShop(pod("shop", "pod-1", "")).Source(t), transform, informer.WithLogger(discard))
			start(t, pods)
			pass(time.Minute)
			wantTransformError(t, pods)
		})
	}
}
