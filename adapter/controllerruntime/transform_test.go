// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/cache"
)

func TestStripManagedFieldsIsRecognised(t *testing.T) {
	if !isStripManagedFields(cache.TransformStripManagedFields()) {
		t.Error("cache.TransformStripManagedFields is not recognised: managed fields are decoded in vain")
	}
	strip := cache.TransformStripManagedFields()
	if isStripManagedFields(func(in any) (any, error) { return strip(in) }) || isStripManagedFields(nil) {
		t.Error("another transform is taken for cache.TransformStripManagedFields")
	}
}
