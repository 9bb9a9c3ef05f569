// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	"context"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
)

// CreateRoles creates the roles and bindings of each cluster, on which controllers rely, if
// they don't exist.
func (all *Kinds) CreateRoles(ctx context.Context) error {
	for _, role := range clusterRoles() {
		if err := all.ensure(ctx, "clusterroles", role); err != nil {
			return err
		}
	}
	for role, groups := range map[string][]string{
		"cluster-admin":             {user.SystemPrivilegedGroup},
		"system:basic-user":         {user.AllAuthenticated},
		"system:discovery":          {user.AllAuthenticated},
		"system:public-info-viewer": {user.AllAuthenticated, user.AllUnauthenticated},
	} {
		binding := &rbacv1.ClusterRoleBinding{ObjectMeta: defaultRoleMeta(role), RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: role}}
		for _, group := range groups {
			binding.Subjects = append(binding.Subjects, rbacv1.Subject{Kind: rbacv1.GroupKind, Name: group})
		}
		if err := all.ensure(ctx, "clusterrolebindings", binding); err != nil {
			return err
		}
	}
	return nil
}

func defaultRoleMeta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name:        name,
		Labels:      map[string]string{"kubernetes.io/bootstrapping": "rbac-defaults"},
		Annotations: map[string]string{rbacv1.AutoUpdateAnnotationKey: "true"},
	}
}

// clusterRoles returns the roles for users. The rules of admin, edit and view follow from the table
// of kinds.
func clusterRoles() []*rbacv1.ClusterRole {
	every, read := []string{"*"}, []string{"get", "list", "watch"}
	write := append([]string{"create", "update", "patch", "delete", "deletecollection"}, read...)
	plain := func(name string, rules ...rbacv1.PolicyRule) *rbacv1.ClusterRole {
		return &rbacv1.ClusterRole{ObjectMeta: defaultRoleMeta(name), Rules: rules}
	}
	view, edit, admin := map[string][]string{}, map[string][]string{}, map[string][]string{}
	for _, k := range kinds() {
		if k.clusterScoped && k.resource != "namespaces" {
			continue
		}
		resources := []string{k.resource}
		if _, ok := partOf(k.newObject(), "Status"); ok {
			resources = append(resources, k.resource+"/status")
		}
		if k.hasScale {
			resources = append(resources, k.resource+"/scale")
		}
		add := func(to map[string][]string) { to[k.gv.Group] = append(to[k.gv.Group], resources...) }
		switch {
		case k.gv.Group == rbacv1.GroupName:
			add(admin)
			continue
		case k.resource == "secrets":
			add(edit)
			continue
		}
		add(view)
		switch k.resource {
		case "namespaces", "resourcequotas", "limitranges", "events":
		default:
			add(edit)
		}
	}
	return []*rbacv1.ClusterRole{
		plain("cluster-admin", rbacv1.PolicyRule{Verbs: every, APIGroups: every, Resources: every}, rbacv1.PolicyRule{Verbs: every, NonResourceURLs: every}),
		plain("system:basic-user",
			rbacv1.PolicyRule{Verbs: []string{"create"}, APIGroups: []string{"authorization.k8s.io"}, Resources: []string{"selfsubjectaccessreviews", "selfsubjectrulesreviews"}},
			rbacv1.PolicyRule{Verbs: []string{"create"}, APIGroups: []string{"authentication.k8s.io"}, Resources: []string{"selfsubjectreviews"}}),
		plain("system:discovery", rbacv1.PolicyRule{Verbs: []string{"get"}, NonResourceURLs: []string{
			"/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi", "/openapi/*", "/readyz", "/version", "/version/",
		}}),
		plain("system:public-info-viewer", rbacv1.PolicyRule{Verbs: []string{"get"}, NonResourceURLs: []string{
			"/healthz", "/livez", "/readyz", "/version", "/version/",
		}}),
		aggregating("view", rulesFor(view, read)),
		aggregating("edit", append(rulesFor(edit, write), rulesFor(view, read)...), "view"),
		aggregating("admin", append(append(rulesFor(admin, write), rulesFor(edit, write)...), rulesFor(view, read)...), "view", "edit"),
	}
}

func rulesFor(resources map[string][]string, verbs []string) (rules []rbacv1.PolicyRule) {
	for _, gv := range versions() {
		if of := resources[gv.Group]; len(of) > 0 {
			rules = append(rules, rbacv1.PolicyRule{Verbs: verbs, APIGroups: []string{gv.Group}, Resources: of})
		}
	}
	return rules
}

// aggregating returns a role that also has the rules of roles with the labels for it and for
// others.
func aggregating(name string, rules []rbacv1.PolicyRule, others ...string) *rbacv1.ClusterRole {
	role := &rbacv1.ClusterRole{ObjectMeta: defaultRoleMeta(name), Rules: rules, AggregationRule: &rbacv1.AggregationRule{}}
	for _, n := range append(others, name) {
		labels := map[string]string{"rbac.authorization.k8s.io/aggregate-to-" + n: "true"}
		role.AggregationRule.ClusterRoleSelectors = append(role.AggregationRule.ClusterRoleSelectors, metav1.LabelSelector{MatchLabels: labels})
	}
	return role
}
