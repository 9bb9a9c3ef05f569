// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/informer-gen/informer-gen/runtime/internal/request"
)

// reviewTimeout is how long a review may take.
const reviewTimeout = 30 * time.Second

// reviews authorize an open watch again at intervals. Each runs in a goroutine of its own, and
// holds up neither events nor the end of the watch. Between two of them there is only a timer.
type reviews struct {
	// set once at construction
	h          *Handler
	ctx        context.Context
	cancel     context.CancelFunc
	attributes Attributes
	deny       func()

	mu    sync.Mutex // mu guards what follows, and canceling ctx
	timer *time.Timer
}

// review starts the reviews of a watch, which go on until stop is called or ctx ends. When one of
// them finds that the request isn't allowed any more, it calls deny, and is the last one. stop
// cancels a review that is under way. It doesn't wait for it: Authorize may take its time.
func (h *Handler) review(ctx context.Context, req *http.Request, target request.Target, deny func()) (stop func()) {
	if h.config.Authorize == nil {
		return func() {}
	}
	r := &reviews{h: h, attributes: attributesOf(req, target, true), deny: deny}
	r.ctx, r.cancel = context.WithCancel(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timer = time.AfterFunc(h.reviewPause(), r.next)
	return r.stop
}

func (r *reviews) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cancel()
	r.timer.Stop()
}

func (r *reviews) next() {
	if r.ctx.Err() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(r.ctx, reviewTimeout)
	defer cancel()
	err := r.h.config.Authorize(ctx, r.attributes)
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
		r.deny()
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx.Err() == nil {
		r.timer.Reset(r.h.reviewPause())
	}
}

// reviewPause returns the time between two reviews. Watches that began together are not reviewed
// together.
func (h *Handler) reviewPause() time.Duration {
	interval := h.config.ReviewInterval
	return interval - interval/10 + rand.N(interval/5+1)
}
