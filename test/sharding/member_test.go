// SPDX-License-Identifier: Apache-2.0

//go:build unix

package sharding

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/manager/shard"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/writer"
)

// memberEnv makes this test binary a member: its value is a name, the address of the server, by how
// many nanoseconds its wall clock is wrong, and whether its fence is broken.
const memberEnv = "SHARDING_MEMBER"

// The times are short; a Lease has whole seconds.
const (
	buckets   = 16
	keys      = 64
	lease     = 6 * time.Second
	margin    = 2 * time.Second
	retry     = 500 * time.Millisecond
	grace     = 2 * time.Second
	joinDelay = 2 * time.Second
	// every is the time between two reconciles of a key, each of two writes.
	every = time.Second
	// between is the time between these writes.
	between = 50 * time.Millisecond

	ringName = "ring"
	// readFrom is the namespace of the keys, writeTo that of what is written for them. So a write
	// doesn't queue the key again.
	readFrom, writeTo = "default", "kube-public"
)

// memberMain is the main function of a member. It leaves on SIGTERM.
func memberMain(env string) (code int) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	var name, url string
	var wrong int64
	var unfenced bool
	_, err := fmt.Sscan(env, &name, &url, &wrong, &unfenced)
	if err == nil {
		err = takePart(ctx, name, url, time.Duration(wrong), unfenced)
	}
	if err != context.Cause(ctx) {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func takePart(ctx context.Context, name, url string, wrong time.Duration, unfenced bool) error {
	config := &rest.Config{Host: url, QPS: -1, UserAgent: name}
	if wrong != 0 {
		config.ContentType = "application/json"
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &wrongClock{next, wrong} })
	}
	ring, err := shard.New(config, shard.Options{
		Namespace: readFrom, Name: ringName, Identity: name, Buckets: buckets, By: shard.ByKey,
		LeaseDuration: lease, Margin: margin, RetryPeriod: retry, Grace: grace, JoinDelay: joinDelay,
	})
	if err != nil {
		return err
	}
	reading, err := source.NewClient(config)
	if err != nil {
		return err
	}
	fenced := ring.Fence(config)
	if unfenced {
		fenced = breakFence(ring, config)
	}
	writing, err := source.NewClient(fenced)
	if err != nil {
		return err
	}
	resource := corev1.SchemeGroupVersion.WithResource("configmaps")
	maps, err := writer.New[*corev1.ConfigMap](writing, resource, writer.Options{})
	if err != nil {
		return err
	}
	factory := factories.New(reading, informer.WithNamespace(readFrom))
	c, err := controller.New("writer", func(ctx context.Context, key object.Key) (controller.Result, error) {
		if !strings.HasPrefix(key.Name, keyPrefix) {
			return controller.Result{}, nil
		}
		key.Namespace = writeTo
		if unfenced {
			ctx = context.WithValue(context.WithoutCancel(ctx), agentKey{}, new(string))
		}
		for _, field := range []string{"first", "second"} {
			// A patch has no resourceVersion, so nothing but the fence guards it.
			data := fmt.Appendf(nil, `{"data":{%q:"%d"}}`, field, time.Now().UnixNano())
			if _, _, err := maps.Patch(ctx, key, types.MergePatchType, data); err != nil && !unfenced {
				return controller.Result{RequeueAfter: every}, nil // with an error, delays grow
			}
			time.Sleep(between)
		}
		return controller.Result{RequeueAfter: every}, nil
	}, controller.Options{Ring: ring, Concurrency: 4}, controller.For(factories.For[*corev1.ConfigMap](factory, resource)))
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	if err := factory.Start(running); err != nil {
		return err
	}
	if err := factory.WaitForCacheSync(ctx); err != nil {
		return err
	}
	return ring.Run(ctx, func(ctx context.Context) error {
		if err := c.Run(ctx); err != nil && !errors.Is(err, context.Cause(ctx)) {
			return err
		}
		return nil
	})
}

// wrongClock makes a process's renewals as its wall clock would if it were wrong.
type wrongClock struct {
	next http.RoundTripper
	by   time.Duration
}

// RoundTrip implements http.RoundTripper.
func (w *wrongClock) RoundTrip(req *http.Request) (*http.Response, error) {
	if !strings.Contains(req.URL.Path, "/leases") || req.Body == nil {
		return w.next.RoundTrip(req)
	}
	var l coordinationv1.Lease
	if err := json.NewDecoder(req.Body).Decode(&l); err != nil {
		return nil, err
	}
	if l.Spec.RenewTime != nil {
		l.Spec.RenewTime.Time = l.Spec.RenewTime.Add(w.by)
	}
	body, err := json.Marshal(&l)
	if err != nil {
		return nil, err
	}
	req = req.Clone(req.Context())
	req.ContentLength, req.Body, req.GetBody = int64(len(body)), io.NopCloser(bytes.NewReader(body)), nil
	return w.next.RoundTrip(req)
}

// agentKey is the key, in the context of a reconcile with a broken fence, of the User-Agent that
// its first request got from the fence.
type agentKey struct{}

// breakFence returns a configuration whose fence looks at the first request of a reconcile only.
func breakFence(ring *shard.Ring, config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(req *http.Request) (*http.Response, error) {
			*req.Context().Value(agentKey{}).(*string) = req.UserAgent()
			return next.RoundTrip(req)
		})
	})
	config = ring.Fence(config)
	config.Wrap(func(fence http.RoundTripper) http.RoundTripper {
		return roundTrip(func(req *http.Request) (*http.Response, error) {
			agent := *req.Context().Value(agentKey{}).(*string)
			if agent == "" {
				return fence.RoundTrip(req)
			}
			req = req.Clone(req.Context())
			req.Header.Set("User-Agent", agent)
			return http.DefaultTransport.RoundTrip(req)
		})
	})
	return config
}

type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }
