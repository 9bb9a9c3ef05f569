// SPDX-License-Identifier: Apache-2.0

package serve_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/informer-gen/informer-gen/server/memory"
	"github.com/informer-gen/informer-gen/server/serve"
)

// hangingReviews is a watch whose reviews hang until their contexts end.
type hangingReviews struct {
	storage *memory.Storage
	resp    *http.Response
	began   chan time.Time // beginning of each review
	ended   chan error     // cause of each review's end
}

// testHangingReviews runs test for each protocol, in a bubble, with a watch whose first review is
// due in about a minute.
func testHangingReviews(t *testing.T, test func(t *testing.T, h *hangingReviews)) {
	forEachProtocol(t, func(t *testing.T, setProtocols func(*http.Protocols)) {
		h := &hangingReviews{began: make(chan time.Time, 10), ended: make(chan error, 10)}
		first := true
		storage, handler, run := newBubbleRig(t, func(c *serve.Config) {
			c.ReviewInterval = time.Minute
			c.Authorize = func(ctx context.Context, _ serve.Attributes) error {
				if first { // the request's own authorization
					first = false
					return nil
				}
				h.began <- time.Now()
				<-ctx.Done()
				h.ended <- context.Cause(ctx)
				return ctx.Err()
			}
		})
		run()
		resp, err := connect(t, handler, setProtocols).Get("http://api" + widgets + "?watch=true")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		h.storage, h.resp = storage, resp
		test(t, h)
	})
}

// wantEvent creates a widget, and expects its event at once.
func (h *hangingReviews) wantEvent(t *testing.T, name string) {
	t.Helper()
	began := time.Now()
	createWidget(t, h.storage, name, "")
	if line, err := bufio.NewReader(h.resp.Body).ReadString('\n'); err != nil || time.Since(began) != 0 {
		t.Errorf("got %q, %v after %v; want an event at once", line, err, time.Since(began))
	}
}

// TestReviewDoesNotDelayEvents shows that events arrive during a review, that a hanging review ends
// after 30 seconds, and that the watch then stays and is reviewed again.
func TestReviewDoesNotDelayEvents(t *testing.T) {
	testHangingReviews(t, func(t *testing.T, h *hangingReviews) {
		for _, name := range []string{"one", "two"} {
			began := <-h.began
			h.wantEvent(t, name)
			if err, lasted := <-h.ended, time.Since(began); err != context.DeadlineExceeded || lasted != 30*time.Second {
				t.Errorf("the review ended with %v after %v, want %v after 30s", err, lasted, context.DeadlineExceeded)
			}
		}
	})
}

// TestReviewEndsWithItsWatch shows that a review is canceled when its client goes away.
func TestReviewEndsWithItsWatch(t *testing.T) {
	testHangingReviews(t, func(t *testing.T, h *hangingReviews) {
		<-h.began
		left := time.Now()
		h.resp.Body.Close()
		if err := <-h.ended; err != context.Canceled || time.Since(left) != 0 {
			t.Errorf("the review ended with %v after %v, want %v at once", err, time.Since(left), context.Canceled)
		}
	})
}

// TestWatchEndsAfterFailedReviews shows that a watch ends after five intervals of failed reviews,
// and that a successful review in between extends it.
func TestWatchEndsAfterFailedReviews(t *testing.T) {
	forEachProtocol(t, func(t *testing.T, setProtocols func(*http.Protocols)) {
		began, asked := time.Now(), 0
		_, handler, run := newBubbleRig(t, func(c *serve.Config) {
			c.ReviewInterval = time.Minute
			c.Authorize = func(context.Context, serve.Attributes) error {
				asked++
				if time.Since(began) < 20*time.Minute && asked%4 == 1 {
					return nil
				}
				return errors.New("the API server is gone")
			}
		})
		run()
		resp, err := connect(t, handler, setProtocols).Get("http://api" + widgets + "?watch=true")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Error(err)
		}
		if lasted := time.Since(began); lasted < 20*time.Minute || lasted > 27*time.Minute {
			t.Errorf("the watch lasted %v, want 20m to 27m", lasted)
		}
	})
}

// TestReviewsRunDuringInitialEvents revokes the right of a client that is still reading the initial
// events.
func TestReviewsRunDuringInitialEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		storage, handler, run := newBubbleRig(t, func(c *serve.Config) {
			c.ReviewInterval, c.StateTimeout = time.Minute, time.Hour
			c.Authorize = func(context.Context, serve.Attributes) error {
				if time.Since(began) < time.Minute/2 {
					return nil
				}
				return apierrors.NewUnauthorized("the token has expired")
			}
		})
		const objects = 20
		for i := range objects {
			createWidget(t, storage, fmt.Sprint("large", i), `,"data":"`+strings.Repeat("x", 64<<10)+`"`)
		}
		run()
		resp, err := connect(t, handler, func(p *http.Protocols) { p.SetHTTP1(true) }).Get("http://api" + widgets + "?watch=true")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		got, lines := 0, bufio.NewReader(resp.Body)
		for ; err == nil; got++ {
			time.Sleep(time.Minute) // in a bubble
			_, err = lines.ReadString('\n')
		}
		if err != io.EOF || got > 5 {
			t.Errorf("the client got %d of %d objects, then %v; want at most 5, then %v", got, objects, err, io.EOF)
		}
	})
}
