// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/lru"

	"github.com/informer-gen/informer-gen/cmd/informer-relay/internal/configfile"
	"github.com/informer-gen/informer-gen/server/serve"
)

// Sleeps in these tests are in bubbles of testing/synctest.

func TestAnswersExpire(t *testing.T) {
	for _, mode := range []configfile.Mode{configfile.TokenReview, configfile.SelfSubjectAccessReview} {
		t.Run(string(mode), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newReviewer()
				a := newAccess(t, configfile.Access{Mode: mode}, r)
				ask := func(token string) (sent int) {
					before := r.requests("")
					_ = a.Authorize(contextOf(t, a, bearer(token), nil), listShop)
					return r.requests("") - before
				}
				fresh := ask("ann")
				if fresh == 0 || ask("ann") != 0 {
					t.Error("an answer was not kept")
				}
				time.Sleep(9 * time.Second)
				if ask("ann") != 0 {
					t.Error("a yes was not kept for 10s")
				}
				time.Sleep(time.Second)
				if ask("ann") != fresh {
					t.Error("a yes was kept for more than 10s")
				}
				for _, refused := range []string{"bob", "eve"} {
					if ask(refused) == 0 || ask(refused) != 0 {
						t.Errorf("%s: a no was not kept", refused)
					}
					time.Sleep(2 * time.Second)
					if ask(refused) == 0 {
						t.Errorf("%s: a no was kept for more than 2s", refused)
					}
				}
			})
		})
	}
}

func TestFailuresAreNotKept(t *testing.T) {
	r := newReviewer()
	a := newAccess(t, configfile.Access{Mode: configfile.TokenReview}, r)
	r.fail = func(string) (int, string) { return 500, "" }
	if err := a.Authorize(contextOf(t, a, bearer("ann"), nil), listShop); statusOf(err).Code != 503 {
		t.Fatalf("while reviews fail: got %v, want 503", err)
	}
	r.fail = nil
	if err := a.Authorize(contextOf(t, a, bearer("ann"), nil), listShop); err != nil {
		t.Errorf("after reviews work again: got %v", err)
	}
}

// TestConcurrentRequestsShareAReview sends concurrent requests of one caller: they need one review
// of the token and one of the right.
func TestConcurrentRequestsShareAReview(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReviewer()
		r.delay = time.Second
		a := newAccess(t, configfile.Access{Mode: configfile.TokenReview}, r)
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				if err := a.Authorize(contextOf(t, a, bearer("ann"), nil), listShop); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if tokens, rights := r.requests(tokenReviews), r.requests(accessReviews); tokens != 1 || rights != 1 {
			t.Errorf("got %d reviews of the token and %d of the right, want one of each", tokens, rights)
		}
	})
}

// TestKnownReviewsAreLimited shows that at most maxReviews of known rights run at a time, so twice
// as many take twice as long.
func TestKnownReviewsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReviewer()
		a := newAccess(t, configfile.Access{Mode: configfile.SelfSubjectAccessReview, AllowedFor: time.Nanosecond}, r)
		ctx := contextOf(t, a, bearer("ann"), nil)
		for _, took := range []time.Duration{0, time.Second} {
			r.delay = took
			began := time.Now()
			var all sync.WaitGroup
			for i := range 2 * maxReviews {
				all.Go(func() {
					if err := a.Authorize(ctx, serve.Attributes{Verb: "get", Resource: pods, Namespace: "shop", Name: fmt.Sprint(i)}); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			if waited := time.Since(began); waited != 2*took {
				t.Errorf("the reviews took %v, want %v", waited, 2*took)
			}
			time.Sleep(time.Second) // in a bubble; all answers expire
		}
	})
}

// TestCanceledCallerDoesNotCancelReview shows that a review goes on for its other callers if the
// first caller's context ends.
func TestCanceledCallerDoesNotCancelReview(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := newTestAnswers[int](time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() {
			if got, err := kept.get(ctx, "q", netip.Addr{}, askSlowly); got != 42 || err != nil {
				t.Errorf("the caller that asks got %d, %v; want 42", got, err)
			}
		})
		synctest.Wait()
		all.Go(func() {
			if _, err := kept.get(ctx, "q", netip.Addr{}, askSlowly); !errors.Is(err, context.Canceled) {
				t.Errorf("the canceled caller got %v, want %v", err, context.Canceled)
			}
		})
		all.Go(func() {
			if got, err := kept.get(t.Context(), "q", netip.Addr{}, askSlowly); got != 42 || err != nil {
				t.Errorf("the waiting caller got %d, %v; want 42", got, err)
			}
		})
		synctest.Wait()
		cancel()
		all.Wait()
	})
}

// newTestAnswers returns answers that count the zero value as a no, and any other as a yes.
func newTestAnswers[T comparable](ttl time.Duration) *answers[T] {
	isYes := func(value T) bool { return value != *new(T) }
	return newAnswers(policy[T]{isYes, ttl, ttl}, func(context.Context, error) {})
}

func askSlowly(ctx context.Context) (int, error) {
	time.Sleep(time.Second) // in a bubble
	return 42, ctx.Err()
}

func TestReviewTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept, began := newTestAnswers[int](time.Minute), time.Now()
		_, err := kept.get(t.Context(), "q", netip.Addr{}, func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		})
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took != reviewTimeout {
			t.Errorf("get returned %v after %v, want %v after %v", err, took, context.DeadlineExceeded, reviewTimeout)
		}
	})
}

func TestAnswersAreBounded(t *testing.T) {
	const most = 100
	kept := newTestAnswers[int](time.Hour)
	kept.yes = lru.New(most)
	asked := 0
	ask := func(i int) {
		got, err := kept.get(t.Context(), fmt.Sprint(i), netip.Addr{}, func(context.Context) (int, error) { asked++; return i, nil })
		if got != i || err != nil {
			t.Fatal(got, err)
		}
	}
	for i := range 2 * most {
		ask(i + 1)
		ask(1) // stays, because it is used
	}
	if n := kept.yes.Len(); n != most || asked != 2*most {
		t.Errorf("%d answers are kept after %d questions, want %d after %d", n, asked, most, 2*most)
	}
}
