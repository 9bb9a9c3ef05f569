// SPDX-License-Identifier: Apache-2.0

package factories_test

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/metrics"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// TestOptionConflicts has options that are wrong by themselves, beside each other, or in the wrong
// call.
func TestOptionConflicts(t *testing.T) {
	client := newShop().Client(t)
	type opts = []informer.Option
	for name, test := range map[string]struct {
		factory, call opts
		want          string
	}{
		"no namespaces":             {opts{informer.WithNamespace()}, nil, `factories.New: WithNamespace: no namespace; "" means all of them`},
		"all among several":         {nil, opts{informer.WithNamespace("a", "")}, `factories.For pods/v1: WithNamespace: "" means all namespaces, so it can't be one of several`},
		"not a namespace":           {nil, opts{informer.WithNamespace("a,b")}, `factories.For pods/v1: WithNamespace: "a,b" is not a valid namespace`},
		"cluster scope, namespace":  {nil, opts{factories.WithClusterScope(), informer.WithNamespace("a")}, "factories.For pods/v1: WithNamespace: a cluster-scoped kind has no namespaces"},
		"namespace, cluster scope":  {nil, opts{informer.WithNamespace("a"), factories.WithClusterScope()}, "factories.For pods/v1: WithClusterScope: WithNamespace was given too; a cluster-scoped kind has no namespaces"},
		"typed transform, factory":  {opts{informer.WithTransform(keep[*corev1.Pod])}, nil, "factories.New: WithTransform: a transform of *v1.Pod given to a factory; give it to For, or use a transform of object.Object"},
		"transform of another type": {nil, opts{informer.WithTransform(keep[*corev1.Node])}, "factories.For pods/v1: WithTransform: a transform of *v1.Node given to an informer of *v1.Pod"},
		"not a shard": {opts{informer.WithShardSelector("x")}, nil,
			`factories.For pods/v1: source.New of pods/v1: the shard selector's "x" is not of the form shardRange(object.metadata.uid, '0x…', '0x…')`},
		"empty annotation": {opts{informer.WithoutAnnotations("a", "")}, nil, "factories.New: WithoutAnnotations: a key is empty"},
		"negative timeouts": {opts{informer.WithTuning(reflector.Tuning{WatchTimeout: -1}), informer.WithTuning(reflector.Tuning{SilenceTimeout: -1})}, opts{informer.WithTuning(reflector.Tuning{InitialEventsTimeout: -1})},
			"factories.New: WithTuning: negative Tuning.WatchTimeout -1ns; 0 means its default\n" +
				"WithTuning: negative Tuning.SilenceTimeout -1ns; 0 means its default\n" +
				"factories.For pods/v1: WithTuning: negative Tuning.InitialEventsTimeout -1ns; 0 means its default"},
	} {
		t.Run(name, func(t *testing.T) {
			f := factories.New(client, test.factory...)
			podsOf(f, test.call...)
			podsOf(f, test.call...) // the error appears once
			want(t, f.Start(t.Context()), "informer factory: Start: "+test.want)
		})
	}
	f := factories.New(client, informer.WithTuning(reflector.Tuning{Backoff: reflector.Backoff{Jitter: 1.5}}))
	if err := f.Start(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "informer factory: Start: factories.New: WithTuning: ") {
		t.Errorf("Start() = %v, want an error of WithTuning", err)
	}
	for name, opt := range map[string]informer.Option{
		"WithNamespace": informer.WithNamespace("a"), "WithShardSelector": informer.WithShardSelector(""), "WithFormats": informer.WithFormats(),
		"WithoutManagedFields": informer.WithoutManagedFields(), "WithoutAnnotations": informer.WithoutAnnotations("a"),
	} {
		_, err := informer.New(newShop().Source(t), opt)
		want(t, err, "informer.New: "+name+": not an option of informer.New; use it with factories.New or factories.For")
		if opt.String() != name {
			t.Errorf("String() of %s = %v", name, opt)
		}
	}
}

// TestSecondForMustAgree passes each option to For for an existing informer that was made without
// it.
func TestSecondForMustAgree(t *testing.T) {
	client := newShop().Client(t)
	for _, opt := range []informer.Option{
		informer.WithTuning(reflector.Tuning{Backoff: reflector.Backoff{Initial: time.Hour, Max: time.Hour}}), informer.WithTuning(reflector.Tuning{WatchTimeout: time.Hour}), informer.WithTuning(reflector.Tuning{SilenceTimeout: time.Hour}),
		informer.WithTuning(reflector.Tuning{InitialEventsTimeout: time.Hour}), informer.WithFormats(source.JSON), informer.WithoutManagedFields(), informer.WithoutAnnotations("a"),
		informer.WithoutSharing(), informer.WithOptionalResource(), informer.WithTransform(keep[*corev1.Pod]), informer.WithErrorHandler(func(string, error) {}), informer.WithMetrics(&noMetrics{}),
		informer.WithMutationDetector(func(informer.Mutation) {}), informer.WithTuning(reflector.Tuning{PageSize: 7}), informer.WithTuning(reflector.Tuning{DisableWatchList: true}), informer.WithResyncPeriod(time.Hour),
	} {
		f := factories.New(client)
		pods := podsOf(f)
		if podsOf(f, opt) != pods {
			t.Errorf("For with %v has returned another informer", opt)
		}
		want(t, f.Start(t.Context()), "informer factory: Start: factories.For pods/v1: "+opt.String()+
			": the informer was made with another value; give it to the first For, or to none, or make another informer by WithName")

		f = factories.New(client)
		podsOf(f, opt)
		podsOf(f, opt)
		podsOf(f)
		podsOf(f, informer.WithName("another"), opt)
		if err := f.Start(t.Context()); err != nil {
			t.Errorf("Start after equal calls of For with %v: %v", opt, err)
		}
		shutdown(t, f)
	}
}

// TestIncomparableMetricsProviders shows that a provider that can't be compared agrees with any
// other.
func TestIncomparableMetricsProviders(t *testing.T) {
	f := newShop().Factory(t)
	for range 2 {
		podsOf(f, informer.WithMetrics(labelledMetrics{labels: []string{"app"}}))
	}
	noError(t, f.Start(t.Context()))
	shutdown(t, f)
}

// labelledMetrics has a comparable type, and a value that can't be compared.
type labelledMetrics struct{ labels any }

func (labelledMetrics) BeginInformer(string, func() metrics.InformerState) metrics.InformerRecorder {
	return noRecorder{}
}

// noMetrics is a Provider that drops all metrics.
type noMetrics struct{}

func (*noMetrics) BeginInformer(string, func() metrics.InformerState) metrics.InformerRecorder {
	return noRecorder{}
}

type noRecorder struct{}

func (noRecorder) ListDone(time.Duration, int)      {}
func (noRecorder) WatchDone(time.Duration, int)     {}
func (noRecorder) BatchDone(time.Duration, int)     {}
func (noRecorder) Failed(string)                    {}
func (noRecorder) CallbackDone(time.Duration, bool) {}
func (noRecorder) Close()                           {}
func (noRecorder) BeginHandler(string, func() metrics.HandlerState) metrics.HandlerRecorder {
	return noRecorder{}
}

// TestOptionsAreShared passes the same options to many calls at the same time.
func TestOptionsAreShared(t *testing.T) {
	client := newShop().Client(t)
	opts := []informer.Option{informer.WithNamespace("b", "a"), informer.WithoutAnnotations("b", "a"), informer.WithFormats(source.Protobuf, source.JSON), informer.WithIndexes(PodByNode)}
	f := factories.New(client)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { podsOf(f, opts...) })
		all.Go(func() { podsOf(factories.New(client, opts[:3]...)) })
	}
	all.Wait()
	same(t, "informers", len(f.Informers()), 1)
	same(t, "its name", f.Informers()[0].Status().Name, `pods/v1 in namespaces ["a" "b"]`)
}

// TestTransformOfAFactory shows that the factory's transform is the default of all kinds, and that
// nil cancels it for one.
func TestTransformOfAFactory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(labelled("shop", "blue", map[string]string{"app": "web"}))
		f := server.Factory(t, informer.WithTransform(func(obj object.Object) (object.Object, error) {
			obj.SetLabels(nil)
			return obj, nil
		}))
		pods := podsOf(f)
		dynamic := factories.For[*unstructured.Unstructured](f, podResource)
		labelled := podsOf(f, informer.WithName("with labels"), informer.WithTransform[*corev1.Pod](nil))
		run(t, f)
		key := object.Key{Namespace: "shop", Name: "blue"}
		one, _ := pods.Store().Snapshot().Get(key)
		two, _ := dynamic.Store().Snapshot().Get(key)
		three, _ := labelled.Store().Snapshot().Get(key)
		same(t, "labels", []int{len(one.Labels), len(two.GetLabels()), len(three.Labels)}, []int{0, 0, 1})
		shutdown(t, f)
	})
}

// TestSecondForWithAWrongOption shows that the error of a wrong option appears once, however often
// For is called.
func TestSecondForWithAWrongOption(t *testing.T) {
	f := newShop().Factory(t)
	podsOf(f)
	for range 3 {
		podsOf(f, informer.WithTuning(reflector.Tuning{PageSize: -1}), nil)
	}
	want(t, f.Start(t.Context()), "informer factory: Start: factories.For pods/v1: WithTuning: negative Tuning.PageSize -1; 0 means its default\noption 2 is nil")
}

// TestForAgainWithTheSameOptions shows that calls with equal arguments agree, also if they pass an
// option twice.
func TestForAgainWithTheSameOptions(t *testing.T) {
	f := newShop().Factory(t)
	for range 2 {
		podsOf(f, informer.WithTuning(reflector.Tuning{PageSize: 7}), informer.WithTuning(reflector.Tuning{PageSize: 8}))
	}
	podsOf(f, informer.WithTuning(reflector.Tuning{PageSize: 8}))
	noError(t, f.Start(t.Context()))
	shutdown(t, f)
}
