// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/informer-gen/informer-gen/devserver"
	"github.com/informer-gen/informer-gen/devserver/devservertest"
)

// kind is a file of devserver/testdata/kinds.
type kind struct {
	Resource string
	Object   map[string]any
	Columns  []string
}

// of is the kind in a command line.
func (k *kind) of() string {
	group, _, _ := strings.Cut(k.object().GetAPIVersion(), "/")
	if group == "v1" {
		return k.Resource
	}
	return k.Resource + "." + group
}

func (k *kind) object() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: k.Object}
}

func readKinds(t *testing.T) map[string]*kind {
	t.Helper()
	files, err := filepath.Glob("../../../devserver/testdata/kinds/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("found %d files, %v", len(files), err)
	}
	kinds := map[string]*kind{}
	for _, file := range files {
		k := &kind{}
		text, err := os.ReadFile(file)
		if err == nil {
			err = yaml.Unmarshal(text, k)
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		// Events of both groups are the same objects, so they need two names.
		k.object().SetName(strings.ReplaceAll(name, ".", "-"))
		kinds[name] = k
	}
	return kinds
}

// write writes the objects to a new folder.
func write(t *testing.T, kinds map[string]*kind) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for name, k := range kinds {
		text, err := yaml.Marshal(k.Object)
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name+".yaml"), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestKubectlOnEveryKind(t *testing.T) {
	server := devservertest.Start(t, devserver.Options{BuiltInKinds: true, RBAC: true})
	c, kinds := &cluster{server.URL(), t.TempDir()}, readKinds(t)
	folder := write(t, kinds)
	c.want(t, "apply -f "+folder, 0)
	// As in a cluster, kinds with defaults inside of atomic lists are configured each time.
	c.want(t, "apply -f "+folder, 0, "cronjob.batch/cronjobs unchanged", "deployment.apps/deployments unchanged", "role.rbac.authorization.k8s.io/roles unchanged")
	c.want(t, "diff -f "+folder, 0)
	c.want(t, "apply --server-side --force-conflicts -f "+folder, 0, "serverside-applied")
	c.want(t, "wait --timeout=30s --for=jsonpath={.metadata.uid} -f "+folder, 0, "condition met")

	for _, k := range kinds {
		k.object().SetLabels(map[string]string{"changed": "yes"})
	}
	changed := write(t, kinds)
	if code, output := c.run(t, "diff -f "+changed); code != 1 || strings.Count(output, "+    changed: \"yes\"") != len(kinds) {
		t.Errorf("diff of changed objects exits with %d and prints\n%s\nwant 1 and %d added labels", code, output, len(kinds))
	}

	for name, k := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var headers []string
			for _, column := range k.Columns {
				headers = append(headers, regexp.QuoteMeta(strings.ToUpper(column)))
			}
			line := fmt.Sprintf("get %s %s -o wide", k.of(), k.object().GetName())
			code, output := c.run(t, line)
			if !regexp.MustCompile(`(?m)^`+strings.Join(headers, " +")+` *$`).MatchString(output) || code != 0 || strings.Count(output, "\n") < 2 {
				t.Errorf("kubectl %s exits with %d and prints\n%s\nwant the columns %q", line, code, output, k.Columns)
			}
			c.want(t, "explain "+k.Resource+" --api-version="+k.object().GetAPIVersion(), 0, "KIND:       "+k.object().GetKind(), "FIELDS:", "metadata")
			c.want(t, "auth can-i get "+k.of(), 0, "yes")
			c.want(t, "auth can-i get "+k.of()+" --as=ada", 1, "no")
		})
	}
}

func TestKubectlOnWorkloads(t *testing.T) {
	server := devservertest.Start(t, devserver.Options{BuiltInKinds: true, RBAC: true})
	c, kinds := &cluster{server.URL(), t.TempDir()}, readKinds(t)
	folder := write(t, kinds)
	c.want(t, "apply -f "+folder, 0)
	for _, resource := range []string{"deployments", "replicasets", "statefulsets"} {
		c.want(t, "scale --replicas=3 "+resource+"/"+resource, 0, " scaled")
		c.want(t, "get "+resource+" "+resource+" -o jsonpath={.spec.replicas}", 0, "3")
	}
	for _, resource := range []string{"deployments", "statefulsets", "daemonsets"} {
		c.want(t, "rollout status --timeout=2s "+resource+"/"+resource, 1,
			"Warning: devserver runs no controllers: the status of "+resource+" changes only when a client writes it")
	}
	c.want(t, "wait --timeout=1s --for=condition=Available deployment/deployments", 1, "Warning: devserver runs no controllers", "timed out waiting")
	c.want(t, "create cronjob pi --schedule=@daily --image=pi:1", 0, "created")
	c.want(t, "create job once --from=cronjob/pi", 0, "created")
	c.want(t, "get jobs once", 0, "Running", "0/1")
	c.want(t, "create job wrong --image=", 1, "error")
	c.want(t, "get all", 0, "pod/pods", "deployment.apps/deployments", "cronjob.batch/pi", "horizontalpodautoscaler.autoscaling/")
	c.want(t, "autoscale deployment deployments --max=2", 0, "autoscaled")
	c.want(t, "get horizontalpodautoscalers.v1.autoscaling deployments -o jsonpath={.spec.targetCPUUtilizationPercentage}", 0, "80")
	c.want(t, "certificate approve certificatesigningrequests", 0, "approved")
	c.want(t, "get csr certificatesigningrequests", 0, "Approved")
}

// TestKubectlOnPods: a node is drained, and what needs containers is refused.
func TestKubectlOnPods(t *testing.T) {
	server := devservertest.Start(t, devserver.Options{BuiltInKinds: true})
	c, kinds := &cluster{server.URL(), t.TempDir()}, readKinds(t)
	folder := write(t, map[string]*kind{"nodes": kinds["nodes"], "pods": kinds["pods"], "poddisruptionbudgets": kinds["poddisruptionbudgets"]})
	c.want(t, "apply -f "+folder, 0)
	c.want(t, "run web --image=web:1 --labels=app=web --overrides={\"spec\":{\"nodeName\":\"nodes\"}}", 0, "created")
	status := func(pod, budget string) {
		t.Helper()
		c.want(t, "patch pod web --subresource=status --type=merge -p "+pod, 0, "patched")
		c.want(t, "patch pdb poddisruptionbudgets --subresource=status --type=merge -p "+budget, 0, "patched")
	}
	status(`{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`, `{"status":{"observedGeneration":1,"disruptionsAllowed":0,"desiredHealthy":1,"currentHealthy":1}}`)
	const drain = "drain nodes --force --ignore-daemonsets --grace-period=0 --timeout=1s"
	c.want(t, drain, 1, "node/nodes cordoned", "evicting pod default/web", "Cannot evict pod as it would violate the pod's disruption budget")
	for name, line := range map[string]string{"log": "logs web", "exec": "exec web -- ls", "attach": "attach web", "portforward": "port-forward web 80"} {
		c.want(t, line, 1, "devserver runs no containers, so it doesn't serve pods/"+name)
	}
	status(`{"status":{"phase":"Running"}}`, `{"status":{"disruptionsAllowed":1}}`)
	c.want(t, drain, 0, "pod/web evicted", "node/nodes drained")
	c.want(t, "get pods", 0, "pods")
	c.want(t, "get pod web", 1, "not found")
}

func TestKubectlOnAccess(t *testing.T) {
	server := devservertest.Start(t, devserver.Options{BuiltInKinds: true, RBAC: true})
	c := &cluster{server.URL(), t.TempDir()}
	c.want(t, "create serviceaccount web", 0, "created")
	c.want(t, "create role reader --verb=get,list --resource=pods", 0, "created")
	c.want(t, "create rolebinding web --role=reader --serviceaccount=default:web", 0, "created")
	const as = " --as=system:serviceaccount:default:web"
	c.want(t, "auth can-i list pods"+as, 0, "yes")
	c.want(t, "auth can-i create pods"+as, 1, "no")
	c.want(t, "auth can-i --list"+as, 0, "pods", "[get list]")
	c.want(t, "get pods"+as, 0, "No resources found")
	c.want(t, "get secrets"+as, 1,
		`secrets is forbidden: User "system:serviceaccount:default:web" cannot list resource "secrets" in API group "" in the namespace "default"`)
	c.want(t, "auth whoami"+as, 0, "system:serviceaccount:default:web", "system:serviceaccounts")
	c.want(t, "create token web", 0, "eyJ")
}
