// SPDX-License-Identifier: Apache-2.0

package rbac

import (
	"context"
	"fmt"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// Authorizer allows everything to members of system:masters, and to others as far as a rule does.
type Authorizer struct{ objects Objects }

var (
	_ authorizer.UnconditionalAuthorizer = Authorizer{}
	_ authorizer.RuleResolver            = Authorizer{}
)

// New returns an authorizer reading roles and bindings from objects.
func New(objects Objects) Authorizer { return Authorizer{objects} }

// Authorize allows a request or has no opinion. The reason names the allowing binding, or the
// missing roles of bindings.
func (a Authorizer) Authorize(ctx context.Context, request authorizer.Attributes) (authorizer.Decision, string, error) {
	if privileged(request.GetUser()) {
		return authorizer.DecisionAllow, "", nil
	}
	reason := ""
	missing, err := a.visit(ctx, request.GetUser(), request.GetNamespace(), func(source string, rule rbacv1.PolicyRule) bool {
		if allows(rule, request) {
			reason = "RBAC: allowed by " + source
		}
		return reason == ""
	})
	switch {
	case reason != "":
		return authorizer.DecisionAllow, reason, nil
	case err != nil:
		return authorizer.DecisionNoOpinion, "", err
	case missing != nil:
		return authorizer.DecisionNoOpinion, "RBAC: " + missing.Error(), nil
	}
	return authorizer.DecisionNoOpinion, "", nil
}

// RulesFor returns all rules for a user in a namespace.
func (a Authorizer) RulesFor(ctx context.Context, u user.Info, namespace string) ([]authorizer.ResourceRuleInfo, []authorizer.NonResourceRuleInfo, bool, error) {
	rules, err := a.rules(ctx, u, namespace)
	if err != nil {
		return nil, nil, false, err
	}
	var resources []authorizer.ResourceRuleInfo
	var urls []authorizer.NonResourceRuleInfo
	for _, r := range rules {
		if len(r.Resources) > 0 {
			resources = append(resources, &authorizer.DefaultResourceRuleInfo{
				Verbs: r.Verbs, APIGroups: r.APIGroups, Resources: r.Resources, ResourceNames: r.ResourceNames,
			})
		}
		if len(r.NonResourceURLs) > 0 {
			urls = append(urls, &authorizer.DefaultNonResourceRuleInfo{Verbs: r.Verbs, NonResourceURLs: r.NonResourceURLs})
		}
	}
	return resources, urls, false, nil
}

// rules returns the rules for a user in a namespace, without those of missing roles.
func (a Authorizer) rules(ctx context.Context, u user.Info, namespace string) (rules []rbacv1.PolicyRule, err error) {
	if privileged(u) {
		all := []string{"*"}
		return []rbacv1.PolicyRule{{Verbs: all, APIGroups: all, Resources: all}, {Verbs: all, NonResourceURLs: all}}, nil
	}
	_, err = a.visit(ctx, u, namespace, func(_ string, rule rbacv1.PolicyRule) bool {
		rules = append(rules, rule)
		return true
	})
	return rules, err
}

func privileged(u user.Info) bool {
	return slices.Contains(u.GetGroups(), user.SystemPrivilegedGroup)
}

// visit calls f with each rule for a user in a namespace, and the words for its source,
// until f returns false. It returns an error about missing roles and one about failed reads.
func (a Authorizer) visit(ctx context.Context, u user.Info, namespace string, f func(source string, rule rbacv1.PolicyRule) bool) (missing, err error) {
	bindings, err := a.bindings(ctx, namespace)
	if err != nil {
		return nil, err
	}
	for _, b := range bindings {
		at := slices.IndexFunc(b.subjects, func(s rbacv1.Subject) bool { return applies(s, u, b.namespace) })
		if at < 0 {
			continue
		}
		rules, err := a.rulesOf(ctx, b.role, b.namespace)
		if isMissing(err) {
			missing = joined(missing, err)
			continue
		}
		if err != nil {
			return missing, err
		}
		source := fmt.Sprintf("%s of %s %q to %s", b, b.role.Kind, b.role.Name, describe(b.subjects[at]))
		for _, rule := range rules {
			if !f(source, rule) {
				return missing, nil
			}
		}
	}
	return missing, nil
}
