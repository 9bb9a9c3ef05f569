// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	harbourv1 "github.com/informer-gen/informer-gen/test/interop/kubebuilder/api/v1"
)

// BoatReconciler keeps the logs of Boats.
type BoatReconciler struct {
	client.Client
	Scheme   *runtime.Scheme
	Recorder events.EventRecorder
}

// +kubebuilder:rbac:groups=harbour.example.com,resources=boats,verbs=get;list;watch
// +kubebuilder:rbac:groups=harbour.example.com,resources=boats/status,verbs=update
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch;create;update

// Reconcile writes a Boat's log and then its status.
func (r *BoatReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var boat harbourv1.Boat
	if err := r.Get(ctx, req.NamespacedName, &boat); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !boat.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}
	log := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: boat.Namespace, Name: boat.Name + "-log"}}
	done, err := controllerutil.CreateOrUpdate(ctx, r.Client, log, func() error {
		log.Data = map[string]string{"depth": boat.Spec.Depth}
		return controllerutil.SetControllerReference(&boat, log, r.Scheme)
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	if done == controllerutil.OperationResultCreated {
		r.Recorder.Eventf(&boat, log, corev1.EventTypeNormal, "LogBegun", "Create", "began log %s", log.Name)
	}
	changed := meta.SetStatusCondition(&boat.Status.Conditions, metav1.Condition{
		Type: harbourv1.ConditionReady, Status: metav1.ConditionTrue, Reason: "LogWritten", ObservedGeneration: boat.Generation,
	})
	if !changed && boat.Status.Log == log.Name {
		return ctrl.Result{}, nil
	}
	boat.Status.Log = log.Name
	return ctrl.Result{}, r.Status().Update(ctx, &boat)
}

// SetupWithManager adds the controller to a manager.
func (r *BoatReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&harbourv1.Boat{}).
		Owns(&corev1.ConfigMap{}).
		Named("boat").
		Complete(r)
}
