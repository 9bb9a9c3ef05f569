// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/informer-gen/informer-gen/examples/crd-sample/api/v1alpha1"
	configurations "github.com/informer-gen/informer-gen/examples/crd-sample/generated/applyconfigurations/samples/v1alpha1"
	listers "github.com/informer-gen/informer-gen/examples/crd-sample/generated/listers/samples/v1alpha1"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/writer"
)

// claims returns the paths of the fields that a manager has applied, sorted.
func claims(t *testing.T, w *v1alpha1.Widget, manager string) []string {
	t.Helper()
	var paths []string
	var walk func(path string, fields map[string]any)
	walk = func(path string, fields map[string]any) {
		if len(fields) == 0 {
			paths = append(paths, path)
		}
		for name, below := range fields {
			if name = strings.TrimPrefix(name, "f:"); name != "." {
				walk(path+"."+name, below.(map[string]any))
			}
		}
	}
	for _, entry := range w.ManagedFields {
		if entry.Manager != manager || entry.Operation != metav1.ManagedFieldsOperationApply {
			continue
		}
		raw, err := entry.FieldsV1.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]any
		if err := json.Unmarshal(raw, &fields); err != nil {
			t.Fatal(err)
		}
		walk("", fields)
	}
	slices.Sort(paths)
	return paths
}

func widgetWriter(t *testing.T, client *source.Client, opts writer.Options) *writer.Writer[*v1alpha1.Widget] {
	t.Helper()
	w, err := writer.New[*v1alpha1.Widget](client, listers.WidgetResource(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestApplyConfigurationClaimsTheSetFields: the Go type claims more in plain JSON, and fewer in an
// Apply, which leaves zero values out.
func TestApplyConfigurationClaimsTheSetFields(t *testing.T) {
	t.Parallel()
	ns, ctx := shared.widgets(t), deadline(t)
	connection := connect(t, shared.url)
	key := object.Key{Namespace: ns.namespace, Name: "blue"}

	vending := widgetWriter(t, connection, writer.Options{FieldManager: "vending"})
	f := factories.New(connection, informer.WithNamespace(ns.namespace))
	cache := factories.For[*v1alpha1.Widget](f, listers.WidgetResource())
	runSynced(t, f)
	token, err := applyPart(ctx, vending, key, "display", "display:1.4")
	if err != nil {
		t.Fatal(err)
	}
	if err := cache.AwaitToken(ctx, token); err != nil {
		t.Fatal(err)
	}
	applied, ok := cache.Store().Snapshot().Get(key)
	if !ok {
		t.Fatal("the cache lacks what was awaited")
	}
	part := `.spec.parts.k:{"name":"display"}`
	want := []string{".spec.nodeName", part + ".image", part + ".name"}
	if diff := cmp.Diff(want, claims(t, applied, "vending")); diff != "" {
		t.Errorf("claims of the apply configuration (-want +got):\n%s", diff)
	}

	goType := &v1alpha1.Widget{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Widget"},
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
		Spec:       v1alpha1.WidgetSpec{Parts: []v1alpha1.Part{{Name: "display"}}},
	}
	plain, err := json.Marshal(goType)
	if err != nil {
		t.Fatal(err)
	}
	other := widgetWriter(t, connection, writer.Options{FieldManager: "other"})
	_, _, err = other.Patch(ctx, key, types.ApplyPatchType, plain)
	if !apierrors.IsConflict(err) || !strings.Contains(err.Error(), `conflict with "vending"`) || !strings.Contains(err.Error(), `.spec.parts[name="display"].image`) {
		t.Errorf("plain JSON of the Go type: error %v, want a conflict about an image that was not set", err)
	}
	got, _, err := other.Apply(ctx, goType)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{part + ".name"}, claims(t, got, "other")); diff != "" {
		t.Errorf("claims of Apply (-want +got):\n%s", diff)
	}

	// A field that isn't set any more is given back, and goes with its last owner.
	config := configurations.Widget("green", key.Namespace)
	config.Spec.NodeName, config.Spec.Tier = new("node-7"), new(v1alpha1.Gold)
	if _, _, err := vending.ApplyConfiguration(ctx, config); err != nil {
		t.Fatal(err)
	}
	config.Spec.NodeName = nil
	if got, _, err = vending.ApplyConfiguration(ctx, config); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{".spec.tier"}, claims(t, got, "vending")); diff != "" || got.Spec.NodeName != "" {
		t.Errorf("node %q; claims without it (-want +got):\n%s", got.Spec.NodeName, diff)
	}
}

// TestApplyStatusConfiguration: zero values are sent, and conflicts name the field and its manager.
func TestApplyStatusConfiguration(t *testing.T) {
	t.Parallel()
	ns, ctx := shared.widgets(t), deadline(t)
	connection := connect(t, shared.url)
	vending := widgetWriter(t, connection, writer.Options{FieldManager: "vending"})
	if _, _, err := vending.ApplyConfiguration(ctx, configurations.Widget("blue", ns.namespace)); err != nil {
		t.Fatal(err)
	}
	config := configurations.Widget("blue", ns.namespace)
	config.Status.RunningParts = new(int32(0))
	config.Status.Conditions = []metav1ac.ConditionApplyConfiguration{*metav1ac.Condition().WithType("Ready").WithStatus(metav1.ConditionFalse).
		WithReason("Empty").WithMessage("").WithLastTransitionTime(metav1.Unix(1, 0))}
	got, _, err := vending.ApplyStatusConfiguration(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	condition := `.status.conditions.k:{"type":"Ready"}.`
	want := []string{condition + "lastTransitionTime", condition + "message", condition + "reason", condition + "status", condition + "type", ".status.runningParts"}
	if diff := cmp.Diff(want, claims(t, got, "vending")); diff != "" {
		t.Errorf("claims (-want +got):\n%s", diff)
	}

	config = configurations.Widget("blue", ns.namespace)
	config.Status.RunningParts = new(int32(3))
	_, _, err = widgetWriter(t, connection, writer.Options{FieldManager: "other"}).ApplyStatusConfiguration(ctx, config)
	if !apierrors.IsConflict(err) || !strings.Contains(err.Error(), `conflict with "vending"`) || !strings.Contains(err.Error(), ".status.runningParts") {
		t.Errorf("another value: error %v, want a conflict", err)
	}
	got, _, err = widgetWriter(t, connection, writer.Options{FieldManager: "other", Force: true}).ApplyStatusConfiguration(ctx, config)
	if err != nil || got.Status.RunningParts != 3 {
		t.Errorf("forced: %+v, %v", got, err)
	}
}

// TestControllerRuntimeAppliesConfigurations: its client takes the generated types, and reads the
// server's answer into them.
func TestControllerRuntimeAppliesConfigurations(t *testing.T) {
	t.Parallel()
	ns, ctx := shared.widgets(t), deadline(t)
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	log.SetLogger(logr.Discard())
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	theirs, err := client.New(&rest.Config{Host: shared.url, Transport: transport}, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	config := configurations.Widget("blue", ns.namespace)
	config.Spec.NodeName = new("")
	if err := theirs.Apply(ctx, config, client.FieldOwner("vending")); err != nil {
		t.Fatal(err)
	}
	if config.ResourceVersion == nil || config.Spec.Tier == nil || *config.Spec.Tier != v1alpha1.Bronze {
		t.Errorf("after Apply the configuration is %+v, want the server's answer", config)
	}
	status := configurations.Widget("blue", ns.namespace)
	status.Status.RunningParts = new(int32(0))
	if err := theirs.Status().Apply(ctx, status, client.FieldOwner("vending")); err != nil {
		t.Fatal(err)
	}
	// Its client for one namespace sets the namespace.
	named := configurations.Widget("green", "")
	named.Namespace = nil
	if err := client.NewNamespacedClient(theirs, ns.namespace).Apply(ctx, named, client.FieldOwner("vending")); err != nil {
		t.Fatal(err)
	}
	var got v1alpha1.Widget
	if err := theirs.Get(ctx, client.ObjectKey{Namespace: ns.namespace, Name: "blue"}, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{".spec.nodeName", ".status.runningParts"}, claims(t, &got, "vending")); diff != "" {
		t.Errorf("claims (-want +got):\n%s", diff)
	}
}
