// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/test/internal/poll"
)

// TestNamespaceSelector: namespaces come and go with their labels, and the account has no rights
// but those in the documentation.
func TestNamespaceSelector(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--built-in-kinds", "--rbac")
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	config := &rest.Config{Host: c.url, Transport: transport}
	admin, err := kubernetes.NewForConfig(config)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(err)
	ctx := deadline(t)
	env := func(name string) map[string]string { return map[string]string{"env": name} }
	for name, env := range map[string]map[string]string{"shop": env("prod"), "lab": env("test")} {
		_, err := admin.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: env}}, metav1.CreateOptions{})
		must(err)
		_, err = admin.CoreV1().ConfigMaps(name).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}}, metav1.CreateOptions{})
		must(err)
	}
	reader := []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "reader"}}
	for _, resource := range []string{"namespaces", "configmaps"} {
		_, err := admin.RbacV1().ClusterRoles().Create(ctx, &rbacv1.ClusterRole{
			ObjectMeta: metav1.ObjectMeta{Name: resource},
			Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{resource}, Verbs: []string{"list", "watch"}}},
		}, metav1.CreateOptions{})
		must(err)
	}
	allowIn := func(namespace string) {
		t.Helper()
		_, err := admin.RbacV1().RoleBindings(namespace).Create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "reader"}, Subjects: reader,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "configmaps"},
		}, metav1.CreateOptions{})
		must(err)
	}
	label := func(namespace string, env map[string]string) {
		t.Helper()
		n, err := admin.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
		must(err)
		n.Labels = env
		_, err = admin.CoreV1().Namespaces().Update(ctx, n, metav1.UpdateOptions{})
		must(err)
	}

	own := rest.CopyConfig(config)
	own.Impersonate.UserName = "reader"
	client, err := source.NewClient(own)
	must(err)
	f := factories.New(client,
		informer.WithNamespaceSelector(labels.SelectorFromSet(env("prod"))),
		informer.WithTuning(reflector.Tuning{Backoff: reflector.Backoff{Initial: 50 * time.Millisecond, Max: 200 * time.Millisecond}}))
	i := factories.For[*corev1.ConfigMap](f, corev1.SchemeGroupVersion.WithResource("configmaps"))
	must(f.Start(ctx))
	defer func() { must(f.Shutdown(deadline(t))) }()
	wantForbidden := func(what string) {
		t.Helper()
		if err := f.WaitForCacheSync(ctx, informer.FailOn()); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), what) {
			t.Errorf("WaitForCacheSync = %v, want Forbidden, and %s", err, what)
		}
	}
	wantStored := func(keys ...string) {
		t.Helper()
		poll.Until(t, func() error {
			var stored []string
			for obj := range i.Store().Snapshot().All() {
				stored = append(stored, object.KeyOf(obj).String())
			}
			slices.Sort(stored)
			if !slices.Equal(stored, keys) {
				return fmt.Errorf("the store has %v, want %v; %v", stored, keys, i.Status())
			}
			return nil
		})
	}
	wantForbidden(`configmaps/v1 waits for namespaces matching env=prod: `)
	_, err = admin.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"}, Subjects: reader,
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "namespaces"},
	}, metav1.CreateOptions{})
	must(err)
	poll.Until(t, func() error {
		if s := i.Status(); len(s.Streams) == 0 {
			return fmt.Errorf("no namespace: %v", s)
		}
		return nil
	})
	wantForbidden("configmaps/v1 in shop is ")
	allowIn("shop")
	must(f.WaitForCacheSync(ctx))
	wantStored("shop/settings")

	allowIn("lab")
	label("lab", env("prod"))
	wantStored("lab/settings", "shop/settings")
	label("shop", nil)
	wantStored("lab/settings")
	must(admin.CoreV1().Namespaces().Delete(ctx, "lab", metav1.DeleteOptions{}))
	wantStored()
	poll.Until(t, func() error {
		if s := i.Status(); len(s.Streams) > 0 {
			return fmt.Errorf("the deleted namespace is still read: %v", s)
		}
		return nil
	})
	label("shop", env("prod"))
	wantStored("shop/settings")
}
