// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/informer-gen/informer-gen/internal/request"
)

const (
	reviewTimeout = 30 * time.Second
	// maxFailedIntervals is the number of intervals after which a watch without a review ends.
	maxFailedIntervals = 5
)

// reviews authorize an open watch again at intervals. Each review runs in its own goroutine, and
// delays neither events nor the end of the watch.
type reviews struct {
	// set once at construction
	h          *Handler
	ctx        context.Context // ends with the watch, and when a review denies it
	cancel     context.CancelFunc
	attributes Attributes

	mu          sync.Mutex // mu guards what follows, and the cancellation of ctx
	timer       *time.Timer
	lastAllowed time.Time // when the request was last allowed
	endWatch    func()    // ends the watch; nil until that is possible
}

func (h *Handler) startReviews(ctx context.Context, req *http.Request, target request.Target) *reviews {
	r := &reviews{h: h, lastAllowed: time.Now()}
	r.ctx, r.cancel = context.WithCancel(ctx)
	if h.config.Authorize == nil {
		return r
	}
	r.attributes = attributesOf(req, target, true)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timer = time.AfterFunc(h.reviewPause(), r.review)
	return r
}

// setEnd sets the function that ends the watch when a review denies it. If one already has, setEnd
// calls it at once.
func (r *reviews) setEnd(end func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endWatch = end
	if r.ctx.Err() != nil {
		end()
	}
}

// stop ends the reviews. It cancels one under way without waiting for it.
func (r *reviews) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cancel()
	if r.timer != nil {
		r.timer.Stop()
	}
}

func (r *reviews) review() {
	if r.ctx.Err() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(r.ctx, reviewTimeout)
	defer cancel()
	err := r.h.config.Authorize(ctx, r.attributes)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx.Err() != nil {
		return
	}
	if err == nil {
		r.lastAllowed = time.Now()
	}
	sinceAllowed := time.Since(r.lastAllowed)
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || sinceAllowed/maxFailedIntervals >= r.h.config.ReviewInterval {
		r.cancel()
		if r.endWatch != nil {
			r.endWatch()
		}
		return
	}
	r.timer.Reset(r.h.reviewPause())
}

// reviewPause returns the time until the next review. It is random, so watches that began together
// are not reviewed together.
func (h *Handler) reviewPause() time.Duration {
	interval := h.config.ReviewInterval
	return interval - interval/10 + rand.N(interval/5+1)
}
