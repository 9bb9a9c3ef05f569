// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informer-gen/informer-gen/adapter/controllerruntime"
	"github.com/informer-gen/informer-gen/bench/data"
	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/probe"
	"github.com/informer-gen/informer-gen/bench/report"
	"github.com/informer-gen/informer-gen/bench/rig"
	"github.com/informer-gen/informer-gen/bench/server"
)

func adapterBenches() []harness.Bench {
	return []harness.Bench{
		adapterBench("pods", "Pods", somePods), adapterBench("protobuf", "Pods in protobuf", protobufPods),
		adapterBench("crs", "Certificates and HTTPRoutes", customResources), readsBench(),
	}
}

func adapterBench(name, what string, has func(harness.Sizes) server.World) harness.Bench {
	return harness.Bench{
		Name: "adapter/" + name,
		Title: func(z harness.Sizes) string {
			return fmt.Sprintf("under controller-runtime: initial sync of %s %s", report.Digits(float64(has(z).Objects())), what)
		},
		World: has,
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			return func() (o harness.Outcome, err error) {
				base := probe.LiveHeap()
				var c *controllerCache
				cost, err := probe.CostOf(func() (err error) {
					c, err = startCache(e, has(e.Sizes))
					return err
				})
				if err != nil {
					return o, err
				}
				o.Values = map[string]float64{
					harness.CPUTime:     float64(cost.CPU),
					harness.RetainedPer: (probe.LiveHeap() - base) / float64(has(e.Sizes).Objects()),
				}
				o.Seen, err = c.see()
				err = errors.Join(err, c.stop())
				runtime.KeepAlive(c)
				return o, err
			}, nil, server.Begin(e.Server)
		},
	}
}

func readsBench() harness.Bench {
	return harness.Bench{
		Name: "adapter/reads",
		Title: func(z harness.Sizes) string {
			return "under controller-runtime: reads of " + report.Digits(float64(z.Pods)) + " Pods"
		},
		World: somePods,
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			return func() (o harness.Outcome, err error) {
				c, err := startCache(e, somePods(e.Sizes))
				if err != nil {
					return o, err
				}
				o.Values = map[string]float64{}
				err = errors.Join(c.reads(o.Values), c.stop())
				return o, err
			}, nil, server.Begin(e.Server)
		},
	}
}

func (c *controllerCache) reads(values map[string]float64) error {
	ctx := context.Background()
	var all corev1.PodList
	if err := c.List(ctx, &all); err != nil {
		return err
	}
	pods := make([]*corev1.Pod, len(all.Items))
	for i := range all.Items {
		pods[i] = &all.Items[i]
	}
	keys := keysOf(pods)
	get := func() error {
		var pod corev1.Pod
		for _, key := range keys {
			if err := c.Get(ctx, client.ObjectKey(key), &pod); err != nil {
				return err
			}
		}
		return nil
	}
	var err error
	if values["Get, CPU time"], err = repeatedly(get); err != nil {
		return err
	}
	values["Get, CPU time"] /= float64(len(keys))
	values["List, CPU time"], err = repeatedly(func() error { return c.List(ctx, &corev1.PodList{}) })
	return err
}

// repeatedly returns the CPU time of do, called for long enough to include several collections: one
// alone takes as long as many rounds of Gets.
func repeatedly(do func() error) (float64, error) {
	times := 0
	cost, err := probe.CostOf(func() error {
		for began := time.Now(); times < 10 || time.Since(began) < 2*time.Second; times++ {
			if err := do(); err != nil {
				return err
			}
		}
		return nil
	})
	return cost.Per(times).CPU, err
}

type controllerCache struct {
	cache.Cache
	world     server.World
	transport *http.Transport
	end       func() error
}

func startCache(e harness.Env, w server.World) (*controllerCache, error) {
	config := server.From{Server: e.Server, Protobuf: w.Protobuf}.Config()
	transport := &http.Transport{}
	config.Transport = transport
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, kind := range w.Kinds() {
		mapper.AddSpecific(kind.GVK(), kind.Resource, kind.Resource, meta.RESTScopeNamespace)
	}
	open := cache.New
	if e.Side == harness.Ours {
		open = controllerruntime.NewCache
	}
	made, err := open(config, cache.Options{Scheme: data.Scheme, Mapper: mapper, DefaultTransform: cache.TransformStripManagedFields()})
	if err != nil {
		return nil, err
	}
	c := &controllerCache{Cache: made, world: w, transport: transport}
	if err := c.sync(); err != nil {
		return nil, errors.Join(err, c.stop())
	}
	return c, nil
}

func (c *controllerCache) sync() error {
	c.end = runUntil(c.Start)
	var all []toolscache.DoneChecker
	for _, kind := range c.world.Kinds() {
		i, err := c.GetInformerForKind(context.Background(), kind.GVK(), cache.BlockUntilSynced(false))
		if err != nil {
			return err
		}
		all = append(all, i.HasSyncedChecker())
	}
	for _, one := range all { // at once; theirs polls each 100 ms
		if err := rig.Wait(one.Done(), "the informer to sync"); err != nil {
			return err
		}
	}
	return nil
}

func (c *controllerCache) see() (saw harness.Seen, err error) {
	for _, kind := range c.world.Kinds() {
		empty, err := data.Scheme.New(kind.Resource.GroupVersion().WithKind(kind.Name + "List"))
		if err != nil {
			return saw, err
		}
		list := empty.(client.ObjectList)
		if err := c.List(context.Background(), list, client.UnsafeDisableDeepCopy); err != nil {
			return saw, err
		}
		err = meta.EachListItem(list, func(item apiruntime.Object) error {
			obj, err := meta.Accessor(item)
			if err == nil {
				saw.Objects++
				saw.Digest += rig.Digest(obj.GetNamespace(), obj.GetName(), obj.GetResourceVersion())
			}
			return err
		})
		if err != nil {
			return saw, err
		}
	}
	return saw, nil
}

func (c *controllerCache) stop() error {
	defer c.transport.CloseIdleConnections()
	return c.end()
}
