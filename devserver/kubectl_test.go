// SPDX-License-Identifier: Apache-2.0

package devserver_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/openapi3"
	"k8s.io/client-go/restmapper"
	"k8s.io/kube-openapi/pkg/spec3"
	"sigs.k8s.io/yaml"

	"github.com/informer-gen/informer-gen/devserver"
)

// kubectl apply --server-side maps the kind of each document, and applies it.
func TestApplyOfManifests(t *testing.T) {
	t.Parallel()
	s := withBuiltIns(t, "boats")
	mapper := mapperOf(t, s)
	for _, doc := range strings.Split(manifests, "---\n") {
		obj := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(doc), obj); err != nil {
			t.Fatal(err)
		}
		mapping, err := mapper.RESTMapping(obj.GroupVersionKind().GroupKind(), obj.GroupVersionKind().Version)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second time nothing changes
			applied, err := client(t, s).Resource(mapping.Resource).Namespace(obj.GetNamespace()).
				Apply(t.Context(), obj.GetName(), obj, metav1.ApplyOptions{FieldManager: "kubectl"})
			if err != nil {
				t.Fatalf("apply %s %s: %v", obj.GetKind(), obj.GetName(), err)
			}
			hasFields := strings.Contains(doc, "spec:") || strings.Contains(doc, "stringData:")
			if fields := applied.GetManagedFields(); hasFields && (len(fields) != 1 || fields[0].Manager != "kubectl") {
				t.Errorf("%s: the managed fields are %v", obj.GetKind(), fields)
			}
		}
	}
}

const manifests = `apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: web, namespace: shop}
---
apiVersion: v1
kind: Secret
metadata: {name: web, namespace: shop}
stringData: {password: secret}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec:
  selector: {app: web}
  ports: [{name: http, port: 80, targetPort: http}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: web:1
        ports: [{name: http, containerPort: 8080}]
        resources: {requests: {cpu: 100m, memory: 1Gi}}
        env: [{name: PASSWORD, valueFrom: {secretKeyRef: {name: web, key: password}}}]
---
apiVersion: harbour.example.com/v1
kind: Boat
metadata: {name: ada, namespace: shop}
spec: {berth: a}
`

func TestShortNamesAndCategories(t *testing.T) {
	t.Parallel()
	s := withBuiltIns(t)
	c, err := discovery.NewDiscoveryClientForConfig(s.Config())
	if err != nil {
		t.Fatal(err)
	}
	mapper := restmapper.NewShortcutExpander(mapperOf(t, s), c, func(string) {})
	var inAll []string
	for _, k := range readKinds(t) {
		if k.All {
			inAll = append(inAll, k.Resource)
		}
		if k.Short == "" {
			continue
		}
		got, err := mapper.ResourceFor(schema.GroupVersionResource{Resource: k.Short})
		if err != nil || got.Resource != k.Resource {
			t.Errorf("%s is %v, %v, want %s", k.Short, got, err, k.Resource)
		}
	}
	all, _ := restmapper.NewDiscoveryCategoryExpander(c).Expand("all")
	var names []string
	for _, gr := range all {
		names = append(names, gr.Resource)
	}
	slices.Sort(names)
	slices.Sort(inAll)
	if !slices.Equal(names, inAll) {
		t.Errorf("all is %v, want %v", names, inAll)
	}
}

// kubectl explain, create and edit read OpenAPI v3.
func TestOpenAPIOfBuiltIns(t *testing.T) {
	t.Parallel()
	s := withBuiltIns(t, "boats")
	c, err := discovery.NewDiscoveryClientForConfig(s.Config())
	if err != nil {
		t.Fatal(err)
	}
	root := openapi3.NewRoot(c.OpenAPIV3())
	eventually(t, func() error {
		if gvs, err := root.GroupVersions(); err != nil || !slices.Contains(gvs, boats.GroupVersion()) {
			return errNotYet
		}
		return nil
	})
	for _, k := range readKinds(t) {
		gv := k.gv()
		doc, err := root.GVSpec(gv)
		if err != nil {
			t.Fatalf("%s: %v", gv, err)
		}
		path := "/apis/" + gv.String() + "/"
		if gv.Group == "" {
			path = "/api/v1/"
		}
		if k.namespace() != "" {
			path += "namespaces/{namespace}/"
		}
		at := doc.Paths.Paths[path+k.Resource+"/{name}"]
		if at == nil || at.Patch == nil {
			t.Errorf("%s has no path %s%s/{name}: %v", gv, path, k.Resource, slices.Collect(maps.Keys(doc.Paths.Paths)))
			continue
		}
		name, found := "", 0
		for n, schema := range doc.Components.Schemas {
			gvks, _ := json.Marshal(schema.Extensions["x-kubernetes-group-version-kind"])
			if strings.Contains(string(gvks), `"kind":"`+k.kind()+`"`) && strings.Contains(string(gvks), `"group":"`+gv.Group+`"`) {
				name, found = n, found+1
			}
		}
		if found != 1 || len(doc.Components.Schemas[name].Properties) < 3 || doc.Components.Schemas[name].Description == "" {
			t.Errorf("%s %s: %d schemas have the kind: %+v", gv, k.kind(), found, doc.Components.Schemas[name])
		}
		for n, schema := range doc.Components.Schemas {
			for property, of := range schema.Properties {
				for _, ref := range of.AllOf {
					if target := strings.TrimPrefix(ref.Ref.String(), "#/components/schemas/"); doc.Components.Schemas[target] == nil {
						t.Errorf("%s: %s.%s refers to %s, which isn't there", gv, n, property, target)
					}
				}
			}
		}
	}
	core, err := root.GVSpec(schema.GroupVersion{Version: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	pod := core.Components.Schemas["io.k8s.api.core.v1.PodSpec"]
	if pod == nil || pod.Properties["containers"].Extensions["x-kubernetes-patch-merge-key"] != "name" || !strings.HasPrefix(pod.Properties["nodeName"].Description, "NodeName ") {
		t.Errorf("PodSpec is %+v", pod)
	}
	params := core.Paths.Paths["/api/v1/namespaces/{namespace}/pods"].Post.Parameters
	if !slices.ContainsFunc(params, func(p *spec3.Parameter) bool { return p.Name == "fieldValidation" }) {
		t.Error("a create of Pods has no parameter fieldValidation, which kubectl looks for")
	}
}

func mapperOf(t *testing.T, s *devserver.Server) *restmapper.DeferredDiscoveryRESTMapper {
	t.Helper()
	c, err := discovery.NewDiscoveryClientForConfig(s.Config())
	if err != nil {
		t.Fatal(err)
	}
	return restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(c))
}

// The client chooses whether unknown fields are refused, reported or dropped.
func TestFieldValidationOfBuiltIns(t *testing.T) {
	t.Parallel()
	c := client(t, withBuiltIns(t)).Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("default")
	wrong := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}, "dada": map[string]any{"a": "b"},
	}}
	if _, err := c.Create(t.Context(), wrong, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}); err == nil || !strings.Contains(err.Error(), `unknown field "dada"`) {
		t.Errorf("strict validation returns %v", err)
	}
	if _, err := c.Create(t.Context(), wrong, metav1.CreateOptions{FieldValidation: metav1.FieldValidationIgnore}); err != nil {
		t.Errorf("without validation the create returns %v", err)
	}
}
