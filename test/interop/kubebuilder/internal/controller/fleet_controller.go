// SPDX-License-Identifier: Apache-2.0

// Package controller has the controllers of a harbour.
package controller

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	harbourv1 "github.com/informer-gen/informer-gen/test/interop/kubebuilder/api/v1"
)

// The fields of the indexes.
const (
	chartField = ".spec.chart"                 // of Fleets
	ownerField = ".metadata.ownerReferences[]" // of Boats: the name of the Fleet that controls it
)

// fleetFinalizer keeps a Fleet until its Boats are gone.
const fleetFinalizer = "harbour.example.com/fleet"

// FleetReconciler launches and scraps the Boats of Fleets.
type FleetReconciler struct {
	client.Client
	Scheme   *runtime.Scheme
	Recorder events.EventRecorder
}

// +kubebuilder:rbac:groups=harbour.example.com,resources=fleets,verbs=get;list;watch;update
// +kubebuilder:rbac:groups=harbour.example.com,resources=fleets/status,verbs=update
// +kubebuilder:rbac:groups=harbour.example.com,resources=fleets/finalizers,verbs=update
// +kubebuilder:rbac:groups=harbour.example.com,resources=boats,verbs=get;list;watch;create;update;delete
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconcile brings a Fleet to the state of its spec and its chart.
func (r *FleetReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var fleet harbourv1.Fleet
	if err := r.Get(ctx, req.NamespacedName, &fleet); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	var boats harbourv1.BoatList
	if err := r.List(ctx, &boats, client.InNamespace(fleet.Namespace), client.MatchingFields{ownerField: fleet.Name}); err != nil {
		return ctrl.Result{}, err
	}
	if !fleet.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, r.disband(ctx, &fleet, boats.Items)
	}
	if controllerutil.AddFinalizer(&fleet, fleetFinalizer) {
		return ctrl.Result{}, r.Update(ctx, &fleet)
	}

	var chart corev1.ConfigMap
	err := r.Get(ctx, client.ObjectKey{Namespace: fleet.Namespace, Name: fleet.Spec.Chart}, &chart)
	if apierrors.IsNotFound(err) {
		return ctrl.Result{}, r.report(ctx, &fleet, 0, "ChartMissing", "there is no chart "+fleet.Spec.Chart)
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	if err := r.arrange(ctx, &fleet, boats.Items, chart.Data["depth"]); err != nil {
		return ctrl.Result{}, err
	}
	ready := int32(0)
	for _, boat := range boats.Items {
		c := meta.FindStatusCondition(boat.Status.Conditions, harbourv1.ConditionReady)
		if boat.DeletionTimestamp.IsZero() && c != nil && c.Status == metav1.ConditionTrue && c.ObservedGeneration == boat.Generation {
			ready++
		}
	}
	if ready != fleet.Spec.Size {
		return ctrl.Result{}, r.report(ctx, &fleet, ready, "BoatsMissing", "not all boats are ready")
	}
	return ctrl.Result{}, r.report(ctx, &fleet, ready, harbourv1.ConditionReady, "all boats are ready")
}

// arrange launches missing Boats, scraps surplus ones, and gives the others the depth of the chart.
func (r *FleetReconciler) arrange(ctx context.Context, fleet *harbourv1.Fleet, boats []harbourv1.Boat, depth string) error {
	var names []string
	for n := range fleet.Spec.Size {
		names = append(names, fmt.Sprintf("%s-%d", fleet.Name, n))
	}
	for _, boat := range boats {
		at := slices.Index(names, boat.Name)
		if at < 0 {
			if err := r.scrap(ctx, fleet, &boat); err != nil {
				return err
			}
			continue
		}
		names = slices.Delete(names, at, at+1)
		if boat.Spec.Depth != depth {
			boat.Spec.Depth = depth
			if err := r.Update(ctx, &boat); err != nil {
				return err
			}
		}
	}
	for _, name := range names {
		boat := &harbourv1.Boat{
			ObjectMeta: metav1.ObjectMeta{Namespace: fleet.Namespace, Name: name},
			Spec:       harbourv1.BoatSpec{Depth: depth},
		}
		if err := controllerutil.SetControllerReference(fleet, boat, r.Scheme); err != nil {
			return err
		}
		if err := r.Create(ctx, boat); apierrors.IsAlreadyExists(err) {
			continue // the cache doesn't have it yet
		} else if err != nil {
			return err
		}
		r.Recorder.Eventf(fleet, boat, corev1.EventTypeNormal, "Launched", "Create", "launched boat %s", name)
	}
	return nil
}

// scrap deletes a Boat that is not being deleted yet.
func (r *FleetReconciler) scrap(ctx context.Context, fleet *harbourv1.Fleet, boat *harbourv1.Boat) error {
	if !boat.DeletionTimestamp.IsZero() {
		return nil
	}
	if err := r.Delete(ctx, boat); err != nil {
		return client.IgnoreNotFound(err)
	}
	r.Recorder.Eventf(fleet, boat, corev1.EventTypeNormal, "Scrapped", "Delete", "scrapped boat %s", boat.Name)
	return nil
}

// disband scraps all Boats, and lets go of the Fleet when they are gone.
func (r *FleetReconciler) disband(ctx context.Context, fleet *harbourv1.Fleet, boats []harbourv1.Boat) error {
	for _, boat := range boats {
		if err := r.scrap(ctx, fleet, &boat); err != nil {
			return err
		}
	}
	if len(boats) > 0 || !controllerutil.RemoveFinalizer(fleet, fleetFinalizer) {
		return nil
	}
	return client.IgnoreNotFound(r.Update(ctx, fleet))
}

// report writes the status if it differs. The Fleet is ready if the reason is ConditionReady.
func (r *FleetReconciler) report(ctx context.Context, fleet *harbourv1.Fleet, ready int32, reason, message string) error {
	status := metav1.ConditionFalse
	if reason == harbourv1.ConditionReady {
		status = metav1.ConditionTrue
	}
	changed := meta.SetStatusCondition(&fleet.Status.Conditions, metav1.Condition{
		Type: harbourv1.ConditionReady, Status: status, Reason: reason, Message: message, ObservedGeneration: fleet.Generation,
	})
	if !changed && fleet.Status.ReadyBoats == ready && fleet.Status.ObservedGeneration == fleet.Generation {
		return nil
	}
	fleet.Status.ReadyBoats, fleet.Status.ObservedGeneration = ready, fleet.Generation
	return r.Status().Update(ctx, fleet)
}

// SetupWithManager adds the indexes and the controller to a manager.
func (r *FleetReconciler) SetupWithManager(mgr ctrl.Manager) error {
	ctx, indexer := context.Background(), mgr.GetFieldIndexer()
	err := indexer.IndexField(ctx, &harbourv1.Boat{}, ownerField, func(obj client.Object) []string {
		owner := metav1.GetControllerOf(obj)
		if owner == nil || owner.APIVersion != harbourv1.GroupVersion.String() || owner.Kind != "Fleet" {
			return nil
		}
		return []string{owner.Name}
	})
	if err != nil {
		return err
	}
	err = indexer.IndexField(ctx, &harbourv1.Fleet{}, chartField, func(obj client.Object) []string {
		return []string{obj.(*harbourv1.Fleet).Spec.Chart}
	})
	if err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).
		For(&harbourv1.Fleet{}).
		Owns(&harbourv1.Boat{}).
		Watches(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(r.fleetsWithChart), builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})).
		Named("fleet").
		Complete(r)
}

// fleetsWithChart returns the Fleets that sail by a chart.
func (r *FleetReconciler) fleetsWithChart(ctx context.Context, chart client.Object) []reconcile.Request {
	var fleets harbourv1.FleetList
	if err := r.List(ctx, &fleets, client.InNamespace(chart.GetNamespace()), client.MatchingFields{chartField: chart.GetName()}); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "list the fleets of a chart", "chart", chart.GetName())
		return nil
	}
	var requests []reconcile.Request
	for _, fleet := range fleets.Items {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&fleet)})
	}
	return requests
}
