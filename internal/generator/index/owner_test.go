// SPDX-License-Identifier: Apache-2.0

package index

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// TestBuiltInsHaveAllKindsOfKubernetes holds the table against client-go. Newer kinds than those of
// the client-go that the test runs with may stand there too; the group extensions isn't served any
// more, and PodStatusResult never was a resource.
func TestBuiltInsHaveAllKindsOfKubernetes(t *testing.T) {
	for gvk, goType := range scheme.Scheme.AllKnownTypes() {
		meta, ok := goType.FieldByName("ObjectMeta")
		if !ok || meta.Type != reflect.TypeFor[metav1.ObjectMeta]() || gvk.Version == runtime.APIVersionInternal || gvk.Group == "extensions" || gvk.Kind == "PodStatusResult" {
			continue
		}
		if !slices.Contains(strings.Fields(builtIns[gvk.Group]), gvk.Kind) {
			t.Errorf("%s is missing", ownerName(gvk.Kind, gvk.Group))
		}
	}
}
