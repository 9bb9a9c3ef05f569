// SPDX-License-Identifier: Apache-2.0

package rbac

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// Objects reads roles and bindings as they are now.
type Objects interface {
	Get(ctx context.Context, resource, namespace, name string) (runtime.Object, error)
	List(ctx context.Context, resource, namespace string) (runtime.Object, error)
}

// binding is a RoleBinding, or a ClusterRoleBinding if it has no namespace.
type binding struct {
	namespace, name string
	role            rbacv1.RoleRef
	subjects        []rbacv1.Subject
}

func (b binding) String() string {
	if b.namespace == "" {
		return fmt.Sprintf("ClusterRoleBinding %q", b.name)
	}
	return fmt.Sprintf("RoleBinding %q", b.name+"/"+b.namespace) // kube-apiserver's order
}

// bindings returns those of the cluster, and those of a namespace if it isn't empty.
func (a Authorizer) bindings(ctx context.Context, namespace string) ([]binding, error) {
	list, err := a.objects.List(ctx, "clusterrolebindings", "")
	if err != nil {
		return nil, fmt.Errorf("list ClusterRoleBindings: %w", err)
	}
	var all []binding
	for _, b := range list.(*rbacv1.ClusterRoleBindingList).Items {
		all = append(all, binding{"", b.Name, b.RoleRef, b.Subjects})
	}
	if namespace == "" {
		return all, nil
	}
	if list, err = a.objects.List(ctx, "rolebindings", namespace); err != nil {
		return nil, fmt.Errorf("list RoleBindings: %w", err)
	}
	for _, b := range list.(*rbacv1.RoleBindingList).Items {
		all = append(all, binding{b.Namespace, b.Name, b.RoleRef, b.Subjects})
	}
	return all, nil
}

// rulesOf returns the rules of a role, and of those it aggregates.
func (a Authorizer) rulesOf(ctx context.Context, ref rbacv1.RoleRef, namespace string) ([]rbacv1.PolicyRule, error) {
	if ref.Kind == "Role" {
		role, err := a.objects.Get(ctx, "roles", namespace, ref.Name)
		if err != nil {
			return nil, named("role", ref.Name, err)
		}
		return role.(*rbacv1.Role).Rules, nil
	}
	obj, err := a.objects.Get(ctx, "clusterroles", "", ref.Name)
	if err != nil {
		return nil, named("clusterrole", ref.Name, err)
	}
	role := obj.(*rbacv1.ClusterRole)
	if role.AggregationRule == nil {
		return role.Rules, nil
	}
	list, err := a.objects.List(ctx, "clusterroles", "")
	if err != nil {
		return nil, fmt.Errorf("list ClusterRoles: %w", err)
	}
	rules := slices.Clone(role.Rules)
	for _, other := range list.(*rbacv1.ClusterRoleList).Items {
		if other.Name != role.Name && aggregates(role.AggregationRule, other.Labels) {
			rules = append(rules, other.Rules...)
		}
	}
	return rules, nil
}

// aggregates does the work of a cluster's controller, which copies rules into aggregating roles.
func aggregates(rule *rbacv1.AggregationRule, set labels.Set) bool {
	return slices.ContainsFunc(rule.ClusterRoleSelectors, func(s metav1.LabelSelector) bool {
		selector, err := metav1.LabelSelectorAsSelector(&s)
		return err == nil && selector.Matches(set)
	})
}

// named makes the error NotFound about a role. The storage's is about the served request.
func named(kind, name string, err error) error {
	if isMissing(err) {
		return apierrors.NewNotFound(schema.GroupResource{Group: rbacv1.GroupName, Resource: kind}, name)
	}
	return err
}

func isMissing(err error) bool { return apierrors.IsNotFound(err) }

func joined(errs ...error) error {
	var texts []string
	for _, err := range errs {
		if err != nil {
			texts = append(texts, err.Error())
		}
	}
	return errors.New(strings.Join(texts, ", "))
}

func applies(s rbacv1.Subject, u user.Info, namespace string) bool {
	switch s.Kind {
	case rbacv1.UserKind:
		return u.GetName() == s.Name
	case rbacv1.GroupKind:
		return slices.Contains(u.GetGroups(), s.Name)
	case rbacv1.ServiceAccountKind:
		if s.Namespace != "" {
			namespace = s.Namespace
		}
		return namespace != "" && serviceaccount.MatchesUsername(namespace, s.Name, u.GetName())
	}
	return false
}

func describe(s rbacv1.Subject) string {
	if s.Kind == rbacv1.ServiceAccountKind {
		return fmt.Sprintf("%s %q", s.Kind, s.Name+"/"+s.Namespace)
	}
	return fmt.Sprintf("%s %q", s.Kind, s.Name)
}

func allows(rule rbacv1.PolicyRule, request authorizer.Attributes) bool {
	has := func(list []string, value string) bool {
		return slices.Contains(list, "*") || slices.Contains(list, value)
	}
	if !has(rule.Verbs, request.GetVerb()) {
		return false
	}
	if !request.IsResourceRequest() {
		return slices.ContainsFunc(rule.NonResourceURLs, func(url string) bool {
			prefix, open := strings.CutSuffix(url, "*")
			return url == request.GetPath() || open && strings.HasPrefix(request.GetPath(), prefix)
		})
	}
	resource := request.GetResource()
	if sub := request.GetSubresource(); sub != "" {
		resource += "/" + sub
	}
	return has(rule.APIGroups, request.GetAPIGroup()) &&
		(has(rule.Resources, resource) || request.GetSubresource() != "" && slices.Contains(rule.Resources, "*/"+request.GetSubresource())) &&
		(len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, request.GetName()))
}
