// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/informer-gen/informer-gen/cmd/informer-relay/internal/configfile"
	"github.com/informer-gen/informer-gen/cmd/informer-relay/internal/relay"
)

// manifests are the objects in deploy, by kind and name.
type manifests map[string]any

// kinds has a constructor for each kind.
var kinds = map[string]func() metav1.Object{
	"Namespace":           func() metav1.Object { return &corev1.Namespace{} },
	"ServiceAccount":      func() metav1.Object { return &corev1.ServiceAccount{} },
	"ConfigMap":           func() metav1.Object { return &corev1.ConfigMap{} },
	"Service":             func() metav1.Object { return &corev1.Service{} },
	"Deployment":          func() metav1.Object { return &appsv1.Deployment{} },
	"PodDisruptionBudget": func() metav1.Object { return &policyv1.PodDisruptionBudget{} },
	"ClusterRole":         func() metav1.Object { return &rbacv1.ClusterRole{} },
	"ClusterRoleBinding":  func() metav1.Object { return &rbacv1.ClusterRoleBinding{} },
}

// readManifests decodes all objects in deploy strictly.
func readManifests(t *testing.T) manifests {
	t.Helper()
	files, err := filepath.Glob("deploy/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no manifests", err)
	}
	found := manifests{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
		for {
			document, err := documents.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			var meta metav1.TypeMeta
			if err := sigsyaml.Unmarshal(document, &meta); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if kinds[meta.Kind] == nil {
				t.Fatalf("%s: unknown kind %q", file, meta.Kind)
			}
			obj := kinds[meta.Kind]()
			if err := sigsyaml.UnmarshalStrict(document, obj); err != nil {
				t.Fatalf("%s: %s: %v", file, meta.Kind, err)
			}
			// kubectl apply creates the objects in order of files and documents.
			if ns := obj.GetNamespace(); ns != "" && found["Namespace/"+ns] == nil {
				t.Errorf("%s: the %s %s is created before its namespace", file, meta.Kind, obj.GetName())
			}
			found[meta.Kind+"/"+obj.GetName()] = obj
		}
	}
	return found
}

// TestManifests compares the manifests with each other and with the relay's configuration.
func TestManifests(t *testing.T) {
	m := readManifests(t)
	deployment := m["Deployment/informer-relay"].(*appsv1.Deployment)
	pod := deployment.Spec.Template.Spec
	c, err := configfile.Parse("relay.yaml", []byte(m["ConfigMap/informer-relay"].(*corev1.ConfigMap).Data["relay.yaml"]))
	if err != nil {
		t.Fatal(err)
	}

	if *deployment.Spec.Replicas != 2 {
		t.Errorf("the Deployment has %d replicas, want 2", *deployment.Spec.Replicas)
	}
	if grace := time.Duration(*pod.TerminationGracePeriodSeconds) * time.Second; grace <= c.Shutdown.Delay+c.Shutdown.Period+relay.LastRequests {
		t.Errorf("terminationGracePeriodSeconds is %v, want more than %v, %v and %v together", grace, c.Shutdown.Delay, c.Shutdown.Period, relay.LastRequests)
	}
	for what, selector := range map[string]*metav1.LabelSelector{
		"the Deployment": deployment.Spec.Selector,
		"the budget":     m["PodDisruptionBudget/informer-relay"].(*policyv1.PodDisruptionBudget).Spec.Selector,
		"the Service":    {MatchLabels: m["Service/informer-relay"].(*corev1.Service).Spec.Selector},
		"the spread":     pod.TopologySpreadConstraints[0].LabelSelector,
	} {
		s, err := metav1.LabelSelectorAsSelector(selector)
		if err != nil || s.Empty() || !s.Matches(labels.Set(deployment.Spec.Template.Labels)) {
			t.Errorf("%s doesn't select the Deployment's Pods: %v, %v", what, s, err)
		}
	}
	container := pod.Containers[0]
	if port := container.Ports[1]; c.Listen.Probes != ":8081" || port.ContainerPort != 8081 || port.Name != container.ReadinessProbe.HTTPGet.Port.StrVal ||
		port.Name != container.LivenessProbe.HTTPGet.Port.StrVal {
		t.Errorf("listen.probes is %s, the container's port for probes is %+v", c.Listen.Probes, port)
	}
	if port := container.Ports[0]; c.Listen.Address != ":8443" || port.ContainerPort != 8443 || port.Name != "https" {
		t.Errorf("listen.address is %s, the container's port is %+v", c.Listen.Address, port)
	}
	for _, file := range []string{c.Listen.CertFile, c.Listen.KeyFile, container.Args[1]} {
		if !slices.ContainsFunc(container.VolumeMounts, func(mount corev1.VolumeMount) bool { return strings.HasPrefix(file, mount.MountPath+"/") }) {
			t.Errorf("%s is in no mounted volume", file)
		}
	}
	checkMemory(t, container)
	checkRights(t, c, m["ClusterRole/informer-relay"].(*rbacv1.ClusterRole).Rules)
	for _, name := range []string{"informer-relay", "informer-relay-reviews"} {
		binding := m["ClusterRoleBinding/"+name].(*rbacv1.ClusterRoleBinding)
		if s := binding.Subjects[0]; s.Name != pod.ServiceAccountName || s.Namespace != deployment.Namespace {
			t.Errorf("the ClusterRoleBinding %s is for %+v, want the Pods' service account", name, s)
		}
	}
}

// checkMemory checks that GOMEMLIMIT leaves room in the container's memory for socket buffers,
// which count against the limit but are unknown to Go.
func checkMemory(t *testing.T, container corev1.Container) {
	t.Helper()
	limit := container.Resources.Limits.Memory().Value()
	for _, env := range container.Env {
		if env.Name != "GOMEMLIMIT" {
			continue
		}
		q, err := resource.ParseQuantity(strings.TrimSuffix(env.Value, "B")) // MiB is Mi
		if got := q.Value(); err != nil || got > limit*9/10 || got < limit*8/10 {
			t.Errorf("GOMEMLIMIT is %q (%v), want eight to nine tenths of the container's %d bytes", env.Value, err, limit)
		}
		return
	}
	t.Error("GOMEMLIMIT is not set")
}

// checkRights expects the relay's rights to cover exactly the configured resources.
func checkRights(t *testing.T, c *configfile.Config, rules []rbacv1.PolicyRule) {
	t.Helper()
	var reads, allowed []string
	for _, r := range c.Resources {
		reads = append(reads, r.GVR().GroupResource().String())
	}
	for _, rule := range rules {
		if !slices.Equal(rule.Verbs, []string{"list", "watch"}) {
			t.Errorf("the relay has the verbs %q, want list and watch", rule.Verbs)
		}
		for _, resource := range rule.Resources {
			allowed = append(allowed, schema.GroupResource{Group: rule.APIGroups[0], Resource: resource}.String())
		}
	}
	slices.Sort(reads)
	slices.Sort(allowed)
	if !slices.Equal(reads, allowed) {
		t.Errorf("the relay may read %q, want %q as configured", allowed, reads)
	}
}
