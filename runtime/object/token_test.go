// SPDX-License-Identifier: Apache-2.0

package object_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/object"
)

func TestTokenOf(t *testing.T) {
	widgets := schema.GroupVersionResource{Group: "samples.io", Version: "v1", Resource: "widgets"}
	namespaces := schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	now, none, some := metav1.NewTime(time.Unix(0, 0)), int64(0), int64(30)
	for name, tc := range map[string]struct {
		resource schema.GroupVersionResource
		change   func(*metav1.ObjectMeta)
		gone     bool
	}{
		"plain":                           {widgets, func(m *metav1.ObjectMeta) {}, false},
		"held by a finalizer":             {widgets, func(m *metav1.ObjectMeta) { m.DeletionTimestamp, m.Finalizers = &now, []string{"hold"} }, false},
		"deleted, without a finalizer":    {widgets, func(m *metav1.ObjectMeta) { m.DeletionTimestamp = &now }, true},
		"deleted, without a grace period": {widgets, func(m *metav1.ObjectMeta) { m.DeletionTimestamp, m.DeletionGracePeriodSeconds = &now, &none }, true},
		"in its grace period":             {widgets, func(m *metav1.ObjectMeta) { m.DeletionTimestamp, m.DeletionGracePeriodSeconds = &now, &some }, false},
		"a terminating namespace":         {namespaces, func(m *metav1.ObjectMeta) { m.DeletionTimestamp = &now }, false},
	} {
		written := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "blue", UID: "u", ResourceVersion: "7"}}
		tc.change(&written.ObjectMeta)
		want := object.Token{Resource: tc.resource, Key: object.Key{Namespace: "shop", Name: "blue"}, UID: "u", ResourceVersion: "7", Gone: tc.gone}
		if got := object.TokenOf(tc.resource, written); got != want {
			t.Errorf("%s: TokenOf = %+v, want %+v", name, got, want)
		}
	}
}
