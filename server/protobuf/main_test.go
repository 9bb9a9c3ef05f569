// SPDX-License-Identifier: Apache-2.0

package protobuf_test

import (
	"testing"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/server/protobuf"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var podKind = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}

func newPod() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "a", Name: "one", UID: "u-1", ResourceVersion: "42", Labels: map[string]string{"app": "x", "empty": ""},
			Annotations:   map[string]string{"a/hidden": "hidden", "a/shown": "shown"},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "hidden"}},
		},
		Spec:   corev1.PodSpec{NodeName: "n1", Containers: []corev1.Container{{Name: "main", Image: "image"}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

// marshaler is implemented by the Kubernetes types.
type marshaler interface{ Marshal() ([]byte, error) }

func marshal(t testing.TB, m marshaler) []byte {
	t.Helper()
	data, err := m.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// newReader returns a reader of Pods.
func newReader(t testing.TB, fields []string, drop ...string) *protobuf.Reader {
	t.Helper()
	r, err := protobuf.NewReader(protobuf.BuiltIn(schema.FromAPIVersionAndKind(podKind.APIVersion, podKind.Kind)), fields, drop)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
