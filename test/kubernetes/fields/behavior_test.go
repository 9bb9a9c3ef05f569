// SPDX-License-Identifier: Apache-2.0

//lint:file-ignore SA1019 Endpoints are what the controllers write.

package fields

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	clientinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/endpoint"

	"github.com/informer-gen/informer-gen/examples/endpoints-controller/generated/informers"
	"github.com/informer-gen/informer-gen/examples/endpoints-controller/reconciler"
	"github.com/informer-gen/informer-gen/internal/generator/fields"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard()) // Kubernetes' controller logs what it is given
	klog.SetOutput(io.Discard)
	os.Exit(m.Run())
}

// TestFieldsThatChangeTheEndpoints runs both controllers on a Service and two Pods, of which one
// field after the other is changed. If the controller then writes other Endpoints, it reads the
// field, which has to be among those that are found in its code. That the code may also print a
// whole object doesn't count.
func TestFieldsThatChangeTheEndpoints(t *testing.T) {
	for _, c := range []struct {
		program, pods string
		run           func(context.Context, *rest.Config) error
	}{
		{"k8s.io/kubernetes/pkg/controller/endpoint", "Pod", runKubernetes},
		{"github.com/informer-gen/informer-gen/examples/endpoints-controller/reconciler", "PodEndpoint", runOurs},
	} {
		t.Run(c.pods, func(t *testing.T) {
			report := find(t, c.program)
			before := endpointsOf(t, c.run, service, pod)
			if again := endpointsOf(t, c.run, service, pod); again != before {
				t.Fatalf("the same objects give other Endpoints: %s and %s", before, again)
			}
			noticed := map[string]bool{}
			look := func(kind string, doc string, write func(changed string) string) {
				used := uses(report, kind)
				tree := parse(doc)
				vary(tree, "", func(path string, shape bool) {
					if write(asJSON(tree)) == before {
						return
					}
					noticed[kind+path] = true
					if !slices.ContainsFunc(used, func(u fields.Use) bool { return shows(u, path, shape) }) {
						t.Errorf("%s%s changes the Endpoints, and isn't found", kind, path)
					}
				})
			}
			look("Service", service, func(changed string) string { return endpointsOf(t, c.run, changed, pod) })
			look(c.pods, pod, func(changed string) string { return endpointsOf(t, c.run, service, changed) })
			t.Logf("these change the Endpoints: %q", slices.Sorted(maps.Keys(noticed)))
			if len(noticed) < 20 {
				t.Errorf("only %d fields change the Endpoints; the objects don't show what is read", len(noticed))
			}
		})
	}
}

const (
	service = `{
		"metadata": {
			"namespace": "shop", "name": "web", "creationTimestamp": "2000-01-01T00:00:00Z",
			"labels": {"team": "a"}, "annotations": {"note": "x"}, "finalizers": ["example.com/hold"]
		},
		"spec": {
			"type": "ClusterIP", "clusterIP": "10.96.0.1", "clusterIPs": ["10.96.0.1"], "ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack",
			"selector": {"app": "web"}, "publishNotReadyAddresses": false, "sessionAffinity": "None", "externalName": "example.com",
			"ports": [
				{"name": "http", "port": 80, "protocol": "TCP", "targetPort": 8080, "appProtocol": "h2", "nodePort": 30080},
				{"name": "dns", "port": 53, "protocol": "UDP", "targetPort": "dns"}
			]
		},
		"status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}
	}`
	pod = `{
		"metadata": {
			"namespace": "shop", "name": "one", "labels": {"app": "web", "tier": "b"}, "annotations": {"note": "x"}, "generation": 3,
			"ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "7", "controller": true}]
		},
		"spec": {
			"nodeName": "node-1", "hostname": "one", "subdomain": "web", "nodeSelector": {"disk": "ssd"}, "priority": 5, "restartPolicy": "Always",
			"containers": [{
				"name": "web", "image": "web:1", "args": ["-v"], "env": [{"name": "A", "value": "b"}],
				"ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP", "hostPort": 80}]
			}],
			"initContainers": [{"name": "proxy", "image": "proxy:1", "restartPolicy": "Always", "ports": [{"name": "dns", "containerPort": 53, "protocol": "UDP"}]}]
		},
		"status": {
			"phase": "Running", "podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.1"}, {"ip": "fd00::1"}], "hostIP": "192.0.2.7",
			"message": "well", "startTime": "2000-01-01T00:00:01Z",
			"conditions": [{"type": "Ready", "status": "True", "reason": "r", "lastTransitionTime": "2000-01-01T00:00:02Z"}]
		}
	}`
	other = `{
		"metadata": {"namespace": "shop", "name": "two", "labels": {"app": "web"}},
		"spec": {"nodeName": "node-2", "containers": [{"name": "web", "ports": [{"name": "dns", "containerPort": 53, "protocol": "UDP"}]}]},
		"status": {"phase": "Running", "podIP": "10.0.0.2", "podIPs": [{"ip": "10.0.0.2"}], "conditions": [{"type": "Ready", "status": "True"}]}
	}`
)

func runKubernetes(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := clientinformers.NewSharedInformerFactory(client, 0)
	core := factory.Core().V1()
	c := endpoint.NewEndpointController(ctx, core.Pods(), core.Services(), core.Endpoints(), client, 0)
	factory.StartWithContext(ctx)
	c.Run(ctx, 1)
	factory.Shutdown()
	return nil
}

func runOurs(ctx context.Context, config *rest.Config) error {
	client, err := source.NewClient(config)
	if err != nil {
		return err
	}
	r, err := reconciler.New(client, informers.NewSharedInformerFactory(client), reconciler.Options{})
	if err != nil {
		return err
	}
	if err := r.Run(ctx); ctx.Err() == nil {
		return err
	}
	return nil
}

// endpointsOf returns all that a controller writes for a Service, a Pod and the other Pod, without
// what the server adds.
func endpointsOf(t *testing.T, run func(context.Context, *rest.Config) error, service, pod string) (text string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server, v1 := sourcetest.New(), corev1.SchemeGroupVersion
		sourcetest.Serve[*corev1.Event](server, v1.WithResource("events"), "")
		written := sourcetest.Serve[*corev1.Endpoints](server, v1.WithResource("endpoints"), "")
		services := sourcetest.Serve[*corev1.Service](server, v1.WithResource("services"), "")
		services.Create(decode[corev1.Service](t, service))
		pods := sourcetest.Serve[*corev1.Pod](server, v1.WithResource("pods"), "")
		pods.Create(decode[corev1.Pod](t, pod))
		pods.Create(decode[corev1.Pod](t, other))

		config := server.Config()
		config.QPS, config.WarningHandler = -1, rest.NoWarnings{}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- run(ctx, config) }()
		time.Sleep(time.Minute) // in a bubble: more than the controllers need
		synctest.Wait()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		for _, e := range written.All() {
			e.UID, e.ResourceVersion, e.CreationTimestamp.Time, e.ManagedFields, e.Generation = "", "", time.Time{}, nil, 0
			for _, s := range e.Subsets {
				for _, a := range slices.Concat(s.Addresses, s.NotReadyAddresses) {
					a.TargetRef.UID, a.TargetRef.ResourceVersion = "", ""
				}
			}
			text += asJSON(e)
		}
	})
	return text
}

// vary changes one part of a tree after the other, calls note with its path, and changes it back.
// shape means that a part is missing, or twice there. It leaves the name alone, by which an object
// is found.
func vary(tree any, path string, note func(path string, shape bool)) {
	at := func(key string) string {
		switch path {
		case ".metadata.labels", ".metadata.annotations", ".spec.selector", ".spec.nodeSelector":
			return path + "[*]"
		}
		return path + "." + key
	}
	switch tree := tree.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(tree)) {
			if p := at(key); p == ".metadata.name" || p == ".metadata.namespace" {
				continue
			}
			old := tree[key]
			if changed, ok := varied(old); ok {
				tree[key] = changed
				note(at(key), false)
			} else if list, ok := old.([]any); ok {
				tree[key] = append(slices.Clone(list), list[0])
				note(at(key), true)
			}
			if key != "metadata" {
				delete(tree, key)
				note(at(key), true)
				tree[key] = old
			}
			vary(old, at(key), note)
		}
	case []any:
		for i, old := range tree {
			if changed, ok := varied(old); ok {
				tree[i] = changed
				note(path+"[*]", false)
				tree[i] = old
			}
			vary(old, path+"[*]", note)
		}
	}
}

// varied returns another value for a string, a number or a bool.
func varied(v any) (other any, ok bool) {
	switch v := v.(type) {
	case string:
		switch {
		case strings.HasSuffix(v, "Z"):
			return strings.Replace(v, "2000", "1999", 1), true
		case strings.HasSuffix(v, ".1"):
			return v + "0", true // another address
		}
		return v + "x", true
	case json.Number:
		return json.Number(v + "1"), true
	case bool:
		return !v, true
	}
	return nil, false
}

// uses returns what is found of a kind, without the places that take the whole object.
func uses(report *fields.Report, kind string) (used []fields.Use) {
	for _, k := range report.Kinds {
		for _, u := range k.Uses {
			if k.Name == kind && u.Path != "" {
				u.Path = key.ReplaceAllString(u.Path, "[*]")
				used = append(used, u)
			}
		}
	}
	return used
}

var key = regexp.MustCompile(`\[[^]]*\]`)

// shows reports whether a use covers a changed part.
func shows(u fields.Use, path string, shape bool) bool {
	if u.How == fields.Present {
		return shape && within(u.Path, path)
	}
	return within(path, u.Path) || shape && within(u.Path, path)
}

// within reports whether a path is that of a part, or of something in it.
func within(path, part string) bool {
	rest, ok := strings.CutPrefix(path, part)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

func find(t *testing.T, program string) *fields.Report {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	report, err := fields.Find(t.Context(), fields.Config{Dir: dir, Patterns: []string{program}})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func parse(doc string) (tree map[string]any) {
	d := json.NewDecoder(bytes.NewReader([]byte(doc)))
	d.UseNumber()
	if err := d.Decode(&tree); err != nil {
		panic(err)
	}
	return tree
}

func decode[T any](t *testing.T, doc string) *T {
	t.Helper()
	obj := new(T)
	if err := json.Unmarshal([]byte(doc), obj); err != nil {
		t.Fatalf("%v: %s", err, doc)
	}
	return obj
}

func asJSON(value any) string {
	b, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprint("marshalling: ", err))
	}
	return string(b)
}
