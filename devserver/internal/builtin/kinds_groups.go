// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	"strconv"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
)

func workloadKinds() []*kind {
	apps, batch := appsv1.SchemeGroupVersion, batchv1.SchemeGroupVersion
	return []*kind{
		{
			gv: apps, resource: "deployments", singular: "deployment", shortNames: []string{"deploy"}, inCategoryAll: true,
			object: &appsv1.Deployment{}, list: &appsv1.DeploymentList{}, columns: deploymentColumns, validate: validator(validateDeployment),
			countsGeneration: true, hasScale: true,
			resetOnStatusWrite: func(obj, old metav1.Object) { obj.SetLabels(old.GetLabels()) },
		},
		{
			gv: apps, resource: "replicasets", singular: "replicaset", shortNames: []string{"rs"}, inCategoryAll: true,
			object: &appsv1.ReplicaSet{}, list: &appsv1.ReplicaSetList{}, columns: replicaSetColumns, validate: validator(validateReplicaSet),
			countsGeneration: true, hasScale: true,
		},
		{
			gv: apps, resource: "statefulsets", singular: "statefulset", shortNames: []string{"sts"}, inCategoryAll: true,
			object: &appsv1.StatefulSet{}, list: &appsv1.StatefulSetList{}, columns: statefulSetColumns, validate: validator(validateStatefulSet),
			countsGeneration: true, hasScale: true,
		},
		{
			gv: apps, resource: "daemonsets", singular: "daemonset", shortNames: []string{"ds"}, inCategoryAll: true,
			object: &appsv1.DaemonSet{}, list: &appsv1.DaemonSetList{}, columns: daemonSetColumns, validate: validator(validateDaemonSet),
			countsGeneration: true,
		},
		{
			gv: batch, resource: "jobs", singular: "job", inCategoryAll: true,
			object: &batchv1.Job{}, list: &batchv1.JobList{}, columns: jobColumns, prepare: prepareJob, validate: validator(validateJob),
			countsGeneration: true, orphansByDefault: true,
			selectable: func(obj runtime.Object) fields.Set {
				return fields.Set{"status.successful": strconv.Itoa(int(obj.(*batchv1.Job).Status.Succeeded))}
			},
		},
		{
			gv: batch, resource: "cronjobs", singular: "cronjob", shortNames: []string{"cj"}, inCategoryAll: true,
			object: &batchv1.CronJob{}, list: &batchv1.CronJobList{}, columns: cronJobColumns, validate: validator(validateCronJob),
			countsGeneration: true,
		},
		{
			gv: policyv1.SchemeGroupVersion, resource: "poddisruptionbudgets", singular: "poddisruptionbudget", shortNames: []string{"pdb"},
			object: &policyv1.PodDisruptionBudget{}, list: &policyv1.PodDisruptionBudgetList{}, columns: budgetColumns,
			validate: validator(validateBudget), countsGeneration: true, needsVersion: true,
		},
		{
			gv: autoscalingv2.SchemeGroupVersion, alias: autoscalingv1.SchemeGroupVersion,
			resource: "horizontalpodautoscalers", singular: "horizontalpodautoscaler",
			shortNames: []string{"hpa"}, inCategoryAll: true,
			object: &autoscalingv2.HorizontalPodAutoscaler{}, list: &autoscalingv2.HorizontalPodAutoscalerList{}, columns: autoscalerColumns,
			validate: validator(validateAutoscaler), needsVersion: true,
		},
	}
}

func networkKinds() []*kind {
	networking := networkingv1.SchemeGroupVersion
	return []*kind{
		{
			gv: networking, resource: "ingresses", singular: "ingress", shortNames: []string{"ing"},
			object: &networkingv1.Ingress{}, list: &networkingv1.IngressList{}, columns: ingressColumns,
			validate: validator(validateIngress), countsGeneration: true,
		},
		{
			gv: networking, resource: "ingressclasses", singular: "ingressclass", clusterScoped: true,
			object: &networkingv1.IngressClass{}, list: &networkingv1.IngressClassList{}, columns: ingressClassColumns,
			validate: validator(validateIngressClass), countsGeneration: true,
		},
		{
			gv: networking, resource: "networkpolicies", singular: "networkpolicy", shortNames: []string{"netpol"},
			object: &networkingv1.NetworkPolicy{}, list: &networkingv1.NetworkPolicyList{}, columns: networkPolicyColumns,
			validate: validator(validateNetworkPolicy), countsGeneration: true,
		},
	}
}

func accessKinds() []*kind {
	rbac, admission := rbacv1.SchemeGroupVersion, admissionregistrationv1.SchemeGroupVersion

	return []*kind{
		{
			gv: rbac, resource: "roles", singular: "role", validName: roleName,
			object: &rbacv1.Role{}, list: &rbacv1.RoleList{}, columns: roleColumns, validate: validator(validateRole),
			createOnUpdate: true,
		},
		{
			gv: rbac, resource: "rolebindings", singular: "rolebinding", validName: roleName,
			object: &rbacv1.RoleBinding{}, list: &rbacv1.RoleBindingList{}, columns: roleBindingColumns,
			validate: validator(validateRoleBinding), createOnUpdate: true,
		},
		{
			gv: rbac, resource: "clusterroles", singular: "clusterrole", clusterScoped: true, validName: roleName,
			object: &rbacv1.ClusterRole{}, list: &rbacv1.ClusterRoleList{}, columns: clusterRoleColumns,
			validate: validator(validateClusterRole), createOnUpdate: true,
		},
		{
			gv: rbac, resource: "clusterrolebindings", singular: "clusterrolebinding", clusterScoped: true, validName: roleName,
			object: &rbacv1.ClusterRoleBinding{}, list: &rbacv1.ClusterRoleBindingList{}, columns: clusterRoleBindingColumns,
			validate: validator(validateClusterRoleBinding), createOnUpdate: true,
		},
		{
			gv: certificatesv1.SchemeGroupVersion, resource: "certificatesigningrequests", singular: "certificatesigningrequest",
			shortNames: []string{"csr"}, clusterScoped: true,
			object: &certificatesv1.CertificateSigningRequest{}, list: &certificatesv1.CertificateSigningRequestList{}, columns: csrColumns,
			prepare: prepareCSR, validate: validator(validateCSR), hasApproval: true,
			selectable: func(obj runtime.Object) fields.Set {
				return fields.Set{"spec.signerName": obj.(*certificatesv1.CertificateSigningRequest).Spec.SignerName}
			},
		},
		{
			gv: admission, clusterScoped: true, countsGeneration: true, needsVersion: true,
			resource: "mutatingwebhookconfigurations", singular: "mutatingwebhookconfiguration",
			object: &admissionregistrationv1.MutatingWebhookConfiguration{}, list: &admissionregistrationv1.MutatingWebhookConfigurationList{},
			columns: mutatingColumns, validate: validator(validateMutatingWebhooks),
		},
		{
			gv: admission, clusterScoped: true, countsGeneration: true, needsVersion: true,
			resource: "validatingwebhookconfigurations", singular: "validatingwebhookconfiguration",
			object: &admissionregistrationv1.ValidatingWebhookConfiguration{}, list: &admissionregistrationv1.ValidatingWebhookConfigurationList{},
			columns: validatingColumns, validate: validator(validateValidatingWebhooks),
		},
	}
}

// roleName accepts every name that is a segment of a path, such as system:node.
func roleName(name string, prefix bool) []string {
	if prefix {
		return content.IsPathSegmentPrefix(name)
	}
	return content.IsPathSegmentName(name)
}
