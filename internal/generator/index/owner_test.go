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

// TestBuiltInsHaveAllKindsOfKubernetes compares the table with client-go. The table may have newer
// kinds than this client-go. The group extensions is no longer served, and PodStatusResult never
// was a resource.
func TestBuiltInsHaveAllKindsOfKubernetes(t *testing.T) {
	for gvk, goType := range scheme.Scheme.AllKnownTypes() {
		meta, ok := goType.FieldByName("ObjectMeta")
		if !ok || meta.Type != reflect.TypeFor[metav1.ObjectMeta]() || gvk.Version == runtime.APIVersionInternal || gvk.Group == "extensions" || gvk.Kind == "PodStatusResult" {
			continue
		}
		if !slices.Contains(strings.Fields(builtIns[gvk.Group]), gvk.Kind) {
			t.Errorf("builtIns lacks %s", ownerName(gvk.Kind, gvk.Group))
		}
	}
}
