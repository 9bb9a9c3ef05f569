// SPDX-License-Identifier: Apache-2.0

//lint:file-ignore SA1019 Endpoints are what this package is about.

package reconciler

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/informer-gen/informer-gen/examples/endpoints-controller/endpoints"
	"github.com/informer-gen/informer-gen/examples/endpoints-controller/selectors"
	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/object"
)

func (r *Reconciler) reconcile(ctx context.Context, key object.Key) (controller.Result, error) {
	service, err := r.services.Services(key.Namespace).Get(key.Name)
	switch {
	case apierrors.IsNotFound(err):
		r.times.Forget(key)
		return controller.Result{}, r.remove(ctx, key)
	case err != nil:
		return controller.Result{}, err
	case !selectors.Managed(service):
		return controller.Result{}, nil
	}
	pods, err := r.pods.PodEndpoints(key.Namespace).List(labels.SelectorFromSet(service.Spec.Selector))
	if err != nil {
		return controller.Result{}, err
	}
	trigger := r.times.Observe(service, pods) // even if there is nothing to write
	current, err := r.current(key)
	if err != nil {
		return controller.Result{}, err
	}
	if desired, write := endpoints.Desired(service, pods, current, trigger); write {
		return controller.Result{}, r.write(ctx, key, current, desired)
	}
	return controller.Result{}, nil
}

// current returns the Endpoints in the cache, or nil.
func (r *Reconciler) current(key object.Key) (*corev1.Endpoints, error) {
	current, err := r.endpoints.Endpoints(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return current, err
}

// remove deletes the Endpoints of a Service that is gone. If the cache has none, it asks the
// server: Endpoints that reach the cache in a moment would cause no event here.
func (r *Reconciler) remove(ctx context.Context, key object.Key) error {
	current, err := r.current(key)
	if err == nil && current == nil {
		current, err = r.writer.Get(ctx, key)
	}
	if err != nil {
		return ignoreNotFound(err)
	}
	_, err = r.writer.Delete(ctx, current, metav1.DeleteOptions{})
	return ignoreNotFound(err)
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// write creates or updates Endpoints. A failure is also reported as an event, unless the namespace
// is ending: nothing can be done then.
func (r *Reconciler) write(ctx context.Context, key object.Key, current, desired *corev1.Endpoints) error {
	if current != nil {
		_, _, err := r.writer.Update(ctx, desired)
		if err != nil {
			r.event(ctx, desired, "FailedToUpdateEndpoint", "Update", "Failed to update endpoint %s: %v", key, err)
		}
		return err
	}
	_, _, err := r.writer.Create(ctx, desired)
	if apierrors.IsForbidden(err) && apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return nil
	}
	if err != nil {
		r.event(ctx, desired, "FailedToCreateEndpoint", "Create", "Failed to create endpoint for service %s: %v", key, err)
	}
	return err
}

func (r *Reconciler) event(ctx context.Context, about *corev1.Endpoints, reason, action, note string, args ...any) {
	if r.recorder != nil && ctx.Err() == nil {
		r.recorder.Eventf(about, nil, corev1.EventTypeWarning, reason, action, note, args...)
	}
}
