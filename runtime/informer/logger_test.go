// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/informertest"
)

// TestWithLogger has an outage, and looks where it is logged: with the logger of Run's context,
// unless the informer has one of its own, even a silent one.
func TestWithLogger(t *testing.T) {
	for name, c := range map[string]struct {
		opts     []informer.Option
		ctx, own bool // which logger must get the lines
	}{
		"the context's": {ctx: true},
		"its own":       {own: true},
		"none":          {opts: []informer.Option{informer.WithLogger(logr.Discard())}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var ofContext, own strings.Builder
				if c.own {
					c.opts = []informer.Option{informer.WithLogger(logTo(&own))}
				}
				server := newShop()
				server.Outage()
				pods := newPods(t, server.Source(t), c.opts...)
				ctx, cancel := context.WithTimeout(klog.NewContext(t.Context(), logTo(&ofContext)), 10*time.Second)
				defer cancel()
				pods.Run(ctx)
				for where, log := range map[string]struct {
					text string
					want bool
				}{"the context's logger": {ofContext.String(), c.ctx}, "its own logger": {own.String(), c.own}} {
					if got := strings.Contains(log.text, informertest.ErrOutage.Error()); got != log.want || !log.want && log.text != "" {
						t.Errorf("%s got %q", where, log.text)
					}
				}
			})
		})
	}
}

func logTo(b *strings.Builder) logr.Logger {
	return funcr.New(func(prefix, args string) { b.WriteString(prefix + args + "\n") }, funcr.Options{})
}
