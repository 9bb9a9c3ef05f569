// SPDX-License-Identifier: Apache-2.0

//lint:file-ignore SA1019 Endpoints are what this package is about.

package reconciler

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/informer-gen/informer-gen/examples/endpoints-controller/endpoints"
	projections "github.com/informer-gen/informer-gen/examples/endpoints-controller/generated/projections/core/v1"
	"github.com/informer-gen/informer-gen/examples/endpoints-controller/selectors"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// servicesOf appends the keys of the Services that select a Pod to dst. A Service not yet in the
// cache is queued when it comes.
func (r *Reconciler) servicesOf(pod *projections.PodEndpoint, dst []object.Key) []object.Key {
	if !r.serviceInformer.HasSynced() {
		return dst // all will come
	}
	services := r.services.Services(pod.Namespace)
	for _, pair := range selectors.OfPod(pod.Labels) {
		for service := range services.BySelector(pair) {
			if endpoints.Selects(service, pod) {
				dst = append(dst, object.KeyOf(service))
			}
		}
	}
	return dst
}

// deletions is a filter for Endpoints: those deleted by another client are written again. Other
// changes stay until the Service or its Pods change.
func deletions(_, obj *corev1.Endpoints) bool { return obj == nil }

// queueLeftovers queues the Endpoints present at the start: their Services may have gone while no
// controller ran. It returns early when ctx is done.
func (r *Reconciler) queueLeftovers(ctx context.Context) {
	select {
	case <-r.endpointsInformer.Synced():
	case <-ctx.Done():
		return
	}
	for e := range r.endpoints.All() {
		// Some elections are held on Endpoints, which have no Service.
		if _, elected := e.Annotations[resourcelock.LeaderElectionRecordAnnotationKey]; !elected {
			r.controller.Enqueue(object.KeyOf(e))
		}
	}
}
