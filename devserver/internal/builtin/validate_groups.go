// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	"fmt"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateBudget(c *checks, b, _ *policyv1.PodDisruptionBudget) {
	s := &b.Spec
	if s.MinAvailable != nil && s.MaxUnavailable != nil {
		c.invalid(specPath, *s, "minAvailable and maxUnavailable cannot be both set")
	}
	for name, n := range map[string]*intstr.IntOrString{"minAvailable": s.MinAvailable, "maxUnavailable": s.MaxUnavailable} {
		c.amount(specPath.Child(name), n)
		if percent, ok := percentOf(n); ok && percent > 100 {
			c.invalid(specPath.Child(name), n, "must not be greater than 100%")
		}
	}
	c.selector(specPath.Child("selector"), s.Selector)
	if policy := valueOf(s.UnhealthyPodEvictionPolicy); policy != "" {
		supported(c, specPath.Child("unhealthyPodEvictionPolicy"), policy, policyv1.AlwaysAllow, policyv1.IfHealthyBudget)
	}
}

func validateAutoscaler(c *checks, h, _ *autoscalingv2.HorizontalPodAutoscaler) {
	s := &h.Spec
	if s.MinReplicas != nil && *s.MinReplicas < 1 {
		c.invalid(specPath.Child("minReplicas"), *s.MinReplicas, "must be greater than or equal to 1")
	}
	if s.MaxReplicas == 0 {
		c.missing(specPath.Child("maxReplicas"), "must be set and greater than 0")
	} else {
		positive(c, specPath.Child("maxReplicas"), &s.MaxReplicas)
	}
	if s.MinReplicas != nil && s.MaxReplicas < *s.MinReplicas {
		c.invalid(specPath.Child("maxReplicas"), s.MaxReplicas, "must be greater than or equal to `minReplicas`")
	}
	at := specPath.Child("scaleTargetRef")
	c.required(at.Child("kind"), s.ScaleTargetRef.Kind)
	c.required(at.Child("name"), s.ScaleTargetRef.Name)
	for i := range s.Metrics {
		c.metric(specPath.Child("metrics").Index(i), &s.Metrics[i])
	}
}

func (c *checks) metric(path *field.Path, m *autoscalingv2.MetricSpec) {
	if m.Type == "" {
		c.missing(path.Child("type"), "must specify a metric source type")
		return
	}
	var target *autoscalingv2.MetricTarget
	source := strings.ToLower(string(m.Type[:1])) + string(m.Type[1:])
	at := path.Child(source)
	switch m.Type {
	case autoscalingv2.ResourceMetricSourceType:
		if m.Resource != nil {
			target = &m.Resource.Target
			if m.Resource.Name == "" {
				c.missing(at.Child("name"), "must specify a resource name")
			}
		}
	case autoscalingv2.ContainerResourceMetricSourceType:
		if m.ContainerResource != nil {
			target = &m.ContainerResource.Target
			if m.ContainerResource.Name == "" {
				c.missing(at.Child("name"), "must specify a resource name")
			}
			if m.ContainerResource.Container == "" {
				c.missing(at.Child("container"), "must specify a container name")
			}
		}
	case autoscalingv2.PodsMetricSourceType:
		if m.Pods != nil {
			target = &m.Pods.Target
			c.metricName(at, m.Pods.Metric.Name)
		}
	case autoscalingv2.ObjectMetricSourceType:
		if m.Object != nil {
			target = &m.Object.Target
			c.metricName(at, m.Object.Metric.Name)
		}
	case autoscalingv2.ExternalMetricSourceType:
		if m.External != nil {
			target = &m.External.Target
			c.metricName(at, m.External.Metric.Name)
		}
	default:
		supported(c, path.Child("type"), m.Type, autoscalingv2.ContainerResourceMetricSourceType, autoscalingv2.ExternalMetricSourceType,
			autoscalingv2.ObjectMetricSourceType, autoscalingv2.PodsMetricSourceType, autoscalingv2.ResourceMetricSourceType)
		return
	}
	if target == nil {
		c.missing(at, "must populate information for the given metric source")
		return
	}
	if target.Type == "" {
		c.missing(at.Child("target", "type"), "must specify a metric target type")
	}
	if n := target.AverageUtilization; n != nil && *n < 1 {
		c.invalid(at.Child("target", "averageUtilization"), *n, "must be greater than 0")
	}
	if m.Resource != nil && target.AverageUtilization == nil && target.AverageValue == nil {
		c.missing(at.Child("target", "averageUtilization"), "must set either a target raw value or a target utilization")
	}
}

func (c *checks) metricName(path *field.Path, name string) {
	if name == "" {
		c.missing(path.Child("metric", "name"), "must specify a metric name")
	}
}

func validateIngress(c *checks, i, old *networkingv1.Ingress) {
	s := &i.Spec
	const class = "kubernetes.io/ingress.class"
	if value, ok := i.Annotations[class]; ok && s.IngressClassName != nil && *s.IngressClassName != value && old == nil {
		c.invalid(field.NewPath("annotations").Child(class), value, "must match `ingressClassName` when both are specified")
	}
	if len(s.Rules) == 0 && s.DefaultBackend == nil {
		c.invalid(specPath, s.Rules, "either `defaultBackend` or `rules` must be specified")
	}
	if s.DefaultBackend != nil {
		c.backend(specPath.Child("defaultBackend"), s.DefaultBackend)
	}
	for i, rule := range s.Rules {
		at := specPath.Child("rules").Index(i)
		c.host(at.Child("host"), rule.Host)
		if rule.HTTP == nil {
			continue
		}
		if len(rule.HTTP.Paths) == 0 {
			c.missing(at.Child("http", "paths"), "")
		}
		for j := range rule.HTTP.Paths {
			c.ingressPath(at.Child("http", "paths").Index(j), &rule.HTTP.Paths[j])
		}
	}
	for i, tls := range s.TLS {
		for j, host := range tls.Hosts {
			c.host(specPath.Child("tls").Index(i).Child("hosts").Index(j), host)
		}
	}
	if s.IngressClassName != nil {
		c.matches(specPath.Child("ingressClassName"), *s.IngressClassName, validation.IsDNS1123Subdomain)
	}
}

func (c *checks) host(path *field.Path, host string) {
	switch {
	case host == "":
	case len(validation.IsValidIP(path, host)) == 0:
		c.invalid(path, host, "must be a DNS name, not an IP address")
	case strings.Contains(host, "*"):
		c.matches(path, host, validation.IsWildcardDNS1123Subdomain)
	default:
		c.matches(path, host, validation.IsDNS1123Subdomain)
	}
}

func (c *checks) ingressPath(path *field.Path, p *networkingv1.HTTPIngressPath) {
	switch kind := valueOf(p.PathType); kind {
	case "":
		c.missing(path.Child("pathType"), "pathType must be specified")
	case networkingv1.PathTypeExact, networkingv1.PathTypePrefix:
		if !strings.HasPrefix(p.Path, "/") {
			c.invalid(path.Child("path"), p.Path, "must be an absolute path")
		}
		for _, bad := range []string{"//", "/./", "/../", "%2f", "%2F"} {
			if strings.Contains(p.Path, bad) {
				c.invalid(path.Child("path"), p.Path, fmt.Sprintf("must not contain '%s'", bad))
			}
		}
	case networkingv1.PathTypeImplementationSpecific:
		if p.Path != "" && !strings.HasPrefix(p.Path, "/") {
			c.invalid(path.Child("path"), p.Path, "must be an absolute path")
		}
	default:
		supported(c, path.Child("pathType"), kind, networkingv1.PathTypeExact, networkingv1.PathTypeImplementationSpecific, networkingv1.PathTypePrefix)
	}
	c.backend(path.Child("backend"), &p.Backend)
}

func (c *checks) backend(path *field.Path, b *networkingv1.IngressBackend) {
	switch {
	case b.Resource != nil && b.Service != nil:
		c.invalid(path, "", "cannot set both resource and service backends")
	case b.Resource != nil:
		c.required(path.Child("resource", "kind"), b.Resource.Kind)
		c.required(path.Child("resource", "name"), b.Resource.Name)
	case b.Service == nil:
		c.invalid(path, "", "resource or service backend is required")
	case b.Service.Name == "":
		c.missing(path.Child("service", "name"), "")
	default:
		c.matches(path.Child("service", "name"), b.Service.Name, validation.IsDNS1123Label)
		switch port := b.Service.Port; {
		case port.Name != "" && port.Number != 0:
			c.invalid(path, "", "cannot set both port name & port number")
		case port.Name != "":
			c.matches(path.Child("service", "port", "name"), port.Name, validation.IsValidPortName)
		case port.Number != 0:
			c.port(path.Child("service", "port", "number"), port.Number)
		default:
			c.missing(path, "port name or number is required")
		}
	}
}

func validateIngressClass(c *checks, i, old *networkingv1.IngressClass) {
	if at := specPath.Child("controller"); c.required(at, i.Spec.Controller) {
		c.add(validation.IsDomainPrefixedPath(at, i.Spec.Controller))
	}
	if old != nil {
		c.immutable(specPath.Child("controller"), i.Spec.Controller, old.Spec.Controller)
	}
}

func validateNetworkPolicy(c *checks, n, _ *networkingv1.NetworkPolicy) {
	c.selector(specPath.Child("podSelector"), &n.Spec.PodSelector)
	for i, rule := range n.Spec.Ingress {
		at := specPath.Child("ingress").Index(i)
		c.rule(at.Child("ports"), at.Child("from"), rule.Ports, rule.From)
	}
	for i, rule := range n.Spec.Egress {
		at := specPath.Child("egress").Index(i)
		c.rule(at.Child("ports"), at.Child("to"), rule.Ports, rule.To)
	}
	if len(n.Spec.PolicyTypes) > 2 {
		c.invalid(specPath.Child("policyTypes"), n.Spec.PolicyTypes, "may not specify more than two policyTypes")
	}
	for i, t := range n.Spec.PolicyTypes {
		supported(c, specPath.Child("policyTypes").Index(i), t, networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress)
	}
}

func (c *checks) rule(portsPath, peersPath *field.Path, ports []networkingv1.NetworkPolicyPort, peers []networkingv1.NetworkPolicyPeer) {
	for i, p := range ports {
		at := portsPath.Index(i)
		if p.Protocol != nil {
			supported(c, at.Child("protocol"), *p.Protocol, corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP)
		}
		switch {
		case p.Port == nil && p.EndPort != nil:
			c.missing(at.Child("port"), "must be specified when `endPort` is also specified")
		case p.Port == nil:
		case p.Port.Type == intstr.String:
			c.matches(at.Child("port"), p.Port.StrVal, validation.IsValidPortName)
		default:
			c.port(at.Child("port"), p.Port.IntVal)
			if p.EndPort != nil && *p.EndPort < p.Port.IntVal {
				c.invalid(at.Child("endPort"), p.Port.IntVal, "must be greater than or equal to `port`")
			}
		}
	}
	for i, p := range peers {
		at := peersPath.Index(i)
		c.selector(at.Child("podSelector"), p.PodSelector)
		c.selector(at.Child("namespaceSelector"), p.NamespaceSelector)
		switch {
		case p.IPBlock != nil && (p.PodSelector != nil || p.NamespaceSelector != nil):
			c.forbid(at, "may not specify both ipBlock and another peer")
		case p.IPBlock != nil:
			if cidr := at.Child("ipBlock", "cidr"); c.required(cidr, p.IPBlock.CIDR) {
				c.add(validation.IsValidCIDRForLegacyField(cidr, p.IPBlock.CIDR, false, nil))
			}
		case p.PodSelector == nil && p.NamespaceSelector == nil:
			c.missing(at, "must specify a peer")
		}
	}
}
