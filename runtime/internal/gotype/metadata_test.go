// SPDX-License-Identifier: Apache-2.0

package gotype_test

import (
	"reflect"
	"testing"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/internal/gotype"
	"github.com/informer-gen/informer-gen/runtime/internal/placement"
	"github.com/informer-gen/informer-gen/runtime/object"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestIsMetadataAndIsProjection(t *testing.T) {
	for _, tc := range []struct {
		of                   reflect.Type
		metadata, projection bool
	}{
		{reflect.TypeFor[metav1.ObjectMeta](), true, false},
		{reflect.TypeFor[corev1.Pod](), false, false},
		{reflect.TypeFor[placement.PodPlacementMeta](), true, false},
		{reflect.TypeFor[placement.PodPlacement](), false, true},
		{reflect.TypeFor[*placement.PodPlacement](), false, false},
		{reflect.TypeFor[placement.PodPlacementSpec](), false, false},
		{reflect.TypeFor[object.NoMeta](), false, false},
		{reflect.TypeFor[object.Object](), false, false},
		{reflect.TypeFor[string](), false, false},
	} {
		if got := gotype.IsMetadata(tc.of); got != tc.metadata {
			t.Errorf("IsMetadata(%v) = %v", tc.of, got)
		}
		if got := gotype.IsProjection(tc.of); got != tc.projection {
			t.Errorf("IsProjection(%v) = %v", tc.of, got)
		}
	}
}
