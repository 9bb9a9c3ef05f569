// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	"context"
	"maps"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
)

func podFields(obj runtime.Object) fields.Set {
	p := obj.(*corev1.Pod)
	ip := p.Status.PodIP
	if len(p.Status.PodIPs) > 0 {
		ip = p.Status.PodIPs[0].IP
	}
	return fields.Set{
		"spec.nodeName":            p.Spec.NodeName,
		"spec.restartPolicy":       string(p.Spec.RestartPolicy),
		"spec.schedulerName":       p.Spec.SchedulerName,
		"spec.serviceAccountName":  p.Spec.ServiceAccountName,
		"spec.hostNetwork":         strconv.FormatBool(p.Spec.HostNetwork),
		"status.phase":             string(p.Status.Phase),
		"status.podIP":             ip,
		"status.nominatedNodeName": p.Status.NominatedNodeName,
	}
}

func preparePod(_ context.Context, obj, old runtime.Object) {
	if old == nil {
		obj.(*corev1.Pod).Status.Phase = corev1.PodPending
	}
}

// podGrace returns how many seconds a deleted Pod is kept for its node: none without a node, or if
// the Pod has ended.
func podGrace(obj runtime.Object, asked *int64) int64 {
	p := obj.(*corev1.Pod)
	if asked == nil {
		asked = p.Spec.TerminationGracePeriodSeconds
	}
	switch {
	case p.Spec.NodeName == "" || p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded || asked == nil:
		return 0
	case *asked < 0:
		return 1
	}
	return *asked
}

func preparePVC(_ context.Context, obj, old runtime.Object) {
	if old == nil {
		obj.(*corev1.PersistentVolumeClaim).Status.Phase = corev1.ClaimPending
	}
}

// prepareSecret moves stringData, which can only be written, to data.
func prepareSecret(_ context.Context, obj, _ runtime.Object) {
	s := obj.(*corev1.Secret)
	for k, v := range s.StringData {
		if s.Data == nil {
			s.Data = map[string][]byte{}
		}
		s.Data[k] = []byte(v)
	}
	s.StringData = nil
}

func prepareVolume(_ context.Context, obj, old runtime.Object) {
	if old == nil {
		obj.(*corev1.PersistentVolume).Status.Phase = corev1.VolumePending
	}
}

// prepareJob gives a new Job's Pods labels of its own, and selects them.
func prepareJob(_ context.Context, obj, old runtime.Object) {
	j := obj.(*batchv1.Job)
	if old != nil || valueOf(j.Spec.ManualSelector) {
		return
	}
	labels := maps.Clone(j.Spec.Template.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	for _, prefix := range []string{"", "batch.kubernetes.io/"} {
		labels[prefix+"job-name"] = j.Name
		labels[prefix+"controller-uid"] = string(j.UID)
	}
	j.Spec.Template.Labels = labels
	if j.Spec.Selector == nil {
		j.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{batchv1.ControllerUidLabel: string(j.UID)}}
	}
}

// prepareCSR records who asks for a certificate. The request can't be changed later.
func prepareCSR(ctx context.Context, obj, old runtime.Object) {
	r := obj.(*certificatesv1.CertificateSigningRequest)
	if old != nil {
		r.Spec = *old.(*certificatesv1.CertificateSigningRequest).Spec.DeepCopy()
		return
	}
	r.Spec.Username, r.Spec.UID, r.Spec.Groups, r.Spec.Extra = "", "", nil, nil
	if user, ok := genericapirequest.UserFrom(ctx); ok {
		r.Spec.Username, r.Spec.UID, r.Spec.Groups = user.GetName(), user.GetUID(), user.GetGroups()
		for key, values := range user.GetExtra() {
			if r.Spec.Extra == nil {
				r.Spec.Extra = map[string]certificatesv1.ExtraValue{}
			}
			r.Spec.Extra[key] = values
		}
	}
}

// prepareService keeps the addresses of a Service for updates without any.
func prepareService(_ context.Context, obj, old runtime.Object) {
	if old == nil {
		return
	}
	s, before := &obj.(*corev1.Service).Spec, &old.(*corev1.Service).Spec
	if s.ClusterIP == "" && s.Type != corev1.ServiceTypeExternalName && before.Type != corev1.ServiceTypeExternalName {
		s.ClusterIP, s.ClusterIPs = before.ClusterIP, slices.Clone(before.ClusterIPs)
	}
}
