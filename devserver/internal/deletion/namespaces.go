// SPDX-License-Identifier: Apache-2.0

package deletion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// Namespaces removes the content of each deleted namespace, and then the namespace.
type Namespaces struct {
	client    typedcorev1.NamespaceInterface
	objects   metadata.Interface
	resources Resources
	informer  cache.SharedIndexInformer
}

// NewNamespaces returns a remover for resources. informer is one of namespaces, and must run beside
// it.
func NewNamespaces(client typedcorev1.NamespaceInterface, objects metadata.Interface, resources Resources, informer cache.SharedIndexInformer) *Namespaces {
	return &Namespaces{client, objects, resources, informer}
}

// The pauses before another look at a namespace with content.
const firstRetry, lastRetry = 10 * time.Millisecond, 2 * time.Second

// Run works until ctx ends, and returns when its goroutines have ended.
func (n *Namespaces) Run(ctx context.Context) error {
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[string](firstRetry, lastRetry))
	note := func(obj any) {
		if ns, ok := obj.(*corev1.Namespace); ok && ns.DeletionTimestamp != nil {
			queue.Add(ns.Name)
		}
	}
	registration, err := n.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: note, UpdateFunc: func(_, obj any) { note(obj) },
	})
	if err != nil {
		queue.ShutDown()
		return fmt.Errorf("watch namespaces: %w", err)
	}
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for {
				name, shutdown := queue.Get()
				if shutdown {
					return
				}
				if err := n.empty(ctx, name); err != nil {
					queue.AddRateLimited(name)
				} else {
					queue.Forget(name)
				}
				queue.Done(name)
			}
		})
	}
	<-ctx.Done()
	queue.ShutDown()
	workers.Wait()
	return n.informer.RemoveEventHandler(registration)
}

// empty deletes the content of a namespace, and the namespace if nothing is left. The error names
// the rest.
func (n *Namespaces) empty(ctx context.Context, name string) error {
	ns, err := n.client.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && (ns.DeletionTimestamp == nil || !slices.Contains(ns.Spec.Finalizers, corev1.FinalizerKubernetes)) {
		return nil
	}
	if err != nil {
		return err
	}
	var left []string
	var errs []error
	for _, resource := range n.resources() {
		if !resource.Namespaced {
			continue
		}
		count, err := n.deleteAll(ctx, resource, name)
		if err != nil {
			errs = append(errs, fmt.Errorf("delete %s: %w", resource.GroupResource(), err))
		} else if count > 0 {
			left = append(left, fmt.Sprintf("%s has %d", resource.GroupResource(), count))
		}
	}
	if len(errs) == 0 && len(left) == 0 {
		ns.Spec.Finalizers = slices.DeleteFunc(ns.Spec.Finalizers, func(f corev1.FinalizerName) bool { return f == corev1.FinalizerKubernetes })
		_, err := n.client.Finalize(ctx, ns, metav1.UpdateOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	}
	return errors.Join(fmt.Errorf("content is left: %s", strings.Join(left, ", ")), errors.Join(errs...), n.report(ctx, ns, left, errs))
}

// deleteAll deletes the objects of a namespace at once, and returns how many remain.
func (n *Namespaces) deleteAll(ctx context.Context, resource Resource, namespace string) (left int, err error) {
	client := resource.in(n.objects, namespace)
	list, err := client.List(ctx, metav1.ListOptions{})
	if apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) {
		return 0, nil // its CRD is gone
	}
	if err != nil || len(list.Items) == 0 {
		return 0, err
	}
	// No node reports a Pod's end, and a Job would orphan its Pods.
	now := metav1.NewDeleteOptions(0)
	now.PropagationPolicy = new(metav1.DeletePropagationBackground)
	err = client.DeleteCollection(ctx, *now, metav1.ListOptions{})
	if err != nil {
		return 0, err
	}
	if list, err = client.List(ctx, metav1.ListOptions{}); err != nil {
		return 0, err
	}
	return len(list.Items), nil
}

func (n *Namespaces) report(ctx context.Context, ns *corev1.Namespace, left []string, failures []error) error {
	before := slices.Clone(ns.Status.Conditions)
	condition := func(kind corev1.NamespaceConditionType, reason, fine, message string) {
		now := corev1.NamespaceCondition{Type: kind, Status: corev1.ConditionTrue, Reason: reason, Message: message, LastTransitionTime: metav1.Now()}
		if message == "" {
			now.Status, now.Reason, now.Message = corev1.ConditionFalse, fine, "nothing is left to do"
		}
		at := slices.IndexFunc(ns.Status.Conditions, func(c corev1.NamespaceCondition) bool { return c.Type == kind })
		if at < 0 {
			ns.Status.Conditions = append(ns.Status.Conditions, now)
			return
		}
		if old := ns.Status.Conditions[at]; old.Status == now.Status {
			now.LastTransitionTime = old.LastTransitionTime
		}
		ns.Status.Conditions[at] = now
	}
	failed, content := "", ""
	if err := errors.Join(failures...); err != nil {
		failed = err.Error()
	}
	if len(left) > 0 {
		content = "objects with finalizers remain: " + strings.Join(left, ", ")
	}
	condition(corev1.NamespaceDeletionContentFailure, "ContentDeletionFailed", "ContentDeleted", failed)
	condition(corev1.NamespaceContentRemaining, "SomeResourcesRemain", "ContentRemoved", content)
	if slices.Equal(before, ns.Status.Conditions) {
		return nil
	}
	_, err := n.client.UpdateStatus(ctx, ns, metav1.UpdateOptions{})
	return err
}
