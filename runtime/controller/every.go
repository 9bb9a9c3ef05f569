// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/workqueue"
)

func every(ctx context.Context, period time.Duration, jitter float64, keys func() iter.Seq[object.Key], add addFunc) {
	for {
		timer := time.NewTimer(jittered(period, jitter))
		select {
		case <-timer.C:
			addEach(ctx, period, keys, add)
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

func jittered(period time.Duration, jitter float64) time.Duration {
	if more := rand.Float64() * jitter * float64(period); more < float64(math.MaxInt64-period) {
		return period + time.Duration(more)
	}
	return math.MaxInt64
}

func addEach(ctx context.Context, period time.Duration, keys func() iter.Seq[object.Key], add addFunc) {
	defer func() {
		if v := recover(); v != nil {
			klog.FromContext(ctx).Error(fmt.Errorf("panic: %v", v), "Failed to list the keys to reconcile periodically", "period", period, "stack", string(debug.Stack()))
		}
	}()
	for key := range keys() {
		if ctx.Err() != nil {
			return
		}
		add(key, workqueue.AddOptions{Level: workqueue.Low})
	}
}
