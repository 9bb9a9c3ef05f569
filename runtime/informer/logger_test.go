// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/informer"
)

// TestWithLogger shows that an outage is logged to the informer's own logger, or else to that of
// Run's context.
func TestWithLogger(t *testing.T) {
	for name, c := range map[string]struct {
		opts     []informer.Option
		ctx, own bool // which logger must get the lines
	}{
		"the context's": {ctx: true},
		"its own":       {own: true},
		"none":          {opts: []informer.Option{informer.WithLogger(logr.Discard())}},
	} {
		inBubble(t, name, func(t *testing.T) {
			var contextLog, own strings.Builder
			if c.own {
				c.opts = []informer.Option{informer.WithLogger(logTo(&own))}
			}
			server := newShop()
			server.Outage()
			pods := newPods(t, server.Source(t), c.opts...)
			ctx, cancel := context.WithTimeout(klog.NewContext(t.Context(), logTo(&contextLog)), 10*time.Second)
			defer cancel()
			pods.Run(ctx)
			for name, log := range map[string]struct {
				text string
				want bool
			}{"the context's logger": {contextLog.String(), c.ctx}, "its own logger": {own.String(), c.own}} {
				if got := strings.Contains(log.text, informertest.ErrOutage.Error()); got != log.want || !log.want && log.text != "" {
					t.Errorf("%s got %q, want lines: %v", name, log.text, log.want)
				}
			}
		})
	}
}

// TestWithHandlerLogger shows that log lines about a handler go to its own logger, if it has one.
func TestWithHandlerLogger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var informerLog, own strings.Builder
		server := newShop(pod("shop", "pod-1", ""))
		pods := newPods(t, server.Source(t), informer.WithLogger(logTo(&informerLog)))
		panics := informer.HandlerFuncs[*corev1.Pod]{AddFunc: func(*corev1.Pod, bool) { panic("oh") }}
		informertest.Add(t, pods, panics, informer.WithHandlerName("quiet"), informer.WithHandlerLogger(logTo(&own)))
		informertest.Add(t, pods, panics, informer.WithHandlerName("loud"))
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		pods.Run(ctx)
		if got := own.String(); !strings.Contains(got, "quiet") || strings.Contains(got, "loud") {
			t.Errorf("the handler's logger got %q", got)
		}
		if got := informerLog.String(); !strings.Contains(got, "loud") || strings.Contains(got, "quiet") {
			t.Errorf("the informer's logger got %q", got)
		}
	})
}
