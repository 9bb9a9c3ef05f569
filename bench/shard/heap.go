// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/manager/shard"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// heapPerMember returns the heap of a member's informer, the mean of four members, in relation to
// that of an informer of all objects: 100 namespaces of 1,000 ConfigMaps of 600 bytes. With a
// spare, each object is in two members.
func heapPerMember(spares int) (ratio float64, err error) {
	const members, of, each = 4, 100, 1000
	server := newServer(of, each, "%d-%d "+strings.Repeat("x", 512))
	one, err := grown(server, nil, of*each)
	if err != nil {
		return 0, err
	}
	var rings []*shard.Ring
	for n := range members {
		ring, err := shard.New(server.Config(), shard.Options{Namespace: "kube-system", Name: fmt.Sprint("heap-", spares), Identity: fmt.Sprint("m", n), Buckets: buckets, Spares: spares})
		if err != nil {
			return 0, err
		}
		rings = append(rings, ring)
	}
	all, err := grown(server, rings, (1+spares)*of*each)
	return all / members / one, err
}

// grown returns by how much the heap grows when informers run: one of each ring, or one of all
// objects, if there are no rings. In sum they have a number of objects.
func grown(server *sourcetest.Server, rings []*shard.Ring, objects int) (float64, error) {
	ctx, cancel := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	defer ended.Wait()
	defer cancel()
	before := heap()
	// Members of one process would share the parts of objects in two of them.
	options := [][]informer.Option{{informer.WithoutSharing()}}
	if rings != nil {
		options = nil
	}
	for _, ring := range rings {
		options = append(options, []informer.Option{informer.WithRing(ring), informer.WithoutSharing()})
	}
	var informers []*informer.SharedIndexInformer[*corev1.ConfigMap]
	for _, opts := range options {
		config := server.Config()
		client, err := source.NewClient(&rest.Config{Host: config.Host, Transport: server, QPS: -1})
		if err != nil {
			return 0, err
		}
		factory := factories.New(client, opts...)
		informers = append(informers, factories.For[*corev1.ConfigMap](factory, corev1.SchemeGroupVersion.WithResource("configmaps")))
		if err := factory.Start(ctx); err != nil {
			return 0, err
		}
		defer func() { _ = factory.Shutdown(context.Background()) }()
	}
	for _, ring := range rings {
		ended.Go(func() {
			_ = ring.Run(ctx, func(ctx context.Context) error { <-ctx.Done(); return nil })
		})
	}
	for range 600 {
		n, least := 0, objects
		for _, i := range informers {
			n, least = n+i.Store().Snapshot().Len(), min(least, i.Store().Snapshot().Len())
		}
		if n == objects && least > objects/8 {
			server.EndWatches() // the server keeps copies of their initial objects
			return heap() - before, nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return 0, errors.New("the informers don't have all objects after a minute")
}

// heap returns the size of the live heap, once it doesn't change any more: the server's goroutines
// hold objects until they have seen the end of a watch.
func heap() float64 {
	var stats runtime.MemStats
	for last := 0.0; ; time.Sleep(300 * time.Millisecond) {
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&stats)
		size := float64(stats.HeapAlloc)
		if math.Abs(size-last) < size/1000 {
			return size
		}
		last = size
	}
}
