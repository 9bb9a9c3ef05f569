// SPDX-License-Identifier: Apache-2.0

//lint:file-ignore SA1019 Endpoints are what this package is about.

package endpoints

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/pkg/controller/endpoint"

	rules "github.com/informer-gen/informer-gen/examples/endpoints-controller/endpoints"
	"github.com/informer-gen/informer-gen/examples/endpoints-controller/generated/informers"
	projections "github.com/informer-gen/informer-gen/examples/endpoints-controller/generated/projections/core/v1"
	"github.com/informer-gen/informer-gen/examples/endpoints-controller/reconciler"
	"github.com/informer-gen/informer-gen/examples/endpoints-controller/selectors"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// workers is the number of workers, the default of both.
const workers = 5

// runKubernetes runs Kubernetes' controller until ctx is done.
func runKubernetes(ctx context.Context, config *rest.Config, batch time.Duration) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := clientinformers.NewSharedInformerFactory(client, 0)
	core := factory.Core().V1()
	c := endpoint.NewEndpointController(ctx, core.Pods(), core.Services(), core.Endpoints(), client, batch)
	factory.StartWithContext(ctx)
	c.Run(ctx, workers)
	factory.Shutdown()
	return nil
}

// runOurs runs our controller until ctx is done.
func runOurs(ctx context.Context, config *rest.Config, batch time.Duration) error {
	client, err := source.NewClient(config)
	if err != nil {
		return err
	}
	r, err := reconciler.New(client, informers.NewSharedInformerFactory(client), reconciler.Options{Concurrency: workers, BatchPeriod: batch})
	if err != nil {
		return err
	}
	if err := r.Run(ctx); ctx.Err() == nil {
		return err
	}
	return nil
}

// side is one of the two controllers. While its histories are played, it is alone in its cluster.
type side struct {
	name, prefix string // prefix is the prefix of its namespaces
	run          func(ctx context.Context, config *rest.Config, batch time.Duration) error
}

var sides = []side{{"Kubernetes", "theirs", runKubernetes}, {"ours", "ours", runOurs}}

// stage is the cluster of histories, and its times.
type stage struct {
	config *rest.Config
	batch  time.Duration // the controller's
	pause  time.Duration // between two steps, at most
	// strict is set if the server refuses invalid objects and serves both sides.
	strict bool
	// retryTime is the time for Kubernetes' controller to repeat its failed syncs. If a Service is
	// touched earlier, it may give up: its cache is behind, and 15 failures in a row are enough.
	retryTime time.Duration
	// settle waits until the controller is idle.
	settle func([]*history) error
}

// play plays the histories of some seeds to the controller, all at once, and returns their results.
func (s side) play(ctx context.Context, on stage, seeds []uint64) (results []result, err error) {
	config := rest.CopyConfig(on.config)
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	// At its start, a controller deletes Endpoints without a Service. Once these are gone, that is
	// over: Endpoints written by hand later stay.
	orphan := &corev1.Endpoints{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "orphan-" + s.prefix}}
	if _, err := client.CoreV1().Endpoints(orphan.Namespace).Create(ctx, orphan, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	running, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- s.run(running, config, on.batch) }()
	defer func() {
		cancel()
		if e := <-ended; err == nil {
			err = e
		}
	}()

	if err := awaitGone(ctx, client.CoreV1().Endpoints(orphan.Namespace), orphan.Name); err != nil {
		return nil, err
	}
	histories, errs := make([]*history, len(seeds)), make([]error, len(seeds))
	var wg sync.WaitGroup
	for i, seed := range seeds {
		histories[i] = newHistory(seed, s.prefix, on.strict, client.CoreV1())
		wg.Go(func() { errs[i] = histories[i].play(ctx, on) })
	}
	wg.Wait()
	if s.name != "ours" {
		time.Sleep(on.retryTime)
		for i, h := range histories {
			if errs[i] == nil {
				errs[i] = h.touch(ctx)
			}
		}
	}
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	if err := on.settle(histories); err != nil {
		return nil, err
	}
	for _, h := range histories {
		r, err := h.result(ctx)
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}

// awaitGone waits until the Endpoints are gone.
func awaitGone(ctx context.Context, endpoints typedcorev1.EndpointsInterface, name string) error {
	const patience = 2 * time.Minute
	for began := time.Now(); time.Since(began) < patience; time.Sleep(10 * time.Millisecond) {
		if _, err := endpoints.Get(ctx, name, metav1.GetOptions{}); apierrors.IsNotFound(err) {
			return nil
		}
	}
	return fmt.Errorf("Endpoints %s without a Service are still there after %v", name, patience)
}

// difference returns the difference between the Endpoints and the rules, or "".
func (r result) difference() string {
	switch {
	case r.service == nil && r.endpoints != nil:
		return "the Service is gone, its Endpoints are still there"
	case r.service == nil || !selectors.Managed(r.service):
		return "" // the Endpoints depend on earlier states
	case r.endpoints == nil:
		return "no Endpoints"
	}
	got := r.endpoints
	want, _ := rules.Desired(r.service, r.podEndpoints(), nil, time.Time{})
	if _, write := rules.Desired(r.service, r.podEndpoints(), got, time.Time{}); write {
		return fmt.Sprintf("got\n%s\nwant\n%s", canonical(got), canonical(want))
	}
	return ""
}

// podEndpoints returns the projections of the Pods, as arguments of the rules.
func (r result) podEndpoints() []*projections.PodEndpoint {
	var all []*projections.PodEndpoint
	for _, pod := range r.pods {
		all = append(all, projections.NewPodEndpoint(pod))
	}
	return all
}

// canonical returns the fields on which both controllers must agree, in a fixed order.
func canonical(e *corev1.Endpoints) string {
	if e == nil {
		return "none"
	}
	e = e.DeepCopy()
	if delete(e.Annotations, corev1.EndpointsLastChangeTriggerTime); len(e.Annotations) == 0 {
		e.Annotations = nil
	}
	var lines []string
	for i := range e.Subsets {
		s := &e.Subsets[i]
		for _, addresses := range [][]corev1.EndpointAddress{s.Addresses, s.NotReadyAddresses} {
			for k := range addresses {
				if ref := addresses[k].TargetRef; ref != nil {
					ref.Namespace, ref.UID = "", "" // they differ between the sides
				}
			}
			slices.SortFunc(addresses, func(a, b corev1.EndpointAddress) int { return strings.Compare(text(a), text(b)) })
		}
		slices.SortFunc(s.Ports, func(a, b corev1.EndpointPort) int { return strings.Compare(text(a), text(b)) })
		lines = append(lines, text(s))
	}
	slices.Sort(lines)
	if e.Annotations[corev1.EndpointsOverCapacity] != "" && len(e.Subsets) > 1 {
		lines = []string{"truncated by hash, of which UIDs are a part"}
	}
	return fmt.Sprintf("labels %s\nannotations %s\n%s", text(e.Labels), text(e.Annotations), strings.Join(lines, "\n"))
}

func text(value any) string {
	b, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// sameBytes reports whether the subsets equal the rules' subsets, also in their order.
func (r result) sameBytes() bool {
	if r.service == nil || !selectors.Managed(r.service) {
		return true
	}
	want, _ := rules.Desired(r.service, r.podEndpoints(), nil, time.Time{})
	return equality.Semantic.DeepEqual(r.endpoints.Subsets, want.Subsets)
}
