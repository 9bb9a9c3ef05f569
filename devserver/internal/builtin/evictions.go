// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
)

// evictionStorage serves the subresource eviction of Pods, which kubectl drain creates: it deletes
// a Pod if the disruption budget allows that.
type evictionStorage struct{ pods, budgets *registry.Store } // with any update

var (
	_ rest.NamedCreater             = evictionStorage{}
	_ rest.GroupVersionKindProvider = evictionStorage{}
)

func (s evictionStorage) New() runtime.Object { return &policyv1.Eviction{} }
func (s evictionStorage) Destroy()            {}

func (s evictionStorage) GroupVersionKind(schema.GroupVersion) schema.GroupVersionKind {
	return policyv1.SchemeGroupVersion.WithKind("Eviction")
}

// Create evicts a Pod.
func (s evictionStorage) Create(ctx context.Context, name string, obj runtime.Object, valid rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	eviction := obj.(*policyv1.Eviction)
	if eviction.Name != name {
		return nil, apierrors.NewBadRequest("name in URL does not match name in Eviction object")
	}
	if valid != nil {
		if err := valid(ctx, obj); err != nil {
			return nil, err
		}
	}
	deletion := &metav1.DeleteOptions{}
	if eviction.DeleteOptions != nil {
		deletion = eviction.DeleteOptions
	}
	if len(deletion.DryRun) == 0 {
		deletion.DryRun = options.DryRun
	}
	for {
		again, err := s.evict(ctx, name, deletion.DeepCopy())
		if again && apierrors.IsConflict(err) && ctx.Err() == nil {
			continue
		} else if err != nil {
			return nil, err
		}
		return &metav1.Status{Status: metav1.StatusSuccess}, nil
	}
}

// evict deletes a Pod. again reports whether a conflict means only that the Pod has changed since
// its budget was checked.
func (s evictionStorage) evict(ctx context.Context, name string, deletion *metav1.DeleteOptions) (again bool, err error) {
	obj, err := s.pods.Get(ctx, name, &metav1.GetOptions{})
	if err != nil {
		return false, err
	}
	pod := obj.(*corev1.Pod)
	free := true // no budget counts the Pod as it is
	switch phase := pod.Status.Phase; {
	case pod.DeletionTimestamp != nil || phase == corev1.PodSucceeded || phase == corev1.PodFailed:
		return false, s.delete(ctx, name, deletion)
	case phase == corev1.PodPending:
	default:
		if free, err = s.spend(ctx, pod, deletion.DryRun); err != nil {
			return false, err
		}
	}
	if deletion.Preconditions == nil {
		deletion.Preconditions = &metav1.Preconditions{}
	}
	if free && deletion.Preconditions.ResourceVersion == nil {
		deletion.Preconditions.ResourceVersion = &pod.ResourceVersion
		again = true
	}
	return again, s.delete(ctx, name, deletion)
}

// spend takes one disruption from the Pod's budget. free reports that none was needed, because the
// Pod is not ready and the budget doesn't keep such Pods.
func (s evictionStorage) spend(ctx context.Context, pod *corev1.Pod, dryRun []string) (free bool, err error) {
	list, err := s.budgets.List(ctx, nil)
	if err != nil {
		return false, err
	}
	budgets := slices.DeleteFunc(list.(*policyv1.PodDisruptionBudgetList).Items, func(b policyv1.PodDisruptionBudget) bool {
		selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
		return err != nil || !selector.Matches(labels.Set(pod.Labels))
	})
	if len(budgets) == 0 {
		return false, nil
	}
	if len(budgets) > 1 {
		return false, &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusInternalServerError,
			Message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
		}}
	}
	b := &budgets[0]
	ready := slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
	always := b.Spec.UnhealthyPodEvictionPolicy != nil && *b.Spec.UnhealthyPodEvictionPolicy == policyv1.AlwaysAllow
	if !ready && (always || b.Status.DesiredHealthy > 0 && b.Status.CurrentHealthy >= b.Status.DesiredHealthy) {
		return true, nil
	}
	take := func(_ context.Context, _, old runtime.Object) (runtime.Object, error) {
		b := old.(*policyv1.PodDisruptionBudget).DeepCopy()
		return b, disrupt(b, pod.Name)
	}
	_, _, err = s.budgets.Update(ctx, b.Name, rest.DefaultUpdatedObjectInfo(nil, take), rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{DryRun: dryRun})
	return false, err
}

// disrupt notes in a budget's status that a Pod goes, or returns why it must stay.
func disrupt(b *policyv1.PodDisruptionBudget, pod string) error {
	status := &b.Status
	refuse := func(retryAfter int, format string, args ...any) error {
		err := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", retryAfter)
		err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: policyv1.DisruptionBudgetCause, Message: "The disruption budget " + b.Name + fmt.Sprintf(format, args...)}}
		return err
	}
	allowed := meta.FindStatusCondition(status.Conditions, policyv1.DisruptionAllowedCondition)
	switch {
	case status.ObservedGeneration < b.Generation:
		return refuse(10, " is still being processed by the server.")
	case status.DisruptionsAllowed > 0:
	case status.DisruptionsAllowed < 0:
		return apierrors.NewForbidden(policyv1.Resource("poddisruptionbudget"), b.Name, fmt.Errorf("pdb disruptions allowed is negative"))
	case status.CurrentHealthy <= status.DesiredHealthy:
		return refuse(0, " needs %d healthy pods and has %d currently", status.DesiredHealthy, status.CurrentHealthy)
	case allowed != nil && allowed.Status == metav1.ConditionFalse && allowed.Message != "":
		return refuse(0, " does not allow evicting pods currently (%s): %s", allowed.Reason, allowed.Message)
	default:
		return refuse(0, " does not allow evicting pods currently")
	}
	status.DisruptionsAllowed--
	if status.DisruptionsAllowed == 0 {
		meta.SetStatusCondition(&status.Conditions, metav1.Condition{
			Type: policyv1.DisruptionAllowedCondition, Status: metav1.ConditionFalse,
			Reason: policyv1.InsufficientPodsReason, ObservedGeneration: status.ObservedGeneration,
		})
	}
	if status.DisruptedPods == nil {
		status.DisruptedPods = map[string]metav1.Time{}
	}
	status.DisruptedPods[pod] = metav1.Now()
	return nil
}

// delete deletes a Pod, after noting the reason in its status.
func (s evictionStorage) delete(ctx context.Context, name string, options *metav1.DeleteOptions) error {
	if len(options.DryRun) == 0 {
		note := func(_ context.Context, _, old runtime.Object) (runtime.Object, error) {
			pod := old.(*corev1.Pod).DeepCopy()
			if p := options.Preconditions; p != nil {
				if p.UID != nil && *p.UID != pod.UID {
					return nil, apierrors.NewConflict(corev1.Resource("pods"), name, fmt.Errorf("the UID in the precondition (%s) does not match the UID in record (%s)", *p.UID, pod.UID))
				}
				if p.ResourceVersion != nil && *p.ResourceVersion != pod.ResourceVersion {
					return nil, apierrors.NewConflict(corev1.Resource("pods"), name,
						fmt.Errorf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s)", *p.ResourceVersion, pod.ResourceVersion))
				}
			}
			pod.Status.Conditions = slices.DeleteFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.DisruptionTarget })
			pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
				Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now(),
				Reason: "EvictionByEvictionAPI", Message: "Eviction API: evicting",
			})
			return pod, nil
		}
		noted, _, err := s.pods.Update(ctx, name, rest.DefaultUpdatedObjectInfo(nil, note), rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{})
		if err != nil {
			return err
		}
		if options.Preconditions != nil && options.Preconditions.ResourceVersion != nil {
			options.Preconditions.ResourceVersion = new(accessor(noted).GetResourceVersion())
		}
	}
	_, _, err := s.pods.Delete(ctx, name, rest.ValidateAllObjectFunc, options)
	return err
}
