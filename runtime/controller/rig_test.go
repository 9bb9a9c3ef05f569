// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

var (
	mapsResource = corev1.SchemeGroupVersion.WithResource("configmaps")
	podsResource = corev1.SchemeGroupVersion.WithResource("pods")
	errStop      = errors.New("the test stops the controller")
)

// rig is a server in memory with ConfigMaps and Pods, and informers of both that do not run.
type rig struct {
	t      *testing.T
	server *sourcetest.Server
	client *source.Client
	maps   *sourcetest.Collection[*corev1.ConfigMap]
	pods   *sourcetest.Collection[*corev1.Pod]

	mapInformer *informer.SharedIndexInformer[*corev1.ConfigMap]
	podInformer *informer.SharedIndexInformer[*corev1.Pod]
}

// inBubble runs a test with a rig in a bubble. It can't flake: time moves only while all goroutines
// wait.
func inBubble(t *testing.T, test func(t *testing.T, r *rig)) {
	synctest.Test(t, func(t *testing.T) { test(t, newRig(t)) })
}

func newRig(t *testing.T) *rig {
	r := &rig{t: t, server: sourcetest.New()}
	r.maps = sourcetest.Serve[*corev1.ConfigMap](r.server, mapsResource, "ConfigMap")
	r.pods = sourcetest.Serve[*corev1.Pod](r.server, podsResource, "Pod", "spec.nodeName")
	var err error
	if r.client, err = source.NewClient(r.server.Config()); err != nil {
		t.Fatal(err)
	}
	factory := factories.New(r.client)
	r.mapInformer = factories.For[*corev1.ConfigMap](factory, mapsResource)
	r.podInformer = factories.For[*corev1.Pod](factory, podsResource)
	return r
}

var mapKind = schema.GroupKind{Kind: "ConfigMap"}

// optionsOf returns an option and watches as options.
func optionsOf(option controller.Option, watches []controller.Watch) []controller.Option {
	all := []controller.Option{option}
	for _, w := range watches {
		all = append(all, w)
	}
	return all
}

// none is a filter that drops all events.
func none[T object.Object](_, _ T) bool { return false }

// new returns a controller.
func (r *rig) new(reconcile controller.Reconcile, options controller.Options, watches ...controller.Watch) *controller.Controller {
	r.t.Helper()
	c, err := controller.New("test", reconcile, optionsOf(options, watches)...)
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

// start runs a controller until stop is called, or the test ends. stop returns what Run has
// returned.
func (r *rig) start(c interface{ Run(context.Context) error }) (stop func() error) {
	ctx, cancel := context.WithCancelCause(klog.NewContext(r.t.Context(), logr.Discard()))
	result := make(chan error, 1)
	go func() { result <- c.Run(ctx) }()
	stop = sync.OnceValue(func() error {
		cancel(errStop)
		return <-result
	})
	r.t.Cleanup(func() { _ = stop() })
	return stop
}

// run makes a controller of the calls and starts it.
func (r *rig) run(calls *calls, options controller.Options, watches ...controller.Watch) (c *controller.Controller, stop func() error) {
	r.t.Helper()
	c = r.new(calls.reconcile, options, watches...)
	stop = r.start(c)
	synctest.Wait()
	return c, stop
}

// calls records reconciles. do, unless nil, is what they do.
type calls struct {
	do func(ctx context.Context, key object.Key) (controller.Result, error)

	mu   sync.Mutex // mu guards what follows
	keys []string
	at   []time.Time
}

func (c *calls) reconcile(ctx context.Context, key object.Key) (controller.Result, error) {
	c.mu.Lock()
	c.keys, c.at = append(c.keys, key.String()), append(c.at, time.Now())
	c.mu.Unlock()
	if c.do == nil {
		return controller.Result{}, nil
	}
	return c.do(ctx, key)
}

// take returns the keys since the last call of take, in order.
func (c *calls) take() []string {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	keys := c.keys
	c.keys, c.at = nil, nil
	return keys
}

// sorted returns the keys since the last call of take, sorted.
func (c *calls) sorted() []string {
	keys := c.take()
	slices.Sort(keys)
	return keys
}

// gaps returns how long after one another the reconciles since the last call of take have begun,
// the first since start.
func (c *calls) gaps(start time.Time) (gaps []time.Duration) {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, at := range c.at {
		gaps = append(gaps, at.Sub(start))
		start = at
	}
	c.keys, c.at = nil, nil
	return gaps
}

// logTo returns a logger. b may be read once all that log have ended.
func logTo(b *strings.Builder) logr.Logger {
	var mu sync.Mutex
	return funcr.New(func(prefix, args string) {
		mu.Lock()
		defer mu.Unlock()
		b.WriteString(prefix + args + "\n")
	}, funcr.Options{})
}

func configMap(name string, change ...func(*corev1.ConfigMap)) *corev1.ConfigMap {
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
	for _, f := range change {
		f(m)
	}
	return m
}

func pod(name string, change ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
	for _, f := range change {
		f(p)
	}
	return p
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
