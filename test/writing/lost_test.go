// SPDX-License-Identifier: Apache-2.0

package writing

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/writer"
)

// wire stands between a client and the server.
type wire struct {
	mu     sync.Mutex
	cut    func(*http.Response) error // guarded by mu; its error breaks the connection
	writes int                        // guarded by mu
}

// newWire starts a wire, which ends with the test, and returns the config of its clients.
func newWire(t *testing.T, config *rest.Config) (*wire, *rest.Config) {
	t.Helper()
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{}
	server := httptest.NewServer(&httputil.ReverseProxy{
		ErrorLog:  log.New(io.Discard, "", 0),
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport: transport,
		ModifyResponse: func(resp *http.Response) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			if resp.Request.Method == http.MethodGet {
				return nil
			}
			w.writes++
			if w.cut == nil {
				return nil
			}
			return w.cut(resp)
		},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	})
	own := &http.Transport{}
	t.Cleanup(func() {
		own.CloseIdleConnections()
		server.Close()
	})
	return w, &rest.Config{Host: server.URL, Transport: own}
}

// next sets the function for the answers to writes, and resets their count.
func (w *wire) next(cut func(*http.Response) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut, w.writes = cut, 0
}

func (w *wire) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.writes
}

// lostAnswers makes writes that reach the server, but whose answers are lost. Each is sent once,
// its error is not from the server, and a second call finds the write done.
func lostAnswers(t *testing.T, config *rest.Config) {
	wire, lossy := newWire(t, config)
	s := newStage(t, lossy)
	w, write := s.boats(writer.Options{FieldManager: "captain"}), mustWrite[*Boat](s)
	ada := write(w.Create(s.ctx, s.boat("ada")))
	for range 3 { // connections to reuse: net/http may retry on a reused connection
		_, err := w.Get(s.ctx, object.KeyOf(ada))
		s.ok(err)
	}
	gone := errors.New("cut")
	half := func(resp *http.Response) error {
		all, err := io.ReadAll(resp.Body)
		if err != nil {
			return err
		}
		resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(all[:len(all)/2]), brokenBody{}))
		return nil
	}
	for how, cut := range map[string]func(*http.Response) error{"whole": func(*http.Response) error { return gone }, "half": half} {
		lost := func(what string, call func() error) {
			t.Helper()
			wire.next(cut)
			err := call()
			if sent := wire.count(); err == nil || sent != 1 || errors.As(err, new(apierrors.APIStatus)) || reason.Of(err) != reason.Unreachable {
				t.Errorf("%s without the %s answer: sent %d times, error %v (%v); want 1 time, Unreachable", what, how, sent, err, reason.Of(err))
			}
			wire.next(nil)
		}
		name := "bob-" + how
		lost("Create", func() error { return errorOf(w.Create(s.ctx, s.boat(name))) })
		mustFail[*Boat](s, "a second Create", apierrors.IsAlreadyExists)(w.Create(s.ctx, s.boat(name)))
		bob, err := w.Get(s.ctx, object.Key{Namespace: s.ns, Name: name})
		s.ok(err)
		moved := bob.DeepCopyObject().(*Boat)
		moved.Spec.Berth = "north"
		lost("Update", func() error { return errorOf(w.Update(s.ctx, moved)) })
		mustFail[*Boat](s, "a second Update", apierrors.IsConflict)(w.Update(s.ctx, moved))
		trips := func(b *Boat) error { b.Status.Trips = 5; return nil }
		lost("MutateStatus", func() error {
			now, err := w.Get(s.ctx, object.KeyOf(bob))
			s.ok(err)
			return errorOf(w.MutateStatus(s.ctx, now, trips))
		})
		if got := write(w.MutateStatus(s.ctx, bob, trips)); got.Status.Trips != 5 {
			t.Errorf("a second MutateStatus: %+v", got)
		}
		lost("AddFinalizer", func() error {
			now, err := w.Get(s.ctx, object.KeyOf(bob))
			s.ok(err)
			return errorOf(w.AddFinalizer(s.ctx, now, "example.com/x"))
		})
		if got := write(w.AddFinalizer(s.ctx, bob, "example.com/x")); len(got.Finalizers) != 1 {
			t.Errorf("a second AddFinalizer: %+v", got)
		}
		lost("Patch", func() error {
			return errorOf(w.Patch(s.ctx, object.KeyOf(bob), types.MergePatchType, []byte(`{"spec":{"hands":1}}`)))
		})
		lost("Apply", func() error {
			return errorOf(w.Apply(s.ctx, s.boat(name, func(b *Boat) { b.Spec.Parts = []Part{{Name: "oar"}} })))
		})
		if got := write(w.Apply(s.ctx, s.boat(name, func(b *Boat) { b.Spec.Parts = []Part{{Name: "oar"}} }))); *got.Spec.Hands != 1 || len(got.Spec.Parts) != 1 {
			t.Errorf("a second Apply: %+v", got.Spec)
		}
		lost("Delete", func() error { _, err := w.Delete(s.ctx, bob, metav1.DeleteOptions{}); return err })
		if token, err := w.Delete(s.ctx, bob, metav1.DeleteOptions{}); err != nil || token.Gone {
			t.Errorf("a second Delete: %+v, %v", token, err)
		}
		held, err := w.Get(s.ctx, object.KeyOf(bob))
		s.ok(err)
		lost("RemoveFinalizer", func() error { return errorOf(w.RemoveFinalizer(s.ctx, held, "example.com/x")) })
		mustFail[*Boat](s, "a second RemoveFinalizer", apierrors.IsNotFound)(w.RemoveFinalizer(s.ctx, held, "example.com/x"))
		if _, err := w.Delete(s.ctx, bob, metav1.DeleteOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("a third Delete: %v", err)
		}
	}

	// A context ends before the answer arrives.
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(s.ctx)
	wire.next(func(*http.Response) error { cancel(why); <-ctx.Done(); return gone })
	mustFail[*Boat](s, "a context that ends", func(err error) bool { return errors.Is(err, why) })(w.Mutate(ctx, ada, berth("north")))
	wire.next(nil)
	if got, err := w.Get(s.ctx, object.KeyOf(ada)); err != nil || got.Spec.Berth != "north" {
		t.Errorf("after the lost answer: got %+v, %v", got, err)
	}

	// An overloaded server is asked once, and says when to retry.
	wire.next(func(resp *http.Response) error {
		text := `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"TooManyRequests","code":429,"details":{"retryAfterSeconds":7}}`
		resp.StatusCode, resp.Body, resp.ContentLength = http.StatusTooManyRequests, io.NopCloser(bytes.NewReader([]byte(text))), int64(len(text))
		resp.Header = http.Header{"Content-Type": {"application/json"}, "Retry-After": {"7"}}
		return nil
	})
	_, _, err := w.Mutate(s.ctx, ada, berth("south"))
	after := reason.RetryAfter(err) // prolonged by a tenth at most
	if !apierrors.IsTooManyRequests(err) || after < 7*time.Second || after > 7700*time.Millisecond {
		t.Errorf("write to an overloaded server: error %v, RetryAfter %v", err, after)
	}
	wire.next(nil)
}

// broken is the rest of a body whose connection breaks.
type brokenBody struct{}

func (brokenBody) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
