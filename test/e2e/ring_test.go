// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/manager/shard"
	"github.com/informer-gen/informer-gen/test/internal/poll"
)

// TestRingReadsShards has members of a ring read custom resources from a server with shards, whose
// lists don't say that it applies the selector. The second member joins later.
func TestRingReadsShards(t *testing.T) {
	t.Parallel()
	const count = 560 // half of them are more than 200, and less than 400
	c := newCluster(t, "--feature-gates", "ShardedListAndWatch=true", "--built-in-kinds")
	namespaces := collection{c, corev1.SchemeGroupVersion.WithResource("namespaces"), ""}
	for n := range count {
		name := fmt.Sprintf("team-%03d", n)
		namespaces.create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
		collection{c, crates, name}.create(t, crate("one"))
	}
	for _, by := range []shard.By{shard.ByNamespace, shard.ByUID} {
		t.Run(by.String(), func(t *testing.T) {
			first := joinRing(t, c, by)
			awaitParts(t, count, informer.RingStatus{Mode: "client", Buckets: 64, Wanted: 64, Loaded: 64}, first)
			second := joinRing(t, c, by)
			awaitParts(t, count, informer.RingStatus{Mode: "server", Buckets: 64, Wanted: 32, Loaded: 32}, first, second)
		})
	}
}

// joinRing starts a member of a ring. It ends with the test.
func joinRing(t *testing.T, c *cluster, by shard.By) *informer.SharedIndexInformer[*metav1.PartialObjectMetadata] {
	t.Helper()
	ring, err := shard.New(&rest.Config{Host: c.url, QPS: -1}, shard.Options{
		Namespace: "default", Name: strings.ToLower(by.String()), By: by, RetryPeriod: 500 * time.Millisecond, JoinDelay: time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	f := factories.New(connect(t, c.url), informer.WithRing(ring))
	i := factories.For[*metav1.PartialObjectMetadata](f, crates)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	if err := f.Start(ctx); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- ring.Run(ctx, func(ctx context.Context) error { <-ctx.Done(); return nil }) }()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-ended, f.Shutdown(context.WithoutCancel(ctx))); !errors.Is(err, context.Canceled) {
			t.Errorf("a member ends with %v", err)
		}
	})
	return i
}

// awaitParts waits until informers have parts of a ring, and all objects together.
func awaitParts(t *testing.T, objects int, part informer.RingStatus, informers ...*informer.SharedIndexInformer[*metav1.PartialObjectMetadata]) {
	t.Helper()
	poll.Until(t, func() error {
		sum := 0
		for _, i := range informers {
			status := i.Status()
			if sum += status.Objects; *status.Ring != part {
				return fmt.Errorf("%v; want the part %+v", status, part)
			}
		}
		if sum != objects {
			return fmt.Errorf("%d objects, want %d", sum, objects)
		}
		return nil
	})
}
