// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
	"github.com/informer-gen/informer-gen/testkit/sourcetest/patches"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	inBubble  = informertest.WithRig(newRig)
	same      = informertest.SameText
	configMap = informertest.ConfigMap
	pod       = informertest.Edited

	mapsResource = corev1.SchemeGroupVersion.WithResource("configmaps")
	podsResource = informertest.PodResource
	mapKind      = schema.GroupKind{Kind: "ConfigMap"}
	errStop      = informertest.ErrStop
	errTry       = errors.New("on purpose")
)

type result = controller.Result

// rig is a server in memory with ConfigMaps, Pods and Nodes, and their kinds, as in generated code.
// No informer runs.
type rig struct {
	t      *testing.T
	server *sourcetest.Server
	client *source.Client
	maps   *sourcetest.Collection[*corev1.ConfigMap]
	pods   *sourcetest.Collection[*corev1.Pod]
	nodes  *sourcetest.Collection[*corev1.Node]

	mapKind     *controller.Kind[*corev1.ConfigMap]
	podKind     *controller.Kind[*corev1.Pod]
	nodeKind    *controller.Kind[*corev1.Node]
	mapInformer *informer.SharedIndexInformer[*corev1.ConfigMap]
	podInformer *informer.SharedIndexInformer[*corev1.Pod]
}

func newRig(t *testing.T) *rig {
	nodesResource := corev1.SchemeGroupVersion.WithResource("nodes")
	r := &rig{t: t, server: sourcetest.New()}
	r.server.Patches = patches.All{}
	r.maps = sourcetest.Serve[*corev1.ConfigMap](r.server, mapsResource, "ConfigMap")
	r.pods = sourcetest.Serve[*corev1.Pod](r.server, podsResource, "Pod", "spec.nodeName")
	r.nodes = sourcetest.Serve[*corev1.Node](r.server, nodesResource, "Node")
	var err error
	if r.client, err = source.NewClient(r.server.Config()); err != nil {
		t.Fatal(err)
	}
	factory := factories.New(r.client)
	r.mapKind = controller.NewKind[*corev1.ConfigMap](factory, mapsResource, "ConfigMap", true)
	r.podKind = controller.NewKind[*corev1.Pod](factory, podsResource, "Pod", true)
	r.nodeKind = controller.NewKind[*corev1.Node](factory, nodesResource, "Node", false)
	r.mapInformer, r.podInformer = r.mapKind.Informer(), r.podKind.Informer()
	return r
}

// optionsOf returns an option and watches as one list.
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

// start runs a controller until stop is called, or the test ends.
func (r *rig) start(c *controller.Controller) (stop func() error) {
	return informertest.Go(r.t, c.Run).End
}

// run makes a controller with calls, and starts it.
func (r *rig) run(calls *calls, options controller.Options, watches ...controller.Watch) (c *controller.Controller, stop func() error) {
	r.t.Helper()
	c = r.new(calls.reconcile, options, watches...)
	stop = r.start(c)
	synctest.Wait()
	return c, stop
}

// calls records reconciles. do, unless nil, reconciles.
type calls struct {
	do func(ctx context.Context, key object.Key) (result, error)

	mu   sync.Mutex // mu guards the fields below
	keys []string
	at   []time.Time
}

// once returns calls whose first one calls do.
func once(do func(ctx context.Context) (result, error)) *calls {
	first := true
	return &calls{do: func(ctx context.Context, _ object.Key) (result, error) {
		if !first {
			return result{}, nil
		}
		first = false
		return do(ctx)
	}}
}

func (c *calls) reconcile(ctx context.Context, key object.Key) (result, error) {
	c.note(key.String())
	if c.do == nil {
		return result{}, nil
	}
	return c.do(ctx, key)
}

func (c *calls) note(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keys, c.at = append(c.keys, key), append(c.at, time.Now())
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

// gaps returns the times before the first reconcile and between reconciles, since the last call of
// take.
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

// rounded is gaps, rounded to 10 ms.
func (c *calls) rounded(start time.Time) []time.Duration {
	gaps := c.gaps(start)
	for n := range gaps {
		gaps[n] = gaps[n].Round(10 * time.Millisecond)
	}
	return gaps
}
