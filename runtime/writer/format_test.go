// SPDX-License-Identifier: Apache-2.0

package writer_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/writer"
)

const protoType = "application/vnd.kubernetes.protobuf"

var pods = corev1.SchemeGroupVersion.WithResource("pods")

// theirs returns the serializer of API servers.
func theirs() *protobuf.Serializer {
	scheme := runtime.NewScheme()
	corev1.AddToScheme(scheme)
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	return protobuf.NewSerializer(scheme, scheme)
}

func encoded(t *testing.T, obj runtime.Object) answer {
	t.Helper()
	var body bytes.Buffer
	if err := theirs().Encode(obj, &body); err != nil {
		t.Fatal(err)
	}
	return answer{status: 200, body: body.String(), contentType: protoType}
}

func pod(resourceVersion string) *corev1.Pod {
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "blue", UID: "u1", ResourceVersion: resourceVersion},
		Spec:       corev1.PodSpec{NodeName: "node-7"},
	}
}

// TestProtobuf: objects of kinds with protobuf are sent and answered in it.
func TestProtobuf(t *testing.T) {
	ctx := context.Background()
	s, client := serve(t, encoded(t, pod("8")), encoded(t, pod("9")), encoded(t, &metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess,
	}))
	w := newWriter[*corev1.Pod](t, client, pods, writer.Options{})
	unnamed := pod("7")
	unnamed.TypeMeta = metav1.TypeMeta{}
	if got, token, err := w.Update(ctx, unnamed); err != nil || got.Spec.NodeName != "node-7" || got.Kind != "Pod" || token.ResourceVersion != "8" {
		t.Errorf("Update() = %+v, %+v, %v", got, token, err)
	}
	head, body, _ := strings.Cut(s.got[0], "\n")
	if head != "PUT /api/v1/namespaces/shop/pods/blue "+protoType {
		t.Errorf("the request is %q", head)
	}
	if obj, _, err := theirs().Decode([]byte(body), nil, nil); err != nil || obj.(*corev1.Pod).Spec.NodeName != "node-7" {
		t.Errorf("sent %+v, %v", obj, err)
	}
	if accept := s.headers[0].Get("Accept"); accept != protoType+",application/json;q=0.9" {
		t.Errorf("Accept is %q", accept)
	}
	if got, _, err := w.Patch(ctx, blueKey, types.StrategicMergePatchType, []byte(`{}`)); err != nil || got.ResourceVersion != "9" {
		t.Errorf("Patch() = %+v, %v", got, err)
	}
	if token, err := w.Delete(ctx, pod("9"), metav1.DeleteOptions{}); err != nil || !token.Gone {
		t.Errorf("Delete() = %+v, %v", token, err)
	}
	if head := strings.SplitN(s.got[2], "\n", 2)[0]; head != "DELETE /api/v1/namespaces/shop/pods/blue application/json" {
		t.Errorf("the request is %q", head)
	}
}

// TestWithoutProtobuf: a server that refuses protobuf gets JSON from then on.
func TestWithoutProtobuf(t *testing.T) {
	ctx := context.Background()
	json := answer{status: 201, body: `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"blue","namespace":"shop","uid":"u1","resourceVersion":"8"}}`}
	for _, code := range []int{406, 415} {
		s, client := serve(t, answer{status: code, body: "no"}, json, json)
		w := newWriter[*corev1.Pod](t, client, pods, writer.Options{})
		for range 2 {
			if got, _, err := w.Create(ctx, pod("")); err != nil || got.ResourceVersion != "8" {
				t.Errorf("%d: Create() = %+v, %v", code, got, err)
			}
		}
		var heads []string
		for _, line := range s.got {
			heads = append(heads, strings.SplitN(line, "\n", 2)[0])
		}
		const path = "POST /api/v1/namespaces/shop/pods "
		if want := []string{path + protoType, path + "application/json", path + "application/json"}; strings.Join(heads, "\n") != strings.Join(want, "\n") {
			t.Errorf("%d: requests %q, want %q", code, heads, want)
		}
	}
}

// TestUnsupportedPatch: a refused patch type is not repeated.
func TestUnsupportedPatch(t *testing.T) {
	s, client := serve(t, refuse(415, metav1.StatusReasonUnsupportedMediaType))
	w := newWriter[*corev1.Pod](t, client, pods, writer.Options{})
	if _, _, err := w.Patch(context.Background(), blueKey, types.StrategicMergePatchType, []byte(`{}`)); err == nil || len(s.got) != 1 {
		t.Errorf("Patch() = %v after %d requests, want an error after 1", err, len(s.got))
	}
}

// TestUntyped: untyped objects have a kind of their own.
func TestUntyped(t *testing.T) {
	ctx := context.Background()
	s, client := serve(t, state("8"))
	w := newWriter[object.Object](t, client, widgets, writer.Options{NewObject: func() object.Object { return &unstructured.Unstructured{} }})
	u := &unstructured.Unstructured{Object: map[string]any{"kind": "Widget", "apiVersion": "samples.io/v1", "metadata": map[string]any{"namespace": "shop", "name": "blue"}}}
	got, gotToken, err := w.Create(ctx, u)
	if err != nil {
		t.Fatal(err)
	}
	if size, _, _ := unstructured.NestedInt64(got.(*unstructured.Unstructured).Object, "spec", "size"); size != 1 || gotToken != token("8") {
		t.Errorf("got %+v, %+v", got, gotToken)
	}
	s.wantRequests(t, "POST "+collection+jsonType+`{"apiVersion":"samples.io/v1","kind":"Widget","metadata":{"name":"blue","namespace":"shop"}}`)
	if _, _, err := w.Create(ctx, &unstructured.Unstructured{Object: map[string]any{}}); err == nil || !strings.Contains(err.Error(), "has no kind") {
		t.Errorf("without a kind: %v", err)
	}
}

// TestMetadata: metadata can be patched, but can't replace an object.
func TestMetadata(t *testing.T) {
	ctx := context.Background()
	s, client := serve(t, answer{status: 200, body: `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"blue","namespace":"shop","uid":"u1","resourceVersion":"8","finalizers":["f"]}}`})
	w := newWriter[*metav1.PartialObjectMetadata](t, client, widgets, writer.Options{Kind: "Widget"})
	cached := &metav1.PartialObjectMetadata{ObjectMeta: blue().ObjectMeta}
	got, gotToken, err := w.AddFinalizer(ctx, cached, "f")
	if err != nil || gotToken != token("8") || len(got.Finalizers) != 1 {
		t.Errorf("got %+v, %+v, %v", got, gotToken, err)
	}
	if accept := s.headers[0].Get("Accept"); !strings.HasPrefix(accept, "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,") {
		t.Errorf("Accept is %q", accept)
	}
	if _, _, err := w.Update(ctx, cached); err == nil || !strings.Contains(err.Error(), "metadata alone") || len(s.got) != 1 {
		t.Errorf("an update: %v after %d requests", err, len(s.got))
	}
}
