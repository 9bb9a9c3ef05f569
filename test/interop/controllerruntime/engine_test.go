// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"fmt"
	"net/http"
	"testing"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/informer-gen/informer-gen/adapter/clientgo"
	"github.com/informer-gen/informer-gen/devserver"
	"github.com/informer-gen/informer-gen/devserver/devservertest"
)

// onOurInformers returns a function that makes controller-runtime's caches with informers of
// adapter/clientgo. A list or watch by controller-runtime's client fails the test.
func onOurInformers(t *testing.T) cache.NewCacheFunc {
	return func(config *rest.Config, opts cache.Options) (cache.Cache, error) {
		config, engine := newEngine(t, config)
		opts.HTTPClient = httpClient(t, config, refuseReads(t))
		opts.NewInformer = engine.NewInformer
		return cache.New(config, opts)
	}
}

// newEngine returns an engine with connections of its own, and the config for its clients.
func newEngine(t *testing.T, config *rest.Config) (*rest.Config, *clientgo.Engine) {
	t.Helper()
	config = rest.CopyConfig(config)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	config.Transport = transport
	engine, err := clientgo.NewEngine(config)
	if err != nil {
		t.Fatal(err)
	}
	return config, engine
}

// refuseReads refuses the lists and watches of informers, and passes on discovery.
func refuseReads(t *testing.T) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if query := r.URL.Query(); query.Has("limit") || query.Has("resourceVersion") || query.Has("watch") {
				t.Errorf("controller-runtime's client sends %s", r.URL)
				return nil, fmt.Errorf("%s is refused", r.URL)
			}
			return next.RoundTrip(r)
		})
	}
}

// TestTheirCacheOnOurInformers: on informers of adapter/clientgo, controller-runtime's cache
// returns the same results, and its informers make the same calls of handlers.
func TestTheirCacheOnOurInformers(t *testing.T) {
	t.Run("reads", func(t *testing.T) {
		for _, set := range settings {
			t.Run(set.name, func(t *testing.T) {
				t.Parallel()
				compareReads(t, set, onOurInformers(t))
			})
		}
	})
	for _, namespaces := range []int{0, 1, 2} {
		for _, v := range views {
			t.Run(fmt.Sprintf("events/%d namespaces/%s", namespaces, v), func(t *testing.T) {
				t.Parallel()
				testEvents(t, onOurInformers(t), v, namespaces)
			})
		}
	}
}

// TestTheirManagerOnOurInformers: a manager works with an Engine's NewInformer in its options.
func TestTheirManagerOnOurInformers(t *testing.T) {
	for _, consistent := range []bool{false, true} {
		t.Run(fmt.Sprintf("reads its own writes %t", consistent), func(t *testing.T) {
			t.Parallel()
			own := devservertest.Start(t, devserver.Options{BuiltInKinds: true})
			config, engine := newEngine(t, own.Config())
			testManager(t, own, consistent, func(change func(*ctrl.Options)) ctrl.Manager {
				return newManager(t, config, cache.New, func(o *ctrl.Options) {
					change(o)
					o.Cache.NewInformer = engine.NewInformer
				})
			})
		})
	}
}
