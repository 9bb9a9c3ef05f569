// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	"strconv"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
)

func coreKinds() []*kind {
	core := corev1.SchemeGroupVersion
	return []*kind{
		{
			gv: core, resource: "namespaces", singular: "namespace", shortNames: []string{"ns"}, clusterScoped: true,
			object: &corev1.Namespace{}, list: &corev1.NamespaceList{}, columns: namespaceColumns,
			validName: validation.NameIsDNSLabel, selectable: namespaceFields, prepare: prepareNamespace, statusOnCreate: true,
		},
		{
			gv: core, resource: "pods", singular: "pod", shortNames: []string{"po"}, inCategoryAll: true,
			object: &corev1.Pod{}, list: &corev1.PodList{}, columns: podColumns, validate: validator(validatePod),
			selectable: podFields, prepare: preparePod, gracePeriod: podGrace, countsGeneration: true,
			resetOnStatusWrite: func(obj, old metav1.Object) { obj.SetOwnerReferences(old.GetOwnerReferences()) },
		},
		{
			gv: core, resource: "services", singular: "service", shortNames: []string{"svc"}, inCategoryAll: true,
			object: &corev1.Service{}, list: &corev1.ServiceList{}, columns: serviceColumns, validate: validator(validateService),
			validName: validation.NameIsDNSLabel, createOnUpdate: true, prepare: prepareService,
			selectable: func(obj runtime.Object) fields.Set {
				s := obj.(*corev1.Service)
				return fields.Set{"spec.clusterIP": s.Spec.ClusterIP, "spec.type": string(s.Spec.Type)}
			},
		},
		{
			gv: core, resource: "endpoints", singular: "endpoints", shortNames: []string{"ep"}, columns: endpointsColumns,
			//lint:ignore SA1019 clusters still have them
			object: &corev1.Endpoints{}, list: &corev1.EndpointsList{}, createOnUpdate: true,
		},
		{
			gv: core, resource: "nodes", singular: "node", shortNames: []string{"no"}, clusterScoped: true,
			object: &corev1.Node{}, list: &corev1.NodeList{}, columns: nodeColumns, statusOnCreate: true,
			selectable: func(obj runtime.Object) fields.Set {
				return fields.Set{"spec.unschedulable": strconv.FormatBool(obj.(*corev1.Node).Spec.Unschedulable)}
			},
		},
		{
			gv: core, resource: "configmaps", singular: "configmap", shortNames: []string{"cm"},
			object: &corev1.ConfigMap{}, list: &corev1.ConfigMapList{}, columns: configMapColumns, validate: validator(validateConfigMap),
		},
		{
			gv: core, resource: "secrets", singular: "secret",
			object: &corev1.Secret{}, list: &corev1.SecretList{}, columns: secretColumns,
			prepare: prepareSecret, validate: validator(validateSecret),
			selectable: func(obj runtime.Object) fields.Set { return fields.Set{"type": string(obj.(*corev1.Secret).Type)} },
		},
		{
			gv: core, resource: "serviceaccounts", singular: "serviceaccount", shortNames: []string{"sa"},
			object: &corev1.ServiceAccount{}, list: &corev1.ServiceAccountList{}, columns: serviceAccountColumns,
		},
		{
			gv: core, alias: eventsv1.SchemeGroupVersion, aliasLabel: newEventLabel, resource: "events", singular: "event", shortNames: []string{"ev"},
			object: &corev1.Event{}, list: &corev1.EventList{}, columns: eventColumns, validate: validator(validateEvent),
			selectable: eventFields, createOnUpdate: true, ttl: 3600,
		},
		{
			gv: core, resource: "resourcequotas", singular: "resourcequota", shortNames: []string{"quota"},
			object: &corev1.ResourceQuota{}, list: &corev1.ResourceQuotaList{}, columns: quotaColumns, validate: validator(validateQuota),
		},
		{
			gv: core, resource: "limitranges", singular: "limitrange", shortNames: []string{"limits"},
			object: &corev1.LimitRange{}, list: &corev1.LimitRangeList{}, columns: limitRangeColumns, validate: validator(validateLimitRange),
		},
		{
			gv: coordinationv1.SchemeGroupVersion, resource: "leases", singular: "lease",
			object: &coordinationv1.Lease{}, list: &coordinationv1.LeaseList{}, columns: leaseColumns, validate: validator(validateLease),
			createOnUpdate: true, needsVersion: true,
		},
		{
			gv: discoveryv1.SchemeGroupVersion, resource: "endpointslices", singular: "endpointslice",
			object: &discoveryv1.EndpointSlice{}, list: &discoveryv1.EndpointSliceList{}, columns: sliceColumns,
			validate: validator(validateSlice), countsGeneration: true,
		},
		{
			gv: schedulingv1.SchemeGroupVersion, resource: "priorityclasses", singular: "priorityclass", shortNames: []string{"pc"}, clusterScoped: true,
			object: &schedulingv1.PriorityClass{}, list: &schedulingv1.PriorityClassList{}, columns: priorityClassColumns,
			validate: validator(validatePriorityClass), countsGeneration: true,
		},
	}
}

func storageKinds() []*kind {
	return []*kind{
		{
			gv: corev1.SchemeGroupVersion, resource: "persistentvolumes", singular: "persistentvolume", shortNames: []string{"pv"}, clusterScoped: true,
			object: &corev1.PersistentVolume{}, list: &corev1.PersistentVolumeList{}, columns: volumeColumns,
			prepare: prepareVolume, validate: validator(validateVolume),
		},
		{
			gv: corev1.SchemeGroupVersion, resource: "persistentvolumeclaims", singular: "persistentvolumeclaim", shortNames: []string{"pvc"},
			object: &corev1.PersistentVolumeClaim{}, list: &corev1.PersistentVolumeClaimList{}, columns: claimColumns,
			prepare: preparePVC, validate: validator(validateClaim),
		},
		{
			gv: storagev1.SchemeGroupVersion, resource: "storageclasses", singular: "storageclass", shortNames: []string{"sc"}, clusterScoped: true,
			object: &storagev1.StorageClass{}, list: &storagev1.StorageClassList{}, columns: storageClassColumns,
			validate: validator(validateStorageClass),
		},
	}
}
