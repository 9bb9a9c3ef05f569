// SPDX-License-Identifier: Apache-2.0

package devserver_test

import (
	"slices"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/informer-gen/informer-gen/devserver"
)

func withRBAC(t *testing.T) *devserver.Server {
	t.Helper()
	return start(t, devserver.Options{BuiltInKinds: true, RBAC: true, CRDs: crds{boatCRD()}})
}

// as returns a client that acts for a user.
func as(t *testing.T, s *devserver.Server, name string, groups ...string) *kubernetes.Clientset {
	t.Helper()
	config := s.Config()
	config.Impersonate.UserName, config.Impersonate.Groups = name, groups
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// grant lets a user do what rules allow in the namespace default.
func grant(t *testing.T, s *devserver.Server, user string, rules ...rbacv1.PolicyRule) {
	t.Helper()
	c := typed(t, s).RbacV1()
	meta := metav1.ObjectMeta{GenerateName: "granted-"}
	role, err := c.Roles("default").Create(t.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: rules}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.RoleBindings("default").Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{Kind: "Role", Name: role.Name}, Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, Name: user}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

func rule(group, resource string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
}

func wantForbidden(t *testing.T, call string, err error, want string) {
	t.Helper()
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), want) {
		t.Errorf("%s returns\n%v\nwant\n%s", call, err, want)
	}
}

func TestRBACRefusesAMissingRight(t *testing.T) {
	t.Parallel()
	s := withRBAC(t)
	ada := as(t, s, "ada")
	_, err := ada.CoreV1().ConfigMaps("default").Get(t.Context(), "c", metav1.GetOptions{})
	wantForbidden(t, "Get", err, `configmaps "c" is forbidden: User "ada" cannot get resource "configmaps" in API group "" in the namespace "default"`)
	_, err = ada.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	wantForbidden(t, "List", err, `nodes is forbidden: User "ada" cannot list resource "nodes" in API group "" at the cluster scope`)

	// A right is in force when the write of its binding returns.
	grant(t, s, "ada", rule("", "configmaps", "create", "list"), rule("", "pods/status", "update"), rule(boats.Group, "boats", "get"))
	if _, err := ada.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}}, metav1.CreateOptions{}); err != nil {
		t.Errorf("Create returns %v", err)
	}
	_, err = ada.CoreV1().ConfigMaps("default").Get(t.Context(), "c", metav1.GetOptions{})
	wantForbidden(t, "Get", err, `cannot get resource "configmaps"`)
	_, err = ada.CoreV1().ConfigMaps("kube-system").List(t.Context(), metav1.ListOptions{})
	wantForbidden(t, "List", err, `in the namespace "kube-system"`)
	_, err = ada.CoreV1().Pods("default").UpdateStatus(t.Context(), newPod("absent"), metav1.UpdateOptions{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("UpdateStatus returns %v, want NotFound", err)
	}
	_, err = ada.CoreV1().Pods("default").Update(t.Context(), newPod("absent"), metav1.UpdateOptions{})
	wantForbidden(t, "Update", err, `cannot update resource "pods"`)

	config := s.Config()
	config.Impersonate.UserName = "ada"
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := objects.Resource(boats).Namespace("default").Get(t.Context(), "absent", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("Get of a custom resource returns %v, want NotFound", err)
	}
	_, err = objects.Resource(boats).Namespace("default").List(t.Context(), metav1.ListOptions{})
	wantForbidden(t, "List", err, `User "ada" cannot list resource "boats" in API group "harbour.example.com"`)

	if _, err := ada.Discovery().ServerGroups(); err != nil {
		t.Errorf("discovery returns %v", err)
	}
	if _, err := typed(t, s).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("an administrator's List returns %v", err)
	}
}

func TestRBACSubjectsAndRoles(t *testing.T) {
	t.Parallel()
	s := withRBAC(t)
	c := typed(t, s).RbacV1()
	bind := func(name, role string, subject rbacv1.Subject) {
		t.Helper()
		_, err := c.ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: role}, Subjects: []rbacv1.Subject{subject},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := c.ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "boats", Labels: map[string]string{"rbac.authorization.k8s.io/aggregate-to-view": "true"}},
		Rules:      []rbacv1.PolicyRule{rule(boats.Group, "boats", "list")},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	bind("viewers", "view", rbacv1.Subject{Kind: rbacv1.GroupKind, Name: "crew"})
	bind("editor", "edit", rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: "default", Name: "cook"})
	bind("absent", "no-such-role", rbacv1.Subject{Kind: rbacv1.UserKind, Name: "eve"})
	for _, test := range []struct {
		user                  string
		groups                []string
		verb, group, resource string
		allowed               bool
		reason                string
	}{
		{"bob", []string{"crew"}, "list", "apps", "deployments", true, `RBAC: allowed by ClusterRoleBinding "viewers" of ClusterRole "view" to Group "crew"`},
		{"bob", []string{"crew"}, "list", boats.Group, "boats", true, ""},
		{"bob", []string{"crew"}, "get", "", "secrets", false, ""},
		{"bob", []string{"crew"}, "create", "apps", "deployments", false, ""},
		{"system:serviceaccount:default:cook", nil, "create", "batch", "cronjobs", true, `to ServiceAccount "cook/default"`},
		{"system:serviceaccount:default:cook", nil, "create", "rbac.authorization.k8s.io", "roles", false, ""},
		{"eve", nil, "get", "", "pods", false, `RBAC: clusterrole.rbac.authorization.k8s.io "no-such-role" not found`},
	} {
		review, err := typed(t, s).AuthorizationV1().SubjectAccessReviews().Create(t.Context(), &authorizationv1.SubjectAccessReview{
			Spec: authorizationv1.SubjectAccessReviewSpec{User: test.user, Groups: test.groups, ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: "default", Verb: test.verb, Group: test.group, Resource: test.resource,
			}},
		}, metav1.CreateOptions{})
		if err != nil || review.Status.Allowed != test.allowed || !strings.Contains(review.Status.Reason, test.reason) {
			t.Errorf("SubjectAccessReview of %+v has %+v, %v", test, review.Status, err)
		}
	}
}

func TestRBACRefusesEscalation(t *testing.T) {
	t.Parallel()
	s := withRBAC(t)
	grant(t, s, "ada", rule(rbacv1.GroupName, "roles", "create", "update"), rule(rbacv1.GroupName, "rolebindings", "create"), rule("", "pods", "get", "list"))
	c := as(t, s, "ada").RbacV1()
	role := func(name string, rules ...rbacv1.PolicyRule) *rbacv1.Role {
		return &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
	}
	own, err := c.Roles("default").Create(t.Context(), role("own", rule("", "pods", "list")), metav1.CreateOptions{})
	if err != nil {
		t.Errorf("Create of a role with held rights returns %v", err)
	}
	_, err = c.Roles("default").Create(t.Context(), role("more", rule("", "pods", "delete")), metav1.CreateOptions{})
	const want = `user "ada" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:
{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}`
	wantForbidden(t, "Create", err, `roles.rbac.authorization.k8s.io "more" is forbidden: `+want)
	own.Rules = append(own.Rules, rule("", "pods", "delete"))
	_, err = c.Roles("default").Update(t.Context(), own, metav1.UpdateOptions{})
	wantForbidden(t, "Update", err, want)

	admin := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "admin"}, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, Name: "ada"}},
	}
	_, err = c.RoleBindings("default").Create(t.Context(), admin, metav1.CreateOptions{})
	wantForbidden(t, "Create", err, "is attempting to grant RBAC permissions not currently held")
	grant(t, s, "ada", rule(rbacv1.GroupName, "clusterroles", "bind"), rule(rbacv1.GroupName, "roles", "escalate"))
	if _, err = c.RoleBindings("default").Create(t.Context(), admin, metav1.CreateOptions{}); err != nil {
		t.Errorf("with the verb bind Create returns %v", err)
	}
	if _, err = c.Roles("default").Create(t.Context(), role("more", rule("", "pods", "delete")), metav1.CreateOptions{}); err != nil {
		t.Errorf("with the verb escalate Create returns %v", err)
	}
}

func TestTokensOfServiceAccounts(t *testing.T) {
	t.Parallel()
	s := withRBAC(t)
	admin := typed(t, s)
	accounts := admin.CoreV1().ServiceAccounts("default")
	if _, err := accounts.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "web"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	request := func(spec authenticationv1.TokenRequestSpec) (*authenticationv1.TokenRequest, error) {
		return accounts.CreateToken(t.Context(), "web", &authenticationv1.TokenRequest{Spec: spec}, metav1.CreateOptions{})
	}
	issued, err := request(authenticationv1.TokenRequestSpec{})
	if err != nil || issued.Status.Token == "" || *issued.Spec.ExpirationSeconds != 3600 || issued.Status.ExpirationTimestamp.IsZero() {
		t.Fatalf("CreateToken returns %+v, %v", issued, err)
	}
	if _, err := request(authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(60))}); !apierrors.IsInvalid(err) ||
		!strings.Contains(err.Error(), "spec.expirationSeconds: Invalid value: 60: may not specify a duration less than 10 minutes") {
		t.Errorf("CreateToken for a minute returns %v", err)
	}
	if _, err := accounts.CreateToken(t.Context(), "absent", &authenticationv1.TokenRequest{}, metav1.CreateOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("CreateToken of an absent account returns %v, want NotFound", err)
	}
	other, err := request(authenticationv1.TokenRequestSpec{Audiences: []string{"vault"}})
	if err != nil {
		t.Fatal(err)
	}

	with := func(token string) *kubernetes.Clientset {
		config := s.Config()
		config.BearerToken = token
		c, err := kubernetes.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	const name = "system:serviceaccount:default:web"
	me, err := with(issued.Status.Token).AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil || me.Status.UserInfo.Username != name || !slices.Contains(me.Status.UserInfo.Groups, "system:serviceaccounts:default") {
		t.Errorf("SelfSubjectReview has %+v, %v", me, err)
	}
	_, err = with(issued.Status.Token).CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	wantForbidden(t, "List", err, `User "`+name+`" cannot list resource "pods"`)
	for _, token := range []string{"wrong", other.Status.Token, issued.Status.Token + "x"} {
		if _, err := with(token).CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{}); !apierrors.IsUnauthorized(err) {
			t.Errorf("List with a wrong token returns %v, want Unauthorized", err)
		}
	}

	review := func(token string, audiences ...string) authenticationv1.TokenReviewStatus {
		r, err := admin.AuthenticationV1().TokenReviews().Create(t.Context(), &authenticationv1.TokenReview{
			Spec: authenticationv1.TokenReviewSpec{Token: token, Audiences: audiences},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return r.Status
	}
	if got := review(issued.Status.Token); !got.Authenticated || got.User.Username != name {
		t.Errorf("TokenReview has %+v", got)
	}
	if got := review(other.Status.Token, "vault"); !got.Authenticated || !slices.Equal(got.Audiences, []string{"vault"}) {
		t.Errorf("TokenReview for an audience has %+v", got)
	}
	if got := review(other.Status.Token); got.Authenticated || !strings.Contains(got.Error, "is invalid for the target audiences") {
		t.Errorf("TokenReview for another audience has %+v", got)
	}
	if err := accounts.Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := review(issued.Status.Token); got.Authenticated || !strings.Contains(got.Error, "service account default/web has been deleted") {
		t.Errorf("TokenReview after the account's deletion has %+v", got)
	}
}

func TestReviews(t *testing.T) {
	t.Parallel()
	for _, s := range []*devserver.Server{withBuiltIns(t), withRBAC(t)} {
		admin := typed(t, s)
		own, err := admin.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), &authorizationv1.SelfSubjectAccessReview{
			Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "get", Resource: "pods"}},
		}, metav1.CreateOptions{})
		if err != nil || !own.Status.Allowed {
			t.Errorf("SelfSubjectAccessReview of an administrator has %+v, %v", own, err)
		}
		rules, err := admin.AuthorizationV1().SelfSubjectRulesReviews().Create(t.Context(), &authorizationv1.SelfSubjectRulesReview{
			Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: "default"},
		}, metav1.CreateOptions{})
		if err != nil || len(rules.Status.ResourceRules) != 1 || len(rules.Status.NonResourceRules) != 1 {
			t.Errorf("SelfSubjectRulesReview of an administrator has %+v, %v", rules, err)
		}
		_, err = admin.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), &authorizationv1.SelfSubjectAccessReview{}, metav1.CreateOptions{})
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "exactly one of nonResourceAttributes or resourceAttributes must be specified") {
			t.Errorf("an empty SelfSubjectAccessReview returns %v", err)
		}
		local := &authorizationv1.LocalSubjectAccessReview{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default"},
			Spec:       authorizationv1.SubjectAccessReviewSpec{User: "ada", ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "get", Resource: "pods"}},
		}
		_, err = admin.AuthorizationV1().LocalSubjectAccessReviews("default").Create(t.Context(), local, metav1.CreateOptions{})
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "must match metadata.namespace") {
			t.Errorf("a LocalSubjectAccessReview of another namespace returns %v", err)
		}
	}
}

func TestBindingChoosesANode(t *testing.T) {
	t.Parallel()
	c := typed(t, withBuiltIns(t)).CoreV1().Pods("default")
	if _, err := c.Create(t.Context(), newPod("web"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Target: corev1.ObjectReference{Kind: "Node", Name: "n"}}
	if err := c.Bind(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if pod, err := c.Get(t.Context(), "web", metav1.GetOptions{}); err != nil || pod.Spec.NodeName != "n" || len(pod.Status.Conditions) != 1 {
		t.Errorf("the bound Pod is %+v, %v", pod, err)
	}
	err := c.Bind(t.Context(), binding, metav1.CreateOptions{})
	if !apierrors.IsConflict(err) || !strings.Contains(err.Error(), `pod web is already assigned to node "n"`) {
		t.Errorf("the second Bind returns %v, want Conflict", err)
	}
	binding.Target.Name = ""
	if err := c.Bind(t.Context(), binding, metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
		t.Errorf("Bind without a node returns %v, want Invalid", err)
	}
}

func TestRBACNeedsBuiltInKinds(t *testing.T) {
	t.Parallel()
	s, err := devserver.Start(t.Context(), devserver.Options{RBAC: true})
	if err == nil {
		s.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "RBAC is given without BuiltInKinds") {
		t.Errorf("Start returns %v", err)
	}
}
