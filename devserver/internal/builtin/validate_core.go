// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateService(c *checks, s, old *corev1.Service) {
	external := s.Spec.Type == corev1.ServiceTypeExternalName
	supported(c, specPath.Child("type"), s.Spec.Type, corev1.ServiceTypeClusterIP, corev1.ServiceTypeExternalName, corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeNodePort)
	supported(c, specPath.Child("sessionAffinity"), s.Spec.SessionAffinity, corev1.ServiceAffinityClientIP, corev1.ServiceAffinityNone)
	if external {
		c.name(specPath.Child("externalName"), strings.TrimSuffix(s.Spec.ExternalName, "."), validation.IsDNS1123Subdomain)
	}
	if len(s.Spec.Ports) == 0 && s.Spec.ClusterIP != corev1.ClusterIPNone && !external {
		c.missing(specPath.Child("ports"), "")
	}
	if s.Spec.ClusterIP == corev1.ClusterIPNone && (s.Spec.Type == corev1.ServiceTypeLoadBalancer || s.Spec.Type == corev1.ServiceTypeNodePort) {
		c.invalid(specPath.Child("clusterIPs").Index(0), s.Spec.ClusterIP, fmt.Sprintf("may not be set to 'None' for %s services", s.Spec.Type))
	}
	c.add(metavalidation.ValidateLabels(s.Spec.Selector, specPath.Child("selector")))
	c.servicePorts(s)
	if old != nil && !external && old.Spec.Type != corev1.ServiceTypeExternalName && old.Spec.ClusterIP != "" && s.Spec.ClusterIP != old.Spec.ClusterIP {
		c.invalid(specPath.Child("clusterIPs").Index(0), s.Spec.ClusterIP, "may not change once set")
	}
}

func (c *checks) servicePorts(s *corev1.Service) {
	type number struct {
		protocol corev1.Protocol
		port     int32
	}
	names, numbers := sets.New[string](), sets.New[number]()
	for i, p := range s.Spec.Ports {
		at := specPath.Child("ports").Index(i)
		if p.Name != "" || len(s.Spec.Ports) > 1 {
			c.name(at.Child("name"), p.Name, validation.IsDNS1123Label)
		}
		if p.Name != "" && names.Has(p.Name) {
			c.duplicate(at.Child("name"), p.Name)
		}
		names.Insert(p.Name)
		c.port(at.Child("port"), p.Port)
		supported(c, at.Child("protocol"), p.Protocol, corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP)
		if p.TargetPort.Type == intstr.String {
			c.matches(at.Child("targetPort"), p.TargetPort.StrVal, validation.IsValidPortName)
		} else {
			c.port(at.Child("targetPort"), p.TargetPort.IntVal)
		}
		key := number{p.Protocol, p.Port}
		if numbers.Has(key) {
			c.duplicate(at, corev1.ServicePort{Protocol: p.Protocol, Port: p.Port})
		}
		numbers.Insert(key)
		if p.NodePort != 0 && s.Spec.Type == corev1.ServiceTypeClusterIP {
			c.forbid(at.Child("nodePort"), "may not be used when `type` is 'ClusterIP'")
		}
	}
}

// mostBytes limits the data of a Secret or a ConfigMap.
const mostBytes = corev1.MaxSecretSize

func validateConfigMap(c *checks, m, old *corev1.ConfigMap) {
	data, binary := field.NewPath("data"), field.NewPath("binaryData")
	size := 0
	for key, value := range m.Data {
		c.matches(data.Key(key), key, validation.IsConfigMapKey)
		if _, ok := m.BinaryData[key]; ok {
			c.invalid(data.Key(key), key, "duplicate of key present in binaryData")
		}
		size += len(value)
	}
	for key, value := range m.BinaryData {
		c.matches(binary.Key(key), key, validation.IsConfigMapKey)
		size += len(value)
	}
	if size > mostBytes {
		c.errs = append(c.errs, field.TooLong(field.NewPath(""), "", mostBytes))
	}
	if old != nil && valueOf(old.Immutable) {
		c.kept(field.NewPath("immutable"), valueOf(m.Immutable))
		c.kept(data, equality.Semantic.DeepEqual(m.Data, old.Data))
		c.kept(binary, equality.Semantic.DeepEqual(m.BinaryData, old.BinaryData))
	}
}

// kept checks that a field of an immutable object is the same as before.
func (c *checks) kept(path *field.Path, same bool) {
	if !same {
		c.forbid(path, "field is immutable when `immutable` is set")
	}
}

func validateSecret(c *checks, s, old *corev1.Secret) {
	data, size := field.NewPath("data"), 0
	for key, value := range s.Data {
		c.matches(data.Key(key), key, validation.IsConfigMapKey)
		size += len(value)
	}
	if size > mostBytes {
		c.errs = append(c.errs, field.TooLong(data, "", mostBytes))
	}
	needs := func(key string) {
		if _, ok := s.Data[key]; !ok {
			c.missing(data.Key(key), "")
		}
	}
	switch s.Type {
	case corev1.SecretTypeTLS:
		needs(corev1.TLSCertKey)
		needs(corev1.TLSPrivateKeyKey)
	case corev1.SecretTypeDockerConfigJson:
		needs(corev1.DockerConfigJsonKey)
		if text, ok := s.Data[corev1.DockerConfigJsonKey]; ok && !json.Valid(text) {
			c.invalid(data.Key(corev1.DockerConfigJsonKey), "<secret contents redacted>", "invalid character in JSON")
		}
	case corev1.SecretTypeSSHAuth:
		if len(s.Data[corev1.SSHAuthPrivateKey]) == 0 {
			c.missing(data.Key(corev1.SSHAuthPrivateKey), "")
		}
	case corev1.SecretTypeBasicAuth:
		_, user := s.Data[corev1.BasicAuthUsernameKey]
		_, password := s.Data[corev1.BasicAuthPasswordKey]
		if !user && !password {
			c.missing(data.Key(corev1.BasicAuthUsernameKey), "")
			c.missing(data.Key(corev1.BasicAuthPasswordKey), "")
		}
	case corev1.SecretTypeServiceAccountToken:
		if s.Annotations[corev1.ServiceAccountNameKey] == "" {
			c.missing(field.NewPath("metadata", "annotations").Key(corev1.ServiceAccountNameKey), "")
		}
	}
	if old == nil {
		return
	}
	c.immutable(field.NewPath("type"), s.Type, old.Type)
	if valueOf(old.Immutable) {
		c.kept(field.NewPath("immutable"), valueOf(s.Immutable))
		c.kept(data, equality.Semantic.DeepEqual(s.Data, old.Data))
	}
}

func validateEvent(c *checks, e, _ *corev1.Event) {
	of := e.InvolvedObject.Namespace
	if of != e.Namespace && (of != "" || e.Namespace != metav1.NamespaceDefault && e.Namespace != metav1.NamespaceSystem) {
		c.invalid(field.NewPath("involvedObject", "namespace"), of, "does not match event.namespace")
	}
}

func validateQuota(c *checks, q, old *corev1.ResourceQuota) {
	for name, amount := range q.Spec.Hard {
		c.nonNegativeQuantity(specPath.Child("hard").Key(string(name)), amount)
	}
	for i, scope := range q.Spec.Scopes {
		supported(c, specPath.Child("scopes").Index(i), scope, corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotTerminating,
			corev1.ResourceQuotaScopeBestEffort, corev1.ResourceQuotaScopeNotBestEffort, corev1.ResourceQuotaScopePriorityClass,
			corev1.ResourceQuotaScopeCrossNamespacePodAffinity, corev1.ResourceQuotaScopeVolumeAttributesClass)
	}
	if old != nil && !sets.New(q.Spec.Scopes...).Equal(sets.New(old.Spec.Scopes...)) {
		c.invalid(specPath.Child("scopes"), q.Spec.Scopes, "field is immutable")
	}
}

func validateLimitRange(c *checks, l, _ *corev1.LimitRange) {
	types := sets.New[corev1.LimitType]()
	for i, item := range l.Spec.Limits {
		at := specPath.Child("limits").Index(i)
		if types.Has(item.Type) {
			c.duplicate(at.Child("type"), item.Type)
		}
		types.Insert(item.Type)
		if item.Type == corev1.LimitTypePod {
			if len(item.Default) > 0 {
				c.forbid(at.Child("default"), "may not be specified when `type` is 'Pod'")
			}
			if len(item.DefaultRequest) > 0 {
				c.forbid(at.Child("defaultRequest"), "may not be specified when `type` is 'Pod'")
			}
		}
		names := []string{"min", "defaultRequest", "default", "max"} // in this order
		lists := []corev1.ResourceList{item.Min, item.DefaultRequest, item.Default, item.Max}
		spoken := []string{"min", "default request", "default", "max"}
		for low := range lists {
			for high := low + 1; high < len(lists); high++ {
				for name, less := range lists[low] {
					if more, ok := lists[high][name]; ok && less.Cmp(more) > 0 {
						c.invalid(at.Child(names[low]).Key(string(name)), less.String(),
							fmt.Sprintf("%s value %s is greater than %s value %s", spoken[low], less.String(), spoken[high], more.String()))
					}
				}
			}
		}
	}
}

func validateLease(c *checks, l, _ *coordinationv1.Lease) {
	positive(c, specPath.Child("leaseDurationSeconds"), l.Spec.LeaseDurationSeconds)
	nonNegative(c, specPath.Child("leaseTransitions"), l.Spec.LeaseTransitions)
}

func validateSlice(c *checks, s, old *discoveryv1.EndpointSlice) {
	at := field.NewPath("addressType")
	if c.required(at, string(s.AddressType)) {
		supported(c, at, s.AddressType, discoveryv1.AddressTypeFQDN, discoveryv1.AddressTypeIPv4, discoveryv1.AddressTypeIPv6)
	}
	for i, e := range s.Endpoints {
		if len(e.Addresses) == 0 {
			c.missing(field.NewPath("endpoints").Index(i).Child("addresses"), "must contain at least 1 address")
		}
	}
	if old != nil {
		c.immutable(at, s.AddressType, old.AddressType)
	}
}

const mostPriority = 1_000_000_000 // of a class that isn't the system's

func validatePriorityClass(c *checks, p, old *schedulingv1.PriorityClass) {
	system := p.Name == "system-node-critical" || p.Name == "system-cluster-critical"
	if strings.HasPrefix(p.Name, "system-") && !system {
		c.forbid(field.NewPath("metadata", "name"), "priority class names with 'system-' prefix are reserved for system use only. error: "+p.Name+" is not a known system priority class")
	}
	if !system && p.Value > mostPriority {
		c.forbid(field.NewPath("value"), fmt.Sprintf("maximum allowed value of a user defined priority is %d", mostPriority))
	}
	if policy := valueOf(p.PreemptionPolicy); policy != "" {
		supported(c, field.NewPath("preemptionPolicy"), policy, corev1.PreemptLowerPriority, corev1.PreemptNever)
	}
	if old != nil {
		if p.Value != old.Value {
			c.forbid(field.NewPath("value"), "may not be changed in an update.")
		}
		c.immutable(field.NewPath("preemptionPolicy"), p.PreemptionPolicy, old.PreemptionPolicy)
	}
}

func validateStorageClass(c *checks, s, old *storagev1.StorageClass) {
	c.required(field.NewPath("provisioner"), s.Provisioner)
	if policy := valueOf(s.ReclaimPolicy); policy != "" {
		supported(c, field.NewPath("reclaimPolicy"), policy, corev1.PersistentVolumeReclaimDelete, corev1.PersistentVolumeReclaimRetain)
	}
	if mode := valueOf(s.VolumeBindingMode); mode != "" {
		supported(c, field.NewPath("volumeBindingMode"), mode, storagev1.VolumeBindingImmediate, storagev1.VolumeBindingWaitForFirstConsumer)
	}
	if old == nil {
		return
	}
	c.immutable(field.NewPath("parameters"), s.Parameters, old.Parameters)
	c.immutable(field.NewPath("provisioner"), s.Provisioner, old.Provisioner)
	c.immutable(field.NewPath("reclaimPolicy"), s.ReclaimPolicy, old.ReclaimPolicy)
	c.immutable(field.NewPath("volumeBindingMode"), s.VolumeBindingMode, old.VolumeBindingMode)
}

var accessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOnce, corev1.ReadWriteOncePod}

func (c *checks) accessModes(path *field.Path, all []corev1.PersistentVolumeAccessMode, why string) {
	if len(all) == 0 {
		c.missing(path, why)
	}
	for _, mode := range all {
		supported(c, path, mode, accessModes...)
	}
	if slices.Contains(all, corev1.ReadWriteOncePod) && len(all) > 1 {
		c.forbid(path, "may not use ReadWriteOncePod with other access modes")
	}
}

func validateVolume(c *checks, v, old *corev1.PersistentVolume) {
	c.accessModes(specPath.Child("accessModes"), v.Spec.AccessModes, "")
	at := specPath.Child("capacity")
	if len(v.Spec.Capacity) == 0 {
		c.missing(at, "")
	} else if _, ok := v.Spec.Capacity[corev1.ResourceStorage]; !ok || len(v.Spec.Capacity) > 1 {
		c.errs = append(c.errs, field.NotSupported(at, v.Spec.Capacity, []corev1.ResourceName{corev1.ResourceStorage}))
	}
	c.source(specPath, v.Spec.PersistentVolumeSource)
	supported(c, specPath.Child("persistentVolumeReclaimPolicy"), v.Spec.PersistentVolumeReclaimPolicy,
		corev1.PersistentVolumeReclaimDelete, corev1.PersistentVolumeReclaimRecycle, corev1.PersistentVolumeReclaimRetain)
	if old != nil {
		if !equality.Semantic.DeepEqual(v.Spec.PersistentVolumeSource, old.Spec.PersistentVolumeSource) {
			c.forbid(specPath.Child("persistentvolumesource"), "spec.persistentvolumesource is immutable after creation")
		}
		c.immutable(specPath.Child("volumeMode"), v.Spec.VolumeMode, old.Spec.VolumeMode)
	}
}

func validateClaim(c *checks, p, old *corev1.PersistentVolumeClaim) {
	c.accessModes(specPath.Child("accessModes"), p.Spec.AccessModes, "at least 1 access mode is required")
	at := specPath.Child("resources").Key(string(corev1.ResourceStorage))
	size, ok := p.Spec.Resources.Requests[corev1.ResourceStorage]
	switch {
	case !ok:
		c.missing(at, "")
	case size.Sign() <= 0:
		c.invalid(at, size.String(), "must be greater than zero")
	}
	c.selector(specPath.Child("selector"), p.Spec.Selector)
	if old == nil {
		return
	}
	fixed := p.Spec.DeepCopy()
	if old.Spec.VolumeName == "" { // the claim may be bound
		fixed.VolumeName = ""
	} else {
		fixed.VolumeAttributesClassName = old.Spec.VolumeAttributesClassName
		if old.Status.Phase == corev1.ClaimBound {
			fixed.Resources.Requests = old.Spec.Resources.Requests
		}
	}
	if old.Spec.StorageClassName == nil {
		fixed.StorageClassName = nil
	}
	if !equality.Semantic.DeepEqual(*fixed, old.Spec) {
		c.forbid(specPath, "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims")
	}
	before, capacity := old.Spec.Resources.Requests[corev1.ResourceStorage], old.Status.Capacity[corev1.ResourceStorage]
	if ok && size.Cmp(before) < 0 && size.Cmp(capacity) <= 0 {
		c.forbid(specPath.Child("resources", "requests", "storage"), "field can not be less than status.capacity")
	}
}
