// SPDX-License-Identifier: Apache-2.0

package devservertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/informer-gen/informer-gen/devserver"
)

// ServiceAccount makes a service account with the rights of the named files and folders, and
// returns a configuration with its token, for the program under test:
//
//	server := devservertest.Start(t, devserver.Options{BuiltInKinds: true, RBAC: true})
//	config := devservertest.ServiceAccount(t, server, "default", "web", "config/rbac/role.yaml")
//
// It creates the Roles and ClusterRoles of the files, binds them to the account, and skips other
// kinds, bindings too. A Role without a namespace is in the account's. Missing namespaces are
// created. The server needs Options.RBAC. If something fails, ServiceAccount ends the test with
// t.Fatal and the reason.
//
// Below the command informer-gen rbac, which finds out the role, the account may do
// everything, and the files are not read.
func ServiceAccount(t testing.TB, server *devserver.Server, namespace, name string, paths ...string) *rest.Config {
	t.Helper()
	config, err := newAccount(t.Context(), server.Config(), namespace, name, paths)
	if err != nil {
		t.Fatalf("devservertest: make the service account %s/%s with the roles of %s: %v", namespace, name, strings.Join(paths, ", "), err)
	}
	return config
}

func newAccount(ctx context.Context, config *rest.Config, namespace, name string, paths []string) (*rest.Config, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	if _, err := client.RbacV1().ClusterRoles().Get(ctx, "cluster-admin", metav1.GetOptions{}); apierrors.IsNotFound(err) {
		return nil, errors.New("the server authorizes nothing; start it with Options.RBAC and Options.BuiltInKinds")
	}
	found := &roles{}
	if os.Getenv("INFORMER_GEN_RBAC") != "" {
		found.bound = []string{"cluster-admin"}
	} else if err := found.read(paths); err != nil {
		return nil, err
	}
	if err := createNamespace(ctx, client, namespace); err != nil {
		return nil, err
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := client.CoreV1().ServiceAccounts(namespace).Create(ctx, account, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	if err := found.bind(ctx, client, namespace, name); err != nil {
		return nil, err
	}
	token, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	config.BearerToken = token.Status.Token
	return config, nil
}

func createNamespace(ctx context.Context, client kubernetes.Interface, name string) error {
	_, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// roles are the roles of files.
type roles struct {
	cluster    []*rbacv1.ClusterRole
	namespaced []*rbacv1.Role
	bound      []string // names of the ClusterRoles to bind
}

func (r *roles) read(paths []string) error {
	if err := readDocuments(paths, r.parse); err != nil {
		return err
	}
	if len(r.cluster)+len(r.namespaced) == 0 {
		return errors.New("there are neither Roles nor ClusterRoles")
	}
	return nil
}

func (r *roles) parse(doc []byte) error {
	var head metav1.PartialObjectMetadata
	if err := yaml.Unmarshal(doc, &head); err != nil {
		return err
	}
	switch {
	case head.Kind != "ClusterRole" && head.Kind != "Role":
		return nil
	case head.APIVersion != rbacv1.SchemeGroupVersion.String():
		return fmt.Errorf("apiVersion %q is not served; write the %s as %s", head.APIVersion, head.Kind, rbacv1.SchemeGroupVersion)
	case head.Kind == "Role":
		role := &rbacv1.Role{}
		r.namespaced = append(r.namespaced, role)
		return yaml.UnmarshalStrict(doc, role)
	}
	role := &rbacv1.ClusterRole{}
	r.cluster, r.bound = append(r.cluster, role), append(r.bound, head.Name)
	return yaml.UnmarshalStrict(doc, role)
}

// bind creates the roles, and binds them to the account.
func (r *roles) bind(ctx context.Context, client kubernetes.Interface, namespace, name string) error {
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}}
	meta := func(role string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name + "." + role} }
	api := client.RbacV1()
	for _, role := range r.cluster {
		if _, err := api.ClusterRoles().Create(ctx, role, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	for _, role := range r.bound {
		binding := &rbacv1.ClusterRoleBinding{
			ObjectMeta: meta(role), Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		}
		if _, err := api.ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	for _, role := range r.namespaced {
		in := role.Namespace
		if in == "" {
			in = namespace
		}
		if err := createNamespace(ctx, client, in); err != nil {
			return err
		}
		if _, err := api.Roles(in).Create(ctx, role, metav1.CreateOptions{}); err != nil {
			return err
		}
		binding := &rbacv1.RoleBinding{
			ObjectMeta: meta(role.Name), Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		}
		if _, err := api.RoleBindings(in).Create(ctx, binding, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}
