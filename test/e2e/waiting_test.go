// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/reason"
)

// With FailOn, WaitForCacheSync returns at once on a state that doesn't heal by itself. Without it,
// the wait ends as soon as the state is repaired.
func TestWaitForCacheSyncEndsEarly(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		fault fault
		is    func(error) bool
		early bool // FailOn without reasons ends the wait
	}{
		{fault{status: http.StatusUnauthorized}, apierrors.IsUnauthorized, true},
		{fault{status: http.StatusForbidden}, apierrors.IsForbidden, true},
		{fault{status: http.StatusNotFound}, apierrors.IsNotFound, true},
		{fault{status: http.StatusInternalServerError}, apierrors.IsInternalError, false},
		{fault{status: http.StatusTooManyRequests}, apierrors.IsTooManyRequests, false},
	} {
		t.Run(http.StatusText(tt.fault.status), func(t *testing.T) {
			t.Parallel()
			ns, other := shared.crates(t), shared.crates(t)
			ns.create(t, crate("blue"))
			p := newProxy(t, shared.url, func(r *request) fault {
				if r.of(ns) {
					return tt.fault
				}
				return fault{}
			})
			f := factories.New(connect(t, p.url), soon)
			broken := factories.For[*Crate](f, crates, informer.WithNamespace(ns.namespace), informer.WithName("broken"))
			sound := factories.For[*Crate](f, crates, informer.WithNamespace(other.namespace), informer.WithName("sound"))
			h, _ := listen(t, broken)
			run(t, f)
			awaitStatus(t, broken, "refused", func(s informer.Status) bool { return s.Reflector.Reason != reason.None })
			if err := sound.WaitForCacheSync(deadline(t)); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancelCause(deadline(t))
			if !tt.early {
				time.AfterFunc(50*time.Millisecond, func() { cancel(errEnough) })
			}
			defer cancel(nil)
			err := f.WaitForCacheSync(ctx, informer.FailOn())
			if !tt.is(err) || (ctx.Err() != nil) == tt.early {
				t.Errorf("WaitForCacheSync gives %v", err)
			}
			// neither of which it is
			for _, reasons := range [][]reason.Reason{nil, {reason.Expired}} {
				opts := []informer.WaitOption{informer.FailOn(reasons...)}
				if reasons == nil {
					opts = nil
				}
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
				err = f.WaitForCacheSync(ctx, opts...)
				cancel()
				if !tt.is(err) || !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("WaitForCacheSync gives %v, want the end of the wait, and the reason", err)
				}
			}
			ctx = deadline(t)
			if err := broken.WaitForCacheSync(ctx, informer.FailOn(broken.Status().Reflector.Reason)); !tt.is(err) || ctx.Err() != nil {
				t.Errorf("WaitForCacheSync of the informer gives %v", err)
			}
			if text := err.Error(); !strings.Contains(text, "broken") || strings.Contains(text, "sound") {
				t.Errorf("WaitForCacheSync gives %q, want the broken informer only", text)
			}

			p.setFaults(nil)
			if err := f.WaitForCacheSync(deadline(t)); err != nil {
				t.Fatal(err)
			}
			agree(t, ns.state(t), h, broken.Store())
		})
	}
}

// A kind that is not installed ends the wait with FailOn. Without it, the informer syncs when the
// kind has been installed.
func TestWaitingForAKind(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	here, missing := c.crates(t), in{c, laterCrates, "later"}
	here.createMany(t, 3)
	f := factories.New(connect(t, c.url), soon)
	i := factories.For[*Crate](f, here.gvr, informer.WithNamespace(here.namespace))
	later := factories.For[*Crate](f, missing.gvr, informer.WithNamespace(missing.namespace))
	metadata := factories.ForMetadata(f, missing.gvr, informer.WithNamespace(missing.namespace, "never"))
	h, _ := listen(t, i)
	laterHistory, _ := listen(t, later)
	metadataHistory, _ := listen(t, metadata)
	run(t, f)
	ctx := deadline(t)
	err := f.WaitForCacheSync(ctx, informer.FailOn(reason.NotFound))
	if !apierrors.IsNotFound(err) || ctx.Err() != nil || !strings.Contains(err.Error(), "crates.later.example.com/v1") {
		t.Errorf("WaitForCacheSync gives %v, want the kind that is missing", err)
	}
	agree(t, here.state(t), h, i.Store()) // it is not held up

	synced := make(chan error, 1)
	go func() { synced <- f.WaitForCacheSync(deadline(t), informer.FailOn(reason.Forbidden)) }()
	c.installLater(t)
	if err := <-synced; err != nil {
		t.Fatal(err)
	}
	missing.createSoon(t, "blue")
	laterHistory.wantLines(0, "add blue")
	metadataHistory.wantLines(0, "add blue")
	agree(t, missing.state(t), laterHistory, later.Store())
	agree(t, missing.state(t), metadataHistory, metadata.Store())
}
