// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	"strconv"
	"sync"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kind is one built-in kind, with the peculiarities of its storage.
type kind struct {
	gv       schema.GroupVersion
	resource string // the plural name
	singular string
	short    []string // short names in kubectl
	inAll    bool     // kubectl get all shows it
	cluster  bool     // cluster-scoped

	object, list runtime.Object // prototypes

	// also is another group and version for the same objects; empty except for events.
	also schema.GroupVersion

	validName func(name string, prefix bool) []string // nil: a DNS subdomain

	// selectable returns the selectable fields besides those of metadata. Nil means none. The
	// fields of an empty object are the names that a selector may have.
	selectable func(runtime.Object) fields.Set

	// prepare completes an object to be written; old is nil for a create. Nil does nothing.
	prepare func(obj, old runtime.Object)

	// statusKeeps undoes changes of metadata that a write of the status may not make. Nil undoes
	// nothing.
	statusKeeps func(obj, old metav1.Object)

	// grace returns for how many seconds a deleted object is kept for its node. Nil means that it
	// is gone at once.
	grace func(obj runtime.Object, asked *int64) int64

	generation    bool   // metadata.generation counts changes of the content
	bornWithState bool   // a create may set the status
	createByPut   bool   // an update of a missing object creates it
	versionNeeded bool   // an update must name the resourceVersion
	orphans       bool   // a deletion leaves dependents alone by default
	scale         bool   // has a subresource scale
	seconds       uint64 // objects expire so long after the last write; 0 is never
}

var kinds = sync.OnceValue(table)

func table() []*kind {
	core, apps := corev1.SchemeGroupVersion, appsv1.SchemeGroupVersion
	return []*kind{
		{
			gv: core, resource: "namespaces", singular: "namespace", short: []string{"ns"}, cluster: true,
			object: &corev1.Namespace{}, list: &corev1.NamespaceList{},
			validName: validation.NameIsDNSLabel, selectable: namespaceFields, prepare: prepareNamespace, bornWithState: true,
		},
		{
			gv: core, resource: "pods", singular: "pod", short: []string{"po"}, inAll: true,
			object: &corev1.Pod{}, list: &corev1.PodList{},
			selectable: podFields, prepare: preparePod, grace: podGrace, generation: true,
			statusKeeps: func(obj, old metav1.Object) { obj.SetOwnerReferences(old.GetOwnerReferences()) },
		},
		{
			gv: core, resource: "services", singular: "service", short: []string{"svc"}, inAll: true,
			object: &corev1.Service{}, list: &corev1.ServiceList{},
			validName: validation.NameIsDNSLabel, createByPut: true,
			selectable: func(obj runtime.Object) fields.Set {
				s := obj.(*corev1.Service)
				return fields.Set{"spec.clusterIP": s.Spec.ClusterIP, "spec.type": string(s.Spec.Type)}
			},
		},
		{
			gv: core, resource: "endpoints", singular: "endpoints", short: []string{"ep"},
			//lint:ignore SA1019 clusters still have them
			object: &corev1.Endpoints{}, list: &corev1.EndpointsList{}, createByPut: true,
		},
		{
			gv: core, resource: "nodes", singular: "node", short: []string{"no"}, cluster: true,
			object: &corev1.Node{}, list: &corev1.NodeList{}, bornWithState: true,
			selectable: func(obj runtime.Object) fields.Set {
				return fields.Set{"spec.unschedulable": strconv.FormatBool(obj.(*corev1.Node).Spec.Unschedulable)}
			},
		},
		{
			gv: core, resource: "configmaps", singular: "configmap", short: []string{"cm"},
			object: &corev1.ConfigMap{}, list: &corev1.ConfigMapList{},
		},
		{
			gv: core, resource: "secrets", singular: "secret",
			object: &corev1.Secret{}, list: &corev1.SecretList{}, prepare: prepareSecret,
			selectable: func(obj runtime.Object) fields.Set { return fields.Set{"type": string(obj.(*corev1.Secret).Type)} },
		},
		{
			gv: core, resource: "serviceaccounts", singular: "serviceaccount", short: []string{"sa"},
			object: &corev1.ServiceAccount{}, list: &corev1.ServiceAccountList{},
		},
		{
			gv: core, resource: "persistentvolumeclaims", singular: "persistentvolumeclaim", short: []string{"pvc"},
			object: &corev1.PersistentVolumeClaim{}, list: &corev1.PersistentVolumeClaimList{}, prepare: preparePVC,
		},
		{
			gv: core, also: eventsv1.SchemeGroupVersion, resource: "events", singular: "event", short: []string{"ev"},
			object: &corev1.Event{}, list: &corev1.EventList{},
			selectable: eventFields, createByPut: true, seconds: 3600,
		},
		{
			gv: apps, resource: "deployments", singular: "deployment", short: []string{"deploy"}, inAll: true,
			object: &appsv1.Deployment{}, list: &appsv1.DeploymentList{}, generation: true, scale: true,
			statusKeeps: func(obj, old metav1.Object) { obj.SetLabels(old.GetLabels()) },
		},
		{
			gv: apps, resource: "replicasets", singular: "replicaset", short: []string{"rs"}, inAll: true,
			object: &appsv1.ReplicaSet{}, list: &appsv1.ReplicaSetList{}, generation: true, scale: true,
		},
		{
			gv: apps, resource: "statefulsets", singular: "statefulset", short: []string{"sts"}, inAll: true,
			object: &appsv1.StatefulSet{}, list: &appsv1.StatefulSetList{}, generation: true, scale: true,
		},
		{
			gv: apps, resource: "daemonsets", singular: "daemonset", short: []string{"ds"}, inAll: true,
			object: &appsv1.DaemonSet{}, list: &appsv1.DaemonSetList{}, generation: true,
		},
		{
			gv: batchv1.SchemeGroupVersion, resource: "jobs", singular: "job", inAll: true,
			object: &batchv1.Job{}, list: &batchv1.JobList{}, generation: true, orphans: true,
			selectable: func(obj runtime.Object) fields.Set {
				return fields.Set{"status.successful": strconv.Itoa(int(obj.(*batchv1.Job).Status.Succeeded))}
			},
		},
		{
			gv: coordinationv1.SchemeGroupVersion, resource: "leases", singular: "lease",
			object: &coordinationv1.Lease{}, list: &coordinationv1.LeaseList{}, createByPut: true, versionNeeded: true,
		},
		{
			gv: discoveryv1.SchemeGroupVersion, resource: "endpointslices", singular: "endpointslice",
			object: &discoveryv1.EndpointSlice{}, list: &discoveryv1.EndpointSliceList{}, generation: true,
		},
		{
			gv: admissionregistrationv1.SchemeGroupVersion, cluster: true, generation: true, versionNeeded: true,
			resource: "mutatingwebhookconfigurations", singular: "mutatingwebhookconfiguration",
			object: &admissionregistrationv1.MutatingWebhookConfiguration{}, list: &admissionregistrationv1.MutatingWebhookConfigurationList{},
		},
		{
			gv: admissionregistrationv1.SchemeGroupVersion, cluster: true, generation: true, versionNeeded: true,
			resource: "validatingwebhookconfigurations", singular: "validatingwebhookconfiguration",
			object: &admissionregistrationv1.ValidatingWebhookConfiguration{}, list: &admissionregistrationv1.ValidatingWebhookConfigurationList{},
		},
	}
}

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

func preparePod(obj, old runtime.Object) {
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

func preparePVC(obj, old runtime.Object) {
	if old == nil {
		obj.(*corev1.PersistentVolumeClaim).Status.Phase = corev1.ClaimPending
	}
}

// prepareSecret moves stringData, which can only be written, to data.
func prepareSecret(obj, _ runtime.Object) {
	s := obj.(*corev1.Secret)
	for k, v := range s.StringData {
		if s.Data == nil {
			s.Data = map[string][]byte{}
		}
		s.Data[k] = []byte(v)
	}
	s.StringData = nil
}
