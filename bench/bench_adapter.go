// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/informer-gen/informer-gen/adapter/controllerruntime"
	"github.com/informer-gen/informer-gen/bench/data"
	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/probe"
	"github.com/informer-gen/informer-gen/bench/report"
	"github.com/informer-gen/informer-gen/bench/rig"
	"github.com/informer-gen/informer-gen/bench/server"
)

// adapterBenches compare caches under controller-runtime: the one of adapter/controllerruntime, and
// its own, on client-go's informers.
func adapterBenches() []harness.Bench {
	pods := func(z harness.Sizes) server.World { return server.World{Pods: z.Pods} }
	inProtobuf := func(z harness.Sizes) server.World { return server.World{Pods: z.Pods, Protobuf: true} }
	customs := func(z harness.Sizes) server.World {
		return server.World{Certificates: z.CRs / 2, Routes: z.CRs - z.CRs/2}
	}
	return []harness.Bench{
		adapterSyncBench("pods", "Pods", pods, syncMarks{wall: 0.25, cpu: 0.25, peak: 0.35, retained: 0.42}),
		adapterSyncBench("pods-protobuf", "Pods in protobuf", inProtobuf, syncMarks{wall: 0.25, cpu: 0.25, peak: 0.35, retained: 0.42}),
		adapterSyncBench("crs", "Certificates and HTTPRoutes", customs, syncMarks{wall: 0.25, cpu: 0.25, peak: 0.35, retained: 0.42}),
		adapterReadBench(),
	}
}

// controllerCache is a cache of controller-runtime that runs.
type controllerCache struct {
	cache.Cache
	stop func() error
}

func newControllerCache(e harness.Env, w server.World) (*controllerCache, error) {
	config := &rest.Config{Host: e.Server, QPS: -1}
	if !w.Protobuf {
		config.ContentType = "application/json"
	}
	transport := &http.Transport{}
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{corev1.SchemeGroupVersion})
	for _, kind := range []data.Kind{data.Pods, data.Certificates, data.Routes} {
		singular := kind.Resource
		mapper.AddSpecific(kind.GVK(), kind.Resource, singular, meta.RESTScopeNamespace)
	}
	newCache := cache.New
	if e.Side == harness.Ours {
		newCache = controllerruntime.NewCache
	}
	c, err := newCache(config, cache.Options{
		Scheme:           data.Scheme,
		Mapper:           mapper,
		HTTPClient:       &http.Client{Transport: transport},
		DefaultTransform: cache.TransformStripManagedFields(),
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- c.Start(ctx) }()
	return &controllerCache{c, func() error {
		defer transport.CloseIdleConnections()
		cancel()
		return <-ended
	}}, nil
}

// sync waits until the cache has all objects of the world.
func (c *controllerCache) sync(w server.World) error {
	var kinds []client.Object
	if w.Pods > 0 {
		kinds = append(kinds, &corev1.Pod{})
	}
	if w.Certificates > 0 {
		kinds = append(kinds, &data.Certificate{})
	}
	if w.Routes > 0 {
		kinds = append(kinds, &gatewayv1.HTTPRoute{})
	}
	ctx := context.Background()
	for _, kind := range kinds {
		if _, err := c.GetInformer(ctx, kind, cache.BlockUntilSynced(false)); err != nil {
			return err
		}
	}
	for _, kind := range kinds { // theirs looks each 100 ms; this returns as soon as it knows
		i, err := c.GetInformer(ctx, kind, cache.BlockUntilSynced(false))
		if err != nil {
			return err
		}
		if err := rig.Wait(i.HasSyncedChecker().Done(), "the informer to sync"); err != nil {
			return err
		}
	}
	return nil
}

// adapterSyncBench measures the initial sync of a cache without handlers.
func adapterSyncBench(name, what string, has func(harness.Sizes) server.World, marks syncMarks) harness.Bench {
	return harness.Bench{
		Name: "adapter/controller-runtime/sync/" + name,
		Title: func(z harness.Sizes) string {
			return fmt.Sprintf("under controller-runtime: initial sync of %s %s", report.Digits(float64(has(z).Objects())), what)
		},
		Measures: []harness.Measure{
			{Name: wallTime, Unit: harness.Time, Ratio: marks.wall},
			{Name: cpuUsed, Unit: harness.Time, Ratio: marks.cpu},
			{Name: peakHeap, Unit: harness.Bytes, Ratio: marks.peak},
			{Name: retainedPer, Unit: harness.Bytes, Ratio: marks.retained},
		},
		World: has,
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			w := has(e.Sizes)
			return func() (harness.Outcome, error) { return adapterSyncOnce(e, w) }, nil, server.Begin(e.Server)
		},
	}
}

func adapterSyncOnce(e harness.Env, w server.World) (o harness.Outcome, err error) {
	base := probe.LiveHeap()
	var c *controllerCache
	peak := probe.WatchHeap()
	cost, err := probe.CostOf(func() (err error) {
		if c, err = newControllerCache(e, w); err != nil {
			return err
		}
		return c.sync(w)
	})
	highest := peak() - base
	if c == nil {
		return o, err
	}
	retained := probe.LiveHeap() - base
	o = harness.Outcome{Values: map[string]float64{
		wallTime:    float64(cost.Wall),
		cpuUsed:     float64(cost.CPU),
		peakHeap:    highest,
		retainedPer: retained / float64(w.Objects()),
	}}
	if err == nil {
		o.Seen, err = c.see(w)
	}
	err = errors.Join(err, c.stop())
	runtime.KeepAlive(c)
	return o, err
}

// see sums up what Lists have. No handler has seen the objects: each counts as an event, too.
func (c *controllerCache) see(w server.World) (saw harness.Seen, err error) {
	for _, one := range []struct {
		list client.ObjectList
		n    int
	}{{&corev1.PodList{}, w.Pods}, {&data.CertificateList{}, w.Certificates}, {&gatewayv1.HTTPRouteList{}, w.Routes}} {
		if one.n == 0 {
			continue
		}
		if err := c.List(context.Background(), one.list, client.UnsafeDisableDeepCopy); err != nil {
			return saw, err
		}
		err = errors.Join(err, meta.EachListItem(one.list, func(item kruntime.Object) error {
			obj := item.(client.Object)
			saw.Objects++
			saw.Events++
			saw.Digest += rig.Digest(obj.GetNamespace(), obj.GetName(), obj.GetResourceVersion())
			return nil
		}))
	}
	return saw, err
}

const (
	getCopied    = "Get, CPU time"
	getUncopied  = "Get without a copy, CPU time"
	listCopied   = "List, CPU time"
	listUncopied = "List without copies, CPU time"
)

// adapterReadBench measures the reads of a client.
func adapterReadBench() harness.Bench {
	pods := func(z harness.Sizes) server.World { return server.World{Pods: z.Pods} }
	return harness.Bench{
		Name: "adapter/controller-runtime/reads",
		Title: func(z harness.Sizes) string {
			return "under controller-runtime: reads of " + report.Digits(float64(z.Pods)) + " Pods"
		},
		Measures: []harness.Measure{
			{Name: getCopied, Unit: harness.Time, Ratio: 0.8},
			{Name: getUncopied, Unit: harness.Time, Ratio: 0.5},
			{Name: listCopied, Unit: harness.Time, Ratio: 0.8},
			{Name: listUncopied, Unit: harness.Time, Ratio: 0.5},
		},
		World: pods,
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			w := pods(e.Sizes)
			return func() (harness.Outcome, error) { return adapterReadOnce(e, w) }, nil, server.Begin(e.Server)
		},
	}
}

func adapterReadOnce(e harness.Env, w server.World) (o harness.Outcome, err error) {
	c, err := newControllerCache(e, w)
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	if err := c.sync(w); err != nil {
		return o, err
	}
	var all corev1.PodList
	if err := c.List(context.Background(), &all, client.UnsafeDisableDeepCopy); err != nil {
		return o, err
	}
	var keys []client.ObjectKey
	for i := range all.Items {
		keys = append(keys, client.ObjectKeyFromObject(&all.Items[i]))
	}
	all = corev1.PodList{}
	if o.Seen, err = c.see(w); err != nil {
		return o, err
	}
	o.Values = map[string]float64{}
	ctx := context.Background()
	get := func(opts ...client.GetOption) func() error {
		return func() error {
			var pod corev1.Pod
			for _, key := range keys {
				if err := c.Get(ctx, key, &pod, opts...); err != nil {
					return err
				}
			}
			return nil
		}
	}
	list := func(opts ...client.ListOption) func() error {
		return func() error { return c.List(ctx, &corev1.PodList{}, opts...) }
	}
	const times = 10
	for _, read := range []struct {
		name string
		do   func() error
		per  int // of what do does
	}{
		{getUncopied, get(client.UnsafeDisableDeepCopy), len(keys)},
		{getCopied, get(), len(keys)},
		{listUncopied, list(client.UnsafeDisableDeepCopy), 1},
		{listCopied, list(), 1},
	} {
		cost, err := probe.CostOf(func() error {
			for range times {
				if err := read.do(); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return o, err
		}
		o.Values[read.name] = cost.Per(times * read.per).CPU
	}
	return o, nil
}
