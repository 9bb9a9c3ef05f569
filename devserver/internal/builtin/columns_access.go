// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	"cmp"
	"strings"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
)

var roleColumns = columnsOf(func(r *rbacv1.Role) []any {
	return []any{r.Name, createdAt(r)}
}, "Name", "Created At")

var clusterRoleColumns = columnsOf(func(r *rbacv1.ClusterRole) []any {
	return []any{r.Name, createdAt(r)}
}, "Name", "Created At")

var roleBindingColumns = columnsOf(func(b *rbacv1.RoleBinding) []any {
	return bindingCells(b, b.RoleRef, b.Subjects)
}, bindingColumns...)

var clusterRoleBindingColumns = columnsOf(func(b *rbacv1.ClusterRoleBinding) []any {
	return bindingCells(b, b.RoleRef, b.Subjects)
}, bindingColumns...)

var bindingColumns = []string{"Name", "Role", "Age", "-Users", "-Groups", "-ServiceAccounts"}

func bindingCells(obj metav1.Object, role rbacv1.RoleRef, subjects []rbacv1.Subject) []any {
	names := map[string][]string{}
	for _, s := range subjects {
		name := s.Name
		if s.Kind == rbacv1.ServiceAccountKind {
			name = s.Namespace + "/" + s.Name
		}
		names[s.Kind] = append(names[s.Kind], name)
	}
	joined := func(kind string) string { return strings.Join(names[kind], ", ") }
	return []any{
		obj.GetName(), role.Kind + "/" + role.Name, age(obj), joined(rbacv1.UserKind), joined(rbacv1.GroupKind), joined(rbacv1.ServiceAccountKind),
	}
}

var csrColumns = columnsOf(func(c *certificatesv1.CertificateSigningRequest) []any {
	requested := "<none>"
	if s := c.Spec.ExpirationSeconds; s != nil {
		requested = duration.HumanDuration(time.Duration(*s) * time.Second)
	}
	return []any{c.Name, age(c), c.Spec.SignerName, c.Spec.Username, requested, csrState(c)}
}, "Name", "Age", "SignerName", "Requestor", "RequestedDuration", "Condition")

func csrState(c *certificatesv1.CertificateSigningRequest) string {
	has := map[certificatesv1.RequestConditionType]bool{}
	for _, condition := range c.Status.Conditions {
		has[condition.Type] = true
	}
	state := "Pending"
	switch {
	case has[certificatesv1.CertificateDenied]:
		state = "Denied"
	case has[certificatesv1.CertificateApproved]:
		state = "Approved"
	}
	if has[certificatesv1.CertificateFailed] {
		state += ",Failed"
	}
	if len(c.Status.Certificate) > 0 {
		state += ",Issued"
	}
	return state
}

var ingressColumns = columnsOf(func(i *networkingv1.Ingress) []any {
	var hosts, addresses []string
	for _, rule := range i.Spec.Rules {
		if rule.Host != "" {
			hosts = append(hosts, rule.Host)
		}
	}
	for _, ingress := range i.Status.LoadBalancer.Ingress {
		addresses = append(addresses, cmp.Or(ingress.IP, ingress.Hostname))
	}
	ports := "80"
	if len(i.Spec.TLS) > 0 {
		ports = "80, 443"
	}
	return []any{
		i.Name, orNone(valueOf(i.Spec.IngressClassName)), cmp.Or(firstOf(3, hosts, ","), "*"), strings.Join(addresses, ","), ports, age(i),
	}
}, "Name", "Class", "Hosts", "Address", "Ports", "Age")

var ingressClassColumns = columnsOf(func(c *networkingv1.IngressClass) []any {
	parameters := "<none>"
	if p := c.Spec.Parameters; p != nil {
		parameters = p.Kind
		if group := valueOf(p.APIGroup); group != "" {
			parameters += "." + group
		}
		parameters += "/" + p.Name
	}
	return []any{c.Name, c.Spec.Controller, parameters, age(c)}
}, "Name", "Controller", "Parameters", "Age")

var networkPolicyColumns = columnsOf(func(n *networkingv1.NetworkPolicy) []any {
	return []any{n.Name, metav1.FormatLabelSelector(&n.Spec.PodSelector), age(n)}
}, "Name", "Pod-Selector", "Age")

var mutatingColumns = columnsOf(func(c *admissionregistrationv1.MutatingWebhookConfiguration) []any {
	return []any{c.Name, len(c.Webhooks), age(c)}
}, "Name", "Webhooks", "Age")

var validatingColumns = columnsOf(func(c *admissionregistrationv1.ValidatingWebhookConfiguration) []any {
	return []any{c.Name, len(c.Webhooks), age(c)}
}, "Name", "Webhooks", "Age")
