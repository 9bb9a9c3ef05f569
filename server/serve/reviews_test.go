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

// hanging has reviews that hang until their context ends.
type hanging struct {
	storage *memory.Storage
	resp    *http.Response
	began   chan time.Time // of each review
	ended   chan error     // the cause
}

// testHanging calls test for each protocol, in a bubble, with a watch whose first review is due in
// about a minute.
func testHanging(t *testing.T, test func(t *testing.T, h *hanging)) {
	overEach(t, func(t *testing.T, over func(*http.Protocols)) {
		h := &hanging{began: make(chan time.Time, 10), ended: make(chan error, 10)}
		first := true
		storage, handler, run := newBubbleRig(t, func(c *serve.Config) {
			c.ReviewInterval = time.Minute
			c.Authorize = func(ctx context.Context, _ serve.Attributes) error {
				if first { // the request itself
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
		resp, err := connect(t, handler, over).Get("http://api" + widgets + "?watch=true")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		h.storage, h.resp = storage, resp
		test(t, h)
	})
}

// wantEvent creates a widget, whose event the watch must get at once.
func (h *hanging) wantEvent(t *testing.T, name string) {
	t.Helper()
	began := time.Now()
	put(t, h.storage, name, "")
	if line, err := bufio.NewReader(h.resp.Body).ReadString('\n'); err != nil || time.Since(began) != 0 {
		t.Errorf("%q came after %v, %v", line, time.Since(began), err)
	}
}

// TestReviewHoldsUpNoEvent also shows that a review which can't decide ends after 30 seconds, that
// the watch stays then, and is reviewed again.
func TestReviewHoldsUpNoEvent(t *testing.T) {
	testHanging(t, func(t *testing.T, h *hanging) {
		for _, name := range []string{"one", "two"} {
			began := <-h.began
			h.wantEvent(t, name)
			if err, lasted := <-h.ended, time.Since(began); err != context.DeadlineExceeded || lasted != 30*time.Second {
				t.Errorf("the review has ended after %v: %v", lasted, err)
			}
		}
	})
}

// TestReviewEndsWithItsWatch: a client that goes away leaves no review behind.
func TestReviewEndsWithItsWatch(t *testing.T) {
	testHanging(t, func(t *testing.T, h *hanging) {
		<-h.began
		left := time.Now()
		h.resp.Body.Close()
		if err := <-h.ended; err != context.Canceled || time.Since(left) != 0 {
			t.Errorf("it went on for %v: %v", time.Since(left), err)
		}
	})
}

// TestWatchWithoutReviewsEnds: a watch whose reviews can't decide ends after five intervals, and
// one that has had an answer meanwhile lasts.
func TestWatchWithoutReviewsEnds(t *testing.T) {
	overEach(t, func(t *testing.T, over func(*http.Protocols)) {
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
		resp, err := connect(t, handler, over).Get("http://api" + widgets + "?watch=true")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Error(err)
		}
		if lasted := time.Since(began); lasted < 20*time.Minute || lasted > 27*time.Minute {
			t.Errorf("it lasted %v", lasted)
		}
	})
}

// TestReviewsBeginBeforeTheObjects has a client that reads the objects so slowly that a right is
// gone meanwhile.
func TestReviewsBeginBeforeTheObjects(t *testing.T) {
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
			put(t, storage, fmt.Sprint("large", i), `,"data":"`+strings.Repeat("x", 64<<10)+`"`)
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
			t.Errorf("the client got %d of %d objects, and %v", got, objects, err)
		}
	})
}
