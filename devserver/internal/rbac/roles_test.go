// SPDX-License-Identifier: Apache-2.0

package rbac

import (
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

func TestAllows(t *testing.T) {
	t.Parallel()
	pods := rbacv1.PolicyRule{Verbs: []string{"get", "update"}, APIGroups: []string{""}, Resources: []string{"pods", "*/status"}}
	one := rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}, ResourceNames: []string{"one"}}
	urls := rbacv1.PolicyRule{Verbs: []string{"get"}, NonResourceURLs: []string{"/healthz", "/openapi/*"}}
	resource := func(verb, group, resource, subresource, name string) authorizer.AttributesRecord {
		return authorizer.AttributesRecord{ResourceRequest: true, Verb: verb, APIGroup: group, Resource: resource, Subresource: subresource, Name: name}
	}
	for _, test := range []struct {
		name    string
		rule    rbacv1.PolicyRule
		request authorizer.AttributesRecord
		want    bool
	}{
		{"resource", pods, resource("get", "", "pods", "", "a"), true},
		{"verb", pods, resource("delete", "", "pods", "", "a"), false},
		{"group", pods, resource("get", "apps", "pods", "", "a"), false},
		{"subresource", pods, resource("get", "", "pods", "log", "a"), false},
		{"subresource of any resource", pods, resource("update", "", "services", "status", "a"), true},
		{"resource of that subresource", pods, resource("update", "", "services", "", "a"), false},
		{"name", one, resource("delete", "apps", "deployments", "scale", "one"), true},
		{"other name", one, resource("delete", "apps", "deployments", "", "two"), false},
		{"no name", one, resource("list", "apps", "deployments", "", ""), false},
		{"path", urls, authorizer.AttributesRecord{Verb: "get", Path: "/healthz"}, true},
		{"prefix of paths", urls, authorizer.AttributesRecord{Verb: "get", Path: "/openapi/v3"}, true},
		{"longer path", urls, authorizer.AttributesRecord{Verb: "get", Path: "/healthz/etcd"}, false},
		{"verb of a path", urls, authorizer.AttributesRecord{Verb: "post", Path: "/healthz"}, false},
	} {
		if got := allows(test.rule, test.request); got != test.want {
			t.Errorf("%s: allows(%+v, %+v) = %v, want %v", test.name, test.rule, test.request, got, test.want)
		}
	}
}

func TestApplies(t *testing.T) {
	t.Parallel()
	ada := &user.DefaultInfo{Name: "ada", Groups: []string{"crew"}}
	cook := &user.DefaultInfo{Name: "system:serviceaccount:shop:cook"}
	for _, test := range []struct {
		subject   rbacv1.Subject
		user      user.Info
		namespace string // of the binding
		want      bool
	}{
		{rbacv1.Subject{Kind: "User", Name: "ada"}, ada, "", true},
		{rbacv1.Subject{Kind: "User", Name: "crew"}, ada, "", false},
		{rbacv1.Subject{Kind: "Group", Name: "crew"}, ada, "", true},
		{rbacv1.Subject{Kind: "Group", Name: "ada"}, ada, "", false},
		{rbacv1.Subject{Kind: "ServiceAccount", Name: "cook", Namespace: "shop"}, cook, "", true},
		{rbacv1.Subject{Kind: "ServiceAccount", Name: "cook", Namespace: "other"}, cook, "shop", false},
		{rbacv1.Subject{Kind: "ServiceAccount", Name: "cook"}, cook, "shop", true},
		{rbacv1.Subject{Kind: "ServiceAccount", Name: "cook"}, cook, "", false},
	} {
		if got := applies(test.subject, test.user, test.namespace); got != test.want {
			t.Errorf("applies(%+v, %s, %q) = %v, want %v", test.subject, test.user.GetName(), test.namespace, got, test.want)
		}
	}
}
