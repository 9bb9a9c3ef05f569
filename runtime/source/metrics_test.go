// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/metrics"

	"github.com/informer-gen/informer-gen/runtime/internal/podtest"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// requestRecorder is a receiver of client-go's metrics.
type requestRecorder struct{ got []string }

func (r *requestRecorder) Increment(_ context.Context, code, method, host string) {
	r.got = append(r.got, fmt.Sprint(code, " ", method, " ", host))
}

func (r *requestRecorder) Observe(_ context.Context, verb string, u url.URL, took time.Duration) {
	r.got = append(r.got, fmt.Sprint(verb, " ", u.Host, " ", took))
}

// TestRequestsAreCountedByClientGo: with the labels of client-go's own clients. The duration
// includes the reading of the answer; watches have none.
func TestRequestsAreCountedByClientGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &requestRecorder{}
		result, latency := metrics.RequestResult, metrics.RequestLatency
		metrics.RequestResult, metrics.RequestLatency = r, r
		defer func() { metrics.RequestResult, metrics.RequestLatency = result, latency }()

		c := clientOf(t, &rest.Config{Host: "https://ann:secret@api.test:6443/prefix", Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
			time.Sleep(time.Second) // in a bubble
			switch {
			case req.Method == http.MethodDelete:
				return nil, errors.New("connection refused")
			case req.Method == http.MethodPatch:
				return answer(409, "{}"), nil
			case req.URL.Query().Has("watch"):
				return answer(200, ""), nil
			}
			return answer(200, podtest.List("7", podtest.Pod("blue", "7"))), nil
		})})
		s := sourceOf[*corev1.Pod](t, c, pods, Options{})
		ctx := t.Context()
		for name, test := range map[string]struct {
			send func() error
			want []string
		}{
			"list": {func() error {
				_, err := s.List(ctx, ListOptions{}, func(*corev1.Pod) error {
					time.Sleep(time.Second) // the answer is read meanwhile
					return nil
				})
				return err
			}, []string{"200 GET api.test:6443", "GET api.test:6443 2s"}},
			"watch": {func() error {
				return s.Watch(ctx, WatchOptions{}, nil, func(Event[*corev1.Pod]) error { return nil })
			}, []string{"200 GET api.test:6443"}},
			"conflict": {func() error {
				_, err := s.Do(ctx, Request{Method: "PATCH", Key: object.Key{Name: "blue"}})
				return err
			}, []string{"409 PATCH api.test:6443", "PATCH api.test:6443 1s"}},
			"no answer": {func() error {
				_, err := s.Do(ctx, Request{Method: "DELETE", Key: object.Key{Name: "blue"}})
				return err
			}, []string{"<error> DELETE api.test:6443", "DELETE api.test:6443 1s"}},
		} {
			r.got = nil
			_ = test.send()
			if !slices.Equal(r.got, test.want) {
				t.Errorf("%s: got %q, want %q", name, r.got, test.want)
			}
		}
	})
}
