// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	"cmp"
	"encoding/pem"
	"fmt"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/util/webhook"
)

func validateRole(c *checks, r, _ *rbacv1.Role) {
	for i, rule := range r.Rules {
		c.policyRule(field.NewPath("rules").Index(i), rule, true)
	}
}

func validateClusterRole(c *checks, r, _ *rbacv1.ClusterRole) {
	for i, rule := range r.Rules {
		c.policyRule(field.NewPath("rules").Index(i), rule, false)
	}
	if r.AggregationRule == nil {
		return
	}
	at := field.NewPath("aggregationRule", "clusterRoleSelectors")
	if len(r.AggregationRule.ClusterRoleSelectors) == 0 {
		c.missing(at, "at least one clusterRoleSelector required if aggregationRule is non-nil")
	}
	for i := range r.AggregationRule.ClusterRoleSelectors {
		c.selector(at.Index(i), &r.AggregationRule.ClusterRoleSelectors[i])
	}
}

func (c *checks) policyRule(path *field.Path, rule rbacv1.PolicyRule, namespaced bool) {
	if len(rule.Verbs) == 0 {
		c.missing(path.Child("verbs"), "verbs must contain at least one value")
	}
	if len(rule.NonResourceURLs) > 0 {
		if namespaced {
			c.invalid(path.Child("nonResourceURLs"), rule.NonResourceURLs, "namespaced rules cannot apply to non-resource URLs")
		}
		if len(rule.APIGroups)+len(rule.Resources)+len(rule.ResourceNames) > 0 {
			c.invalid(path.Child("nonResourceURLs"), rule.NonResourceURLs, "rules cannot apply to both regular resources and non-resource URLs")
		}
		return
	}
	if len(rule.APIGroups) == 0 {
		c.missing(path.Child("apiGroups"), "resource rules must supply at least one api group")
	}
	if len(rule.Resources) == 0 {
		c.missing(path.Child("resources"), "resource rules must supply at least one resource")
	}
}

func validateRoleBinding(c *checks, b, old *rbacv1.RoleBinding) {
	c.binding(b.RoleRef, b.Subjects, "Role", "ClusterRole")
	if old != nil && b.RoleRef != old.RoleRef {
		c.invalid(field.NewPath("roleRef"), b.RoleRef, "cannot change roleRef")
	}
}

func validateClusterRoleBinding(c *checks, b, old *rbacv1.ClusterRoleBinding) {
	c.binding(b.RoleRef, b.Subjects, "ClusterRole")
	if old != nil && b.RoleRef != old.RoleRef {
		c.invalid(field.NewPath("roleRef"), b.RoleRef, "cannot change roleRef")
	}
}

func (c *checks) binding(role rbacv1.RoleRef, subjects []rbacv1.Subject, kinds ...string) {
	at := field.NewPath("roleRef")
	// An empty kind isn't supported either.
	if role.APIGroup != rbacv1.GroupName {
		c.errs = append(c.errs, field.NotSupported(at.Child("apiGroup"), role.APIGroup, []string{rbacv1.GroupName}))
	}
	if !slices.Contains(kinds, role.Kind) {
		c.errs = append(c.errs, field.NotSupported(at.Child("kind"), role.Kind, kinds))
	}
	c.required(at.Child("name"), role.Name)
	for i, s := range subjects {
		c.subject(field.NewPath("subjects").Index(i), s, slices.Contains(kinds, "Role"))
	}
}

// subject checks a subject of a binding. In a namespaced one, its namespace is the default.
func (c *checks) subject(path *field.Path, s rbacv1.Subject, namespaced bool) {
	c.required(path.Child("name"), s.Name)
	group := rbacv1.GroupName
	switch s.Kind {
	case rbacv1.ServiceAccountKind:
		group = ""
		if s.Name != "" {
			c.matches(path.Child("name"), s.Name, validation.IsDNS1123Subdomain)
		}
		if !namespaced {
			c.required(path.Child("namespace"), s.Namespace)
		}
	case rbacv1.UserKind, rbacv1.GroupKind:
	default:
		c.errs = append(c.errs, field.NotSupported(path.Child("kind"), s.Kind, []string{rbacv1.ServiceAccountKind, rbacv1.UserKind, rbacv1.GroupKind}))
		return
	}
	if s.APIGroup != group {
		c.errs = append(c.errs, field.NotSupported(path.Child("apiGroup"), s.APIGroup, []string{group}))
	}
}

func validateCSR(c *checks, r, _ *certificatesv1.CertificateSigningRequest) {
	block, _ := pem.Decode(r.Spec.Request)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		c.invalid(specPath.Child("request"), r.Spec.Request, "PEM block type must be CERTIFICATE REQUEST")
	}
	if len(r.Spec.Usages) == 0 {
		c.missing(specPath.Child("usages"), "usages must be provided")
	}
	if at := specPath.Child("signerName"); c.required(at, r.Spec.SignerName) {
		c.add(validation.IsDomainPrefixedPath(at, r.Spec.SignerName))
	}
	if s := r.Spec.ExpirationSeconds; s != nil && *s < 600 {
		c.invalid(specPath.Child("expirationSeconds"), *s, "may not specify a duration less than 600 seconds (10 minutes)")
	}
}

func validateMutatingWebhooks(c *checks, w, _ *admissionregistrationv1.MutatingWebhookConfiguration) {
	names := sets.New[string]()
	for i := range w.Webhooks {
		h := &w.Webhooks[i]
		c.webhook(field.NewPath("webhooks").Index(i), h.Name, names, h.ClientConfig, h.SideEffects, h.AdmissionReviewVersions, h.TimeoutSeconds, h.Rules)
	}
}

func validateValidatingWebhooks(c *checks, w, _ *admissionregistrationv1.ValidatingWebhookConfiguration) {
	names := sets.New[string]()
	for i := range w.Webhooks {
		h := &w.Webhooks[i]
		c.webhook(field.NewPath("webhooks").Index(i), h.Name, names, h.ClientConfig, h.SideEffects, h.AdmissionReviewVersions, h.TimeoutSeconds, h.Rules)
	}
}

func (c *checks) webhook(
	path *field.Path, name string, names sets.Set[string], client admissionregistrationv1.WebhookClientConfig,
	effects *admissionregistrationv1.SideEffectClass, versions []string, seconds *int32, rules []admissionregistrationv1.RuleWithOperations,
) {
	c.add(validation.IsFullyQualifiedName(path.Child("name"), name))
	if names.Has(name) {
		c.duplicate(path.Child("name"), name)
	}
	names.Insert(name)
	if (client.URL == nil) == (client.Service == nil) {
		c.missing(path.Child("clientConfig"), "exactly one of url or service is required")
	}
	at := path.Child("clientConfig")
	switch s := client.Service; {
	case client.URL != nil && s == nil:
		c.add(webhook.ValidateWebhookURL(at.Child("url"), *client.URL, true))
	case client.URL == nil && s != nil:
		c.add(webhook.ValidateWebhookService(at.Child("service"), s.Namespace, s.Name, s.Path, cmp.Or(valueOf(s.Port), 443)))
	}
	at = path.Child("sideEffects")
	none, dry := admissionregistrationv1.SideEffectClassNone, admissionregistrationv1.SideEffectClassNoneOnDryRun
	if effects == nil {
		c.missing(at, fmt.Sprintf("must specify one of %s, %s", none, dry))
	} else {
		supported(c, at, *effects, none, dry)
	}
	if at := path.Child("admissionReviewVersions"); len(versions) == 0 {
		c.missing(at, "must specify one of v1, v1beta1")
	} else if known := sets.New("v1", "v1beta1"); !known.HasAny(versions...) {
		c.invalid(at, versions, "must include at least one of v1, v1beta1")
	}
	if seconds != nil && (*seconds < 1 || *seconds > 30) {
		c.invalid(path.Child("timeoutSeconds"), *seconds, "the timeout value must be between 1 and 30 seconds")
	}
	for i, rule := range rules {
		at := path.Child("rules").Index(i)
		if len(rule.Operations) == 0 {
			c.missing(at.Child("operations"), "")
		}
		if len(rule.APIGroups) == 0 {
			c.missing(at.Child("apiGroups"), "")
		}
		if len(rule.APIVersions) == 0 {
			c.missing(at.Child("apiVersions"), "")
		}
		if len(rule.Resources) == 0 {
			c.missing(at.Child("resources"), "")
		}
	}
}
