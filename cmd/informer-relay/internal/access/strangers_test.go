// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/lru"

	"github.com/informer-gen/informer-gen/cmd/informer-relay/internal/configfile"
	"github.com/informer-gen/informer-gen/server/serve"
)

// attack runs strangers while it calls during. Each asks with a new token 100 ms after each answer.
// It returns the number of answers by code, and of reviews at the API server.
func attack(t *testing.T, a *Access, r *fakeReviewer, strangers, addresses int, during func()) (codes map[int32]int, reviews int) {
	t.Helper()
	codes = map[int32]int{}
	var mu sync.Mutex // guards codes
	var all sync.WaitGroup
	stopped := make(chan struct{})
	before := r.requests("")
	for n := range strangers {
		address := fmt.Sprintf("10.0.%d.%d:1", n%addresses/256, n%addresses%256)
		all.Go(func() {
			for i := 0; ; i++ {
				err := a.Authorize(contextFrom(t, a, address, fmt.Sprint("random-", n, "-", i)), listShop)
				mu.Lock()
				codes[statusOf(err).Code]++
				mu.Unlock()
				select {
				case <-time.After(100 * time.Millisecond): // in a bubble
				case <-stopped:
					return
				}
			}
		})
	}
	synctest.Wait()
	during()
	close(stopped)
	all.Wait()
	return codes, r.requests("") - before
}

// contextFrom returns the context of a request with a token from an address.
func contextFrom(t *testing.T, a *Access, address, token string) (ctx context.Context) {
	t.Helper()
	req := newRequest(t, bearer(token))
	req.RemoteAddr = address
	return contextOfRequest(t, a, req)
}

// TestStrangersDoNotBlockKnownCallers shows that known callers wait only for their own reviews
// while invalid tokens come from one address or many.
func TestStrangersDoNotBlockKnownCallers(t *testing.T) {
	const took, lasts = 50 * time.Millisecond, time.Second
	for name, test := range map[string]struct {
		strangers   int
		addresses   int
		newcomer    time.Duration // maximum wait of an unknown caller; 0: it may get 429
		mostReviews int
	}{
		"from one address":    {200, 1, 300 * time.Millisecond, refusalBurst + 2*refusalsPerSecond},
		"from many addresses": {600, 300, 0, 2 * maxStrangers * int(lasts/took)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newReviewer()
				r.delay = took
				a := newAccess(t, configfile.Access{Mode: configfile.TokenReview, AllowedFor: time.Nanosecond, DeniedFor: 2 * time.Second}, r)
				ask := func(address, token string) (time.Duration, int32) {
					began := time.Now()
					err := a.Authorize(contextFrom(t, a, address, token), listShop)
					return time.Since(began), statusOf(err).Code
				}
				if waited, code := ask("192.0.2.1:1", "ann"); waited != 2*took || code != 0 {
					t.Fatalf("before the attack, ann got %d after %v, want success after %v", code, waited, 2*took)
				}
				codes, reviews := attack(t, a, r, test.strangers, test.addresses, func() {
					waited, code := ask("192.0.2.1:1", "for-relay")
					if test.newcomer > 0 && (waited > test.newcomer || code != 0) || code != 0 && code != http.StatusTooManyRequests || waited > 2*time.Second {
						t.Errorf("during the attack, a newcomer got %d after %v", code, waited)
					}
					for began := time.Now(); time.Since(began) < lasts; {
						if waited, code := ask("192.0.2.1:1", "ann"); waited != 2*took || code != 0 {
							t.Errorf("during the attack, ann got %d after %v, want success after %v", code, waited, 2*took)
							return
						}
					}
				})
				t.Logf("%d reviews; answers by code: %v", reviews, codes)
				if reviews -= 2 * int(lasts/(2*took)); reviews > test.mostReviews {
					t.Errorf("the API server got %d reviews of strangers, want at most %d", reviews, test.mostReviews)
				}
				if codes[http.StatusTooManyRequests] == 0 || codes[http.StatusUnauthorized] == 0 || len(codes) > 2 {
					t.Errorf("strangers got the codes %v, want 401 and 429", codes)
				}
			})
		})
	}
}

// TestRefusalsAreCountedByAddress shows that many refusals at an address lead to 429, except for
// granted rights and other networks.
func TestRefusalsAreCountedByAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReviewer()
		a := newAccess(t, configfile.Access{Mode: configfile.SelfSubjectAccessReview, AllowedFor: time.Nanosecond}, r)
		ask := func(address, token string, what serve.Attributes) int32 {
			return statusOf(a.Authorize(contextFrom(t, a, address, token), what)).Code
		}
		const from, sameNetwork, neighbor = "[2001:db8:0:1::1]:1", "[2001:db8:0:1::2]:1", "[2001:db8:0:2::1]:1"
		if code := ask(from, "ann", listShop); code != 0 {
			t.Fatalf("a granted right: got %d", code)
		}
		for i := range refusalBurst {
			if code := ask(from, "ann", listAll); code != http.StatusForbidden {
				t.Fatalf("refusal %d: got %d, want 403", i, code)
			}
		}
		for _, test := range []struct {
			from, token string
			what        serve.Attributes
			want        int32
		}{
			{from, "ann", listAll, http.StatusTooManyRequests},
			{sameNetwork, "eve", listShop, http.StatusTooManyRequests},
			{from, "ann", listShop, 0},
			{neighbor, "ann", listAll, http.StatusForbidden},
		} {
			if code := ask(test.from, test.token, test.what); code != test.want {
				t.Errorf("%s from %s, %+v: got %d, want %d", test.token, test.from, test.what, code, test.want)
			}
		}
		time.Sleep(time.Second) // in a bubble
		for range refusalsPerSecond {
			if code := ask(from, "ann", listAll); code != http.StatusForbidden {
				t.Errorf("a second later: got %d, want 403", code)
			}
		}
		if code := ask(from, "ann", listAll); code != http.StatusTooManyRequests {
			t.Errorf("after the refusals of that second: got %d, want 429", code)
		}
	})
}

// TestRefusalsEvictNoGoodAnswer causes more refusals, from many addresses, than fit the caches.
func TestRefusalsEvictNoGoodAnswer(t *testing.T) {
	const most = 100
	kept := newTestAnswers[bool](time.Hour)
	kept.yes, kept.no = lru.New(most), lru.New(most)
	asked := 0
	ask := func(key string, from uint32, yes bool) {
		t.Helper()
		address := netip.AddrFrom4([4]byte{10, byte(from >> 16), byte(from >> 8), byte(from)})
		got, err := kept.get(t.Context(), key, address, func(context.Context) (bool, error) { asked++; return yes, nil })
		if got != yes || err != nil {
			t.Fatal(got, err)
		}
	}
	ask("good", 0, true)
	for i := range uint32(3 * most) {
		ask(fmt.Sprint(i), i/refusalBurst, false)
	}
	before := asked
	ask("good", 0, true)
	if asked != before || kept.no.Len() != most {
		t.Errorf("the good answer was asked for %d times again, and %d refusals are kept; want 0 and %d", asked-before, kept.no.Len(), most)
	}
}

// TestAddressesAreBounded uses more addresses than are remembered.
func TestAddressesAreBounded(t *testing.T) {
	const most = 100
	s := newStrangers()
	s.byNetwork = lru.New(most)
	for i := range uint32(most + 1) {
		leave, err := s.enter(t.Context(), netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}))
		if err != nil {
			t.Fatal(err)
		}
		leave(false)
	}
	if n := s.byNetwork.Len(); n != most || s.queued != 0 {
		t.Errorf("%d addresses are remembered and %d questions queued, want %d and 0", n, s.queued, most)
	}
}
