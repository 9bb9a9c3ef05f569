// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/informer-gen/informer-gen/adapter/controllerruntime"
	"github.com/informer-gen/informer-gen/runtime/manager/shard"
)

// newRuntimeManager is [newManager] with a manager and a controller of controller-runtime.
func newRuntimeManager(config *rest.Config, member *shard.Ring, by *answerer) (run func(context.Context) error, err error) {
	ctrl.SetLogger(klog.Background())
	ring := controllerruntime.NewRing(member)
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		// The client of the manager is fenced: it sends nothing for a namespace of another member.
		NewCache: ring.NewCache, NewClient: ring.NewClient,
		Metrics: metricsserver.Options{BindAddress: "0"},
	})
	if err != nil {
		return nil, err
	}
	if err := mgr.Add(ring); err != nil {
		return nil, err
	}
	work := ring.Reconciler(&corev1.ConfigMap{}, &runtimeReconciler{by, mgr.GetClient()})
	// The tests make several controllers of one name.
	options := controller.Options{MaxConcurrentReconciles: concurrency, SkipNameValidation: ptr.To(true)}
	err = ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).WatchesRawSource(work).WithOptions(options).Complete(work)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		if err := mgr.Start(ctx); err != nil {
			return err
		}
		return context.Cause(ctx) // which Start leaves out
	}, nil
}

// runtimeReconciler answers requests by the manager's client, which is fenced, and reads the cache.
type runtimeReconciler struct {
	*answerer
	client client.Client
}

// Reconcile implements reconcile.Reconciler. It is also called for answers.
func (r *runtimeReconciler) Reconcile(ctx context.Context, key ctrl.Request) (ctrl.Result, error) {
	if key.Name != requestName {
		return ctrl.Result{}, nil
	}
	var request corev1.ConfigMap
	if err := r.client.Get(ctx, key.NamespacedName, &request); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	last := &corev1.ConfigMap{}
	switch err := r.client.Get(ctx, client.ObjectKey{Namespace: key.Namespace, Name: answerName}, last); {
	case apierrors.IsNotFound(err):
		last = nil
	case err != nil:
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.answer(&request, last, func(next *corev1.ConfigMap) (*corev1.ConfigMap, error) {
		if next.ResourceVersion == "" {
			return next, r.client.Create(ctx, next)
		}
		return next, r.client.Update(ctx, next)
	})
}
