// SPDX-License-Identifier: Apache-2.0

package rbac

import (
	"context"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/component-helpers/auth/rbac/validation"
)

// Escalation refuses roles and bindings that would grant rights their author lacks.
type Escalation struct{ authorizer Authorizer }

var _ admission.ValidationInterface = Escalation{}

// NewEscalation returns an admission plugin that knows a user's rights from a.
func NewEscalation(a Authorizer) Escalation { return Escalation{a} }

// Handles reports whether an operation can grant rights.
func (Escalation) Handles(op admission.Operation) bool {
	return op == admission.Create || op == admission.Update
}

// Validate returns Forbidden if a request grants rights that its user lacks. The verb escalate on
// roles, or bind on a binding's role, permits it.
func (e Escalation) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if a.GetResource().Group != rbacv1.GroupName || a.GetUserInfo() == nil || privileged(a.GetUserInfo()) {
		return nil
	}
	granted, ref := grants(a.GetObject())
	before, refBefore := grants(a.GetOldObject())
	verb, resource, name := "escalate", a.GetResource().Resource, a.GetName()
	switch {
	case ref != nil:
		if refBefore != nil && subjectsEqual(a) {
			return nil
		}
		verb, resource, name = "bind", map[string]string{"Role": "roles", "ClusterRole": "clusterroles"}[ref.Kind], ref.Name
		rules, err := e.authorizer.rulesOf(ctx, *ref, a.GetNamespace())
		if err != nil {
			return err
		}
		granted = rules
	case a.GetOldObject() != nil && equality.Semantic.DeepEqual(granted, before):
		return nil
	}
	decision, _, err := e.authorizer.Authorize(ctx, authorizer.AttributesRecord{
		User: a.GetUserInfo(), Verb: verb, Namespace: a.GetNamespace(), APIGroup: rbacv1.GroupName, APIVersion: "*",
		Resource: resource, Name: name, ResourceRequest: true,
	})
	if err != nil || decision == authorizer.DecisionAllow {
		return err
	}
	owned, err := e.authorizer.rules(ctx, a.GetUserInfo(), a.GetNamespace())
	if err != nil {
		return admission.NewForbidden(a, err)
	}
	covered, lacking := validation.Covers(owned, granted)
	if covered {
		return nil
	}
	var lines []string
	for _, rule := range lacking {
		lines = append(lines, compact(rule))
	}
	slices.Sort(lines)
	return admission.NewForbidden(a, fmt.Errorf("user %q (groups=%q) is attempting to grant RBAC permissions not currently held:\n%s",
		a.GetUserInfo().GetName(), a.GetUserInfo().GetGroups(), strings.Join(lines, "\n")))
}

// grants returns the rules of a role, or the role of a binding.
func grants(obj runtime.Object) ([]rbacv1.PolicyRule, *rbacv1.RoleRef) {
	switch o := obj.(type) {
	case *rbacv1.Role:
		return o.Rules, nil
	case *rbacv1.ClusterRole:
		return o.Rules, nil
	case *rbacv1.RoleBinding:
		return nil, &o.RoleRef
	case *rbacv1.ClusterRoleBinding:
		return nil, &o.RoleRef
	}
	return nil, nil
}

func subjectsEqual(a admission.Attributes) bool {
	subjects := func(obj runtime.Object) []rbacv1.Subject {
		switch o := obj.(type) {
		case *rbacv1.RoleBinding:
			return o.Subjects
		case *rbacv1.ClusterRoleBinding:
			return o.Subjects
		}
		return nil
	}
	return equality.Semantic.DeepEqual(subjects(a.GetObject()), subjects(a.GetOldObject()))
}

func compact(rule rbacv1.PolicyRule) string {
	var fields []string
	for _, f := range []struct {
		name   string
		values []string
	}{
		{"APIGroups", rule.APIGroups}, {"Resources", rule.Resources}, {"NonResourceURLs", rule.NonResourceURLs},
		{"ResourceNames", rule.ResourceNames}, {"Verbs", rule.Verbs},
	} {
		if len(f.values) > 0 {
			fields = append(fields, fmt.Sprintf("%s:%q", f.name, f.values))
		}
	}
	return "{" + strings.Join(fields, ", ") + "}"
}
