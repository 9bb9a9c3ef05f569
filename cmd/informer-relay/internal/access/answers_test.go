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

// Time is the bubble's in these tests: nothing here waits for anything but it.

func TestAnswersAreKeptForAWhile(t *testing.T) {
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
					t.Error("an answer is not kept")
				}
				// This time and that below is the bubble's.
				time.Sleep(9 * time.Second)
				if ask("ann") != 0 {
					t.Error("a yes is not kept for 10 s")
				}
				time.Sleep(time.Second)
				if ask("ann") != fresh {
					t.Error("a yes is kept for more than 10 s")
				}
				for _, refused := range []string{"bob", "eve"} {
					if ask(refused) == 0 || ask(refused) != 0 {
						t.Errorf("%s: a no is not kept", refused)
					}
					time.Sleep(2 * time.Second)
					if ask(refused) == 0 {
						t.Errorf("%s: a no is kept for more than 2 s", refused)
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
		t.Fatalf("the error is %v", err)
	}
	r.fail = nil
	if err := a.Authorize(contextOf(t, a, bearer("ann"), nil), listShop); err != nil {
		t.Errorf("the API server is back, and the error is %v", err)
	}
}

// TestOneAsksForAll has many requests of one caller at a time, which come to one review of the
// token and one of the right.
func TestOneAsksForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReviewer()
		r.took = time.Second
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
			t.Errorf("%d reviews of the token, %d of the right", tokens, rights)
		}
	})
}

// TestManyReviewsWait: at most mostReviews of rights that were granted before are under way, so
// twice as many take twice as long.
func TestManyReviewsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReviewer()
		a := newAccess(t, configfile.Access{Mode: configfile.SelfSubjectAccessReview, AllowedFor: time.Nanosecond}, r)
		ctx := contextOf(t, a, bearer("ann"), nil)
		for _, took := range []time.Duration{0, time.Second} {
			r.took = took
			began := time.Now()
			var all sync.WaitGroup
			for i := range 2 * mostReviews {
				all.Go(func() {
					if err := a.Authorize(ctx, serve.Attributes{Verb: "get", Resource: pods, Namespace: "shop", Name: fmt.Sprint(i)}); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			if waited := time.Since(began); waited != 2*took {
				t.Errorf("it took %v", waited)
			}
			time.Sleep(time.Second) // in a bubble: all must be asked again
		}
	})
}

// TestAWaitingCallerMayGo: the one that asks goes on, for the others, also if its own client goes.
func TestAWaitingCallerMayGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := newTestAnswers[int](time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() {
			if got, err := kept.get(ctx, "q", netip.Addr{}, slowly); got != 42 || err != nil {
				t.Errorf("the one that asks got %d, %v", got, err)
			}
		})
		synctest.Wait()
		all.Go(func() {
			if _, err := kept.get(ctx, "q", netip.Addr{}, slowly); !errors.Is(err, context.Canceled) {
				t.Errorf("the one that goes got %v", err)
			}
		})
		all.Go(func() {
			if got, err := kept.get(t.Context(), "q", netip.Addr{}, slowly); got != 42 || err != nil {
				t.Errorf("the one that stays got %d, %v", got, err)
			}
		})
		synctest.Wait()
		cancel()
		all.Wait()
	})
}

// newTestAnswers returns answers of any type, whose zero value is a no and all others a yes.
func newTestAnswers[T comparable](keep time.Duration) *answers[T] {
	isYes := func(value T) bool { return value != *new(T) }
	return newAnswers(policy[T]{isYes, keep, keep}, func(context.Context, error) {})
}

func slowly(ctx context.Context) (int, error) {
	time.Sleep(time.Second) // in a bubble: an API server that takes a second
	return 42, ctx.Err()
}

func TestAnAPIServerThatHangsIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept, began := newTestAnswers[int](time.Minute), time.Now()
		_, err := kept.get(t.Context(), "q", netip.Addr{}, func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		})
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took != reviewTimeout {
			t.Errorf("after %v: %v", took, err)
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
		ask(1) // stays, since it is used
	}
	if n := kept.yes.Len(); n != most || asked != 2*most {
		t.Errorf("%d answers are kept; %d questions were asked for %d", n, asked, 2*most)
	}
}
