// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/devserver"
	"github.com/informer-gen/informer-gen/examples/crd-sample/api/v1alpha1"
)

// TestCRDsFitTypes: the server drops fields that a CRD lacks. So unchanged objects prove that the
// CRDs have all fields of the Go types.
func TestCRDsFitTypes(t *testing.T) {
	crds, err := devserver.ReadCRDs(os.DirFS("../../config"), "crd")
	if err != nil {
		t.Fatal(err)
	}
	server, err := devserver.Start(t.Context(), devserver.Options{CRDs: crds})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	config := server.Config()
	config.APIPath = "/apis"
	config.GroupVersion = &v1alpha1.GroupVersion
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	client, err := rest.RESTClientFor(config)
	if err != nil {
		t.Fatal(err)
	}

	site := &v1alpha1.Site{
		ObjectMeta: metav1.ObjectMeta{Name: "station"},
		Spec:       v1alpha1.SiteSpec{City: "Lund", Nodes: []string{"node-1", "node-2"}},
	}
	gotSite := &v1alpha1.Site{}
	if err := client.Post().Resource("sites").Body(site).Do(t.Context()).Into(gotSite); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(site.Spec, gotSite.Spec); diff != "" {
		t.Errorf("the site has changed (-sent +got):\n%s", diff)
	}

	widget := &v1alpha1.Widget{
		ObjectMeta: metav1.ObjectMeta{
			Name: "blue", Namespace: "shop",
			OwnerReferences: []metav1.OwnerReference{
				{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Site", Name: "station", UID: gotSite.UID},
				{APIVersion: "v1", Kind: "ConfigMap", Name: "other", UID: "1"},
			},
		},
		Spec: v1alpha1.WidgetSpec{
			NodeName: "node-1",
			Tier:     v1alpha1.Gold,
			Parts:    []v1alpha1.Part{{Name: "display", Image: "display:1"}, {Name: "reader", Image: "reader:2"}},
		},
	}
	gotWidget := &v1alpha1.Widget{}
	if err := client.Post().Namespace("shop").Resource("widgets").Body(widget).Do(t.Context()).Into(gotWidget); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(widget.Spec, gotWidget.Spec); diff != "" {
		t.Errorf("the widget has changed (-sent +got):\n%s", diff)
	}
	if diff := cmp.Diff([]types.UID{gotSite.UID, "1"}, v1alpha1.OwnerUIDs(gotWidget)); diff != "" {
		t.Errorf("OwnerUIDs (-want +got):\n%s", diff)
	}

	gotWidget.Status = v1alpha1.WidgetStatus{
		Phase: v1alpha1.Running, RunningParts: 2,
		Conditions: []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Seen", LastTransitionTime: metav1.Now().Rfc3339Copy()}},
	}
	want := gotWidget.Status.DeepCopy()
	if err := client.Put().Namespace("shop").Resource("widgets").Name("blue").SubResource("status").Body(gotWidget).Do(t.Context()).Into(gotWidget); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(*want, gotWidget.Status); diff != "" {
		t.Errorf("the status has changed (-sent +got):\n%s", diff)
	}
}
