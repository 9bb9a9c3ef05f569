// SPDX-License-Identifier: Apache-2.0

package devservertest_test

import (
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/informer-gen/informer-gen/devserver"
	"github.com/informer-gen/informer-gen/devserver/devservertest"
)

const (
	clusterRole = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: manager-role}
rules:
- {apiGroups: [""], resources: [pods], verbs: [list]}
`
	roles = `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: leader}
rules:
- {apiGroups: [""], resources: [configmaps], verbs: [list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: system}
rules:
- {apiGroups: [""], resources: [secrets], verbs: [list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: leader, namespace: elsewhere}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: leader}
subjects: [{kind: ServiceAccount, name: manager, namespace: elsewhere}]
`
)

var withRBAC = devserver.Options{BuiltInKinds: true, RBAC: true}

// TestServiceAccount: it has the rights of its roles, each in its namespace, and no others.
func TestServiceAccount(t *testing.T) {
	t.Setenv("INFORMER_GEN_RBAC", "")
	server := devservertest.Start(t, withRBAC)
	dir := writeFiles(t, map[string]string{"role.yaml": clusterRole, "more/leader.yaml": roles, "kustomization.yaml": "resources: [role.yaml]\n"})
	client, err := kubernetes.NewForConfig(devservertest.ServiceAccount(t, server, "shop", "web", dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, namespace := range []string{"shop", "system", "default"} {
		for resource, allowed := range map[string]bool{"pods": true, "configmaps": namespace == "shop", "secrets": namespace == "system", "services": false} {
			err := client.CoreV1().RESTClient().Get().Namespace(namespace).Resource(resource).Do(t.Context()).Error()
			if (err == nil) != allowed || err != nil && !apierrors.IsForbidden(err) {
				t.Errorf("a list of %s in %s returns %v, want that allowed is %v", resource, namespace, err, allowed)
			}
		}
	}
}

// TestServiceAccountBelowCommand: informer-gen rbac finds out the role from all requests.
func TestServiceAccountBelowCommand(t *testing.T) {
	t.Setenv("INFORMER_GEN_RBAC", t.TempDir())
	server := devservertest.Start(t, withRBAC)
	client, err := kubernetes.NewForConfig(devservertest.ServiceAccount(t, server, "default", "web", "absent.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
	if _, err := client.CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
}

func TestServiceAccountFailsTheTest(t *testing.T) {
	t.Setenv("INFORMER_GEN_RBAC", "")
	server := devservertest.Start(t, withRBAC)
	plain := devservertest.Start(t, devserver.Options{BuiltInKinds: true})
	devservertest.ServiceAccount(t, server, "default", "taken", filepath.Join(writeFiles(t, map[string]string{"r.yaml": roles}), "r.yaml"))
	for _, test := range []struct {
		server        *devserver.Server
		name, roles   string
		namespace, is string
	}{
		{plain, "web", clusterRole, "default", "start it with Options.RBAC"},
		{server, "web", "kind: Service\n", "default", "there are neither Roles nor ClusterRoles"},
		{server, "web", "{", "default", "role.yaml: document 1: "},
		{server, "web", strings.ReplaceAll(clusterRole, "k8s.io/v1", "k8s.io/v1beta1"), "default", `write the ClusterRole as rbac.authorization.k8s.io/v1`},
		{server, "web", strings.ReplaceAll(clusterRole, "verbs", "verb"), "default", `unknown field "verb"`},
		{server, "web", strings.ReplaceAll(clusterRole, "[list]", "[]"), "default", "rules[0].verbs: Required value"},
		{server, "web", clusterRole, "A", `Namespace "A" is invalid`},
		{server, "taken", clusterRole, "default", `serviceaccounts "taken" already exists`},
	} {
		file := filepath.Join(writeFiles(t, map[string]string{"role.yaml": test.roles}), "role.yaml")
		fake, done := &failing{TB: t}, make(chan struct{})
		go func() { // Fatalf ends its goroutine
			defer close(done)
			devservertest.ServiceAccount(fake, test.server, test.namespace, test.name, file)
		}()
		<-done
		want := "devservertest: make the service account " + test.namespace + "/" + test.name + " with the roles of " + file + ": "
		if !strings.HasPrefix(fake.message, want) || !strings.Contains(fake.message, test.is) {
			t.Errorf("the test fails with\n%s\nwhich doesn't contain\n%s", fake.message, test.is)
		}
	}
}
