// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

var namespaceColumns = columnsOf(func(n *corev1.Namespace) []any {
	return []any{n.Name, string(n.Status.Phase), age(n)}
}, "Name", "Status", "Age")

var configMapColumns = columnsOf(func(m *corev1.ConfigMap) []any {
	return []any{m.Name, len(m.Data) + len(m.BinaryData), age(m)}
}, "Name", "Data", "Age")

var secretColumns = columnsOf(func(s *corev1.Secret) []any {
	return []any{s.Name, string(s.Type), len(s.Data), age(s)}
}, "Name", "Type", "Data", "Age")

var serviceAccountColumns = columnsOf(func(s *corev1.ServiceAccount) []any {
	return []any{s.Name, age(s)}
}, "Name", "Age")

var serviceColumns = columnsOf(func(s *corev1.Service) []any {
	var ports []string
	for _, p := range s.Spec.Ports {
		port := decimal(p.Port)
		if p.NodePort > 0 {
			port += ":" + decimal(p.NodePort)
		}
		ports = append(ports, port+"/"+string(p.Protocol))
	}
	return []any{
		s.Name, string(s.Spec.Type), orNone(s.Spec.ClusterIP), externalIP(s), orNone(strings.Join(ports, ",")), age(s),
		labels.FormatLabels(s.Spec.Selector),
	}
}, "Name", "Type", "Cluster-IP", "External-IP", "Port(s)", "Age", "-Selector")

func externalIP(s *corev1.Service) string {
	var ips []string
	switch s.Spec.Type {
	case corev1.ServiceTypeExternalName:
		return s.Spec.ExternalName
	case corev1.ServiceTypeLoadBalancer:
		for _, ingress := range s.Status.LoadBalancer.Ingress {
			ips = append(ips, cmp.Or(ingress.IP, ingress.Hostname))
		}
		return cmp.Or(strings.Join(append(ips, s.Spec.ExternalIPs...), ","), "<pending>")
	}
	return orNone(strings.Join(s.Spec.ExternalIPs, ","))
}

//lint:ignore SA1019 clusters still have them
var endpointsColumns = columnsOf(func(e *corev1.Endpoints) []any {
	var addresses []string
	for _, subset := range e.Subsets {
		if len(subset.Ports) == 0 {
			for _, a := range subset.Addresses {
				addresses = append(addresses, a.IP)
			}
		}
		for _, port := range subset.Ports {
			for _, a := range subset.Addresses {
				addresses = append(addresses, net.JoinHostPort(a.IP, decimal(port.Port)))
			}
		}
	}
	return []any{e.Name, orNone(firstOf(3, addresses, ",")), age(e)}
}, "Name", "Endpoints", "Age")

var sliceColumns = columnsOf(func(s *discoveryv1.EndpointSlice) []any {
	ports, addresses := []string{}, []string{}
	for _, p := range s.Ports {
		switch {
		case p.Port != nil:
			ports = append(ports, decimal(*p.Port))
		default:
			ports = append(ports, cmp.Or(valueOf(p.Name), "*"))
		}
	}
	for _, e := range s.Endpoints {
		addresses = append(addresses, e.Addresses...)
	}
	unset := func(text string) string { return cmp.Or(text, "<unset>") }
	return []any{s.Name, string(s.AddressType), unset(firstOf(3, ports, ",")), unset(firstOf(3, addresses, ",")), age(s)}
}, "Name", "AddressType", "Ports", "Endpoints", "Age")

var nodeColumns = columnsOf(func(n *corev1.Node) []any {
	state := "Unknown"
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			state = map[bool]string{true: "Ready", false: "NotReady"}[c.Status == corev1.ConditionTrue]
		}
	}
	if n.Spec.Unschedulable {
		state += ",SchedulingDisabled"
	}
	var roles []string
	for label, value := range n.Labels {
		if role, ok := strings.CutPrefix(label, "node-role.kubernetes.io/"); ok && role != "" {
			roles = append(roles, role)
		} else if label == "kubernetes.io/role" && value != "" {
			roles = append(roles, value)
		}
	}
	slices.Sort(roles)
	address := func(t corev1.NodeAddressType) string {
		for _, a := range n.Status.Addresses {
			if a.Type == t {
				return a.Address
			}
		}
		return "<none>"
	}
	known := func(text string) string { return cmp.Or(text, "<unknown>") }
	info := n.Status.NodeInfo
	return []any{
		n.Name, state, orNone(strings.Join(roles, ",")), age(n), info.KubeletVersion,
		address(corev1.NodeInternalIP), address(corev1.NodeExternalIP), known(info.OSImage), known(info.KernelVersion), known(info.ContainerRuntimeVersion),
	}
}, "Name", "Status", "Roles", "Age", "Version", "-Internal-IP", "-External-IP", "-OS-Image", "-Kernel-Version", "-Container-Runtime")

var eventColumns = columnsOf(func(e *corev1.Event) []any {
	first := e.FirstTimestamp
	if first.IsZero() {
		first = metav1.NewTime(e.EventTime.Time)
	}
	last, count := e.LastTimestamp, max(e.Count, 1)
	if last.IsZero() {
		last = first
	}
	if e.Series != nil {
		last, count = metav1.NewTime(e.Series.LastObservedTime.Time), e.Series.Count
	}
	source := cmp.Or(e.Source.Component, e.ReportingController)
	if host := cmp.Or(e.Source.Host, e.ReportingInstance); host != "" {
		source += ", " + host
	}
	object := strings.ToLower(e.InvolvedObject.Kind)
	if e.InvolvedObject.Name != "" {
		object += "/" + e.InvolvedObject.Name
	}
	return []any{
		since(last), e.Type, e.Reason, object, e.InvolvedObject.FieldPath, source,
		strings.TrimSpace(e.Message), since(first), count, e.Name,
	}
}, "Last Seen", "Type", "Reason", "Object", "-Subobject", "-Source", "Message", "-First Seen", "-Count", "-Name")

var leaseColumns = columnsOf(func(l *coordinationv1.Lease) []any {
	return []any{l.Name, valueOf(l.Spec.HolderIdentity), age(l)}
}, "Name", "Holder", "Age")

var quotaColumns = columnsOf(func(q *corev1.ResourceQuota) []any {
	names := make([]string, 0, len(q.Status.Hard))
	for name := range q.Status.Hard {
		names = append(names, string(name))
	}
	slices.Sort(names)
	var requests, limits []string
	for _, name := range names {
		hard, used := q.Status.Hard[corev1.ResourceName(name)], q.Status.Used[corev1.ResourceName(name)]
		text := fmt.Sprintf("%s: %s/%s", name, used.String(), hard.String())
		if strings.HasPrefix(name, "limits") {
			limits = append(limits, text)
		} else {
			requests = append(requests, text)
		}
	}
	return []any{q.Name, strings.Join(requests, ", "), strings.Join(limits, ", "), age(q)}
}, "Name", "Request", "Limit", "Age")

var limitRangeColumns = columnsOf(func(l *corev1.LimitRange) []any {
	return []any{l.Name, createdAt(l)}
}, "Name", "Created At")

// modes abbreviates access modes.
func modes(all []corev1.PersistentVolumeAccessMode) string {
	var short []string
	for _, mode := range []struct {
		mode  corev1.PersistentVolumeAccessMode
		short string
	}{
		{corev1.ReadWriteOnce, "RWO"}, {corev1.ReadOnlyMany, "ROX"}, {corev1.ReadWriteMany, "RWX"}, {corev1.ReadWriteOncePod, "RWOP"},
	} {
		if slices.Contains(all, mode.mode) {
			short = append(short, mode.short)
		}
	}
	return strings.Join(short, ",")
}

func terminating(obj metav1.Object, phase string) string {
	if obj.GetDeletionTimestamp() != nil {
		return "Terminating"
	}
	return phase
}

func volumeMode(mode *corev1.PersistentVolumeMode) string {
	return cmp.Or(string(valueOf(mode)), "<unset>")
}

var volumeColumns = columnsOf(func(v *corev1.PersistentVolume) []any {
	claim := ""
	if ref := v.Spec.ClaimRef; ref != nil {
		claim = ref.Namespace + "/" + ref.Name
	}
	size := v.Spec.Capacity[corev1.ResourceStorage]
	class := cmp.Or(v.Annotations[corev1.BetaStorageClassAnnotation], v.Spec.StorageClassName)
	return []any{
		v.Name, size.String(), modes(v.Spec.AccessModes), string(v.Spec.PersistentVolumeReclaimPolicy), terminating(v, string(v.Status.Phase)),
		claim, class, cmp.Or(valueOf(v.Spec.VolumeAttributesClassName), "<unset>"), v.Status.Reason, age(v), volumeMode(v.Spec.VolumeMode),
	}
}, "Name", "Capacity", "Access Modes", "Reclaim Policy", "Status", "Claim", "StorageClass", "VolumeAttributesClass", "Reason", "Age", "-VolumeMode")

var claimColumns = columnsOf(func(c *corev1.PersistentVolumeClaim) []any {
	capacity, access := "", ""
	if c.Spec.VolumeName != "" {
		size := c.Status.Capacity[corev1.ResourceStorage]
		capacity, access = size.String(), modes(c.Status.AccessModes)
	}
	class := cmp.Or(c.Annotations[corev1.BetaStorageClassAnnotation], valueOf(c.Spec.StorageClassName))
	return []any{
		c.Name, terminating(c, string(c.Status.Phase)), c.Spec.VolumeName, capacity, access, class,
		cmp.Or(valueOf(c.Spec.VolumeAttributesClassName), "<unset>"), age(c), volumeMode(c.Spec.VolumeMode),
	}
}, "Name", "Status", "Volume", "Capacity", "Access Modes", "StorageClass", "VolumeAttributesClass", "Age", "-VolumeMode")

var storageClassColumns = columnsOf(func(s *storagev1.StorageClass) []any {
	name := s.Name
	if s.Annotations["storageclass.kubernetes.io/is-default-class"] == "true" {
		name += " (default)"
	}
	return []any{
		name, s.Provisioner, string(valueOf(s.ReclaimPolicy)), string(valueOf(s.VolumeBindingMode)), valueOf(s.AllowVolumeExpansion), age(s),
	}
}, "Name", "Provisioner", "ReclaimPolicy", "VolumeBindingMode", "AllowVolumeExpansion", "Age")

var priorityClassColumns = columnsOf(func(p *schedulingv1.PriorityClass) []any {
	return []any{p.Name, p.Value, p.GlobalDefault, age(p), string(valueOf(p.PreemptionPolicy))}
}, "Name", "Value", "Global-Default", "Age", "PreemptionPolicy")
