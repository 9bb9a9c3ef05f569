// SPDX-License-Identifier: Apache-2.0

package lister

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// Selecting returns the objects of s that select obj: the ones in its namespace whose own selector
// matches obj's labels. It replaces the expansions of client-go's listers (GetPodReplicaSets,
// GetPodJobs and others):
//
//	selector := func(rs *appsv1.ReplicaSet) *metav1.LabelSelector { return rs.Spec.Selector }
//	sets := lister.Selecting(replicaSets.Snapshot(), pod, selector)
//
// For a selector that is a map, such as a Service's, selector returns metav1.SetAsLabelSelector of
// it. Nil, empty and invalid selectors select nothing. selector must not change its argument. The
// caller owns the slice, but shares the objects. Selecting reads every object of the namespace. If
// obj or selector is nil, it returns nothing.
func Selecting[T object.Object](s *store.Snapshot[T], obj metav1.Object, selector func(T) *metav1.LabelSelector) []T {
	if selector == nil || isNil(obj) {
		return nil
	}
	var selecting []T
	set := labels.Set(obj.GetLabels())
	s.Scan(obj.GetNamespace(), nil, func(candidate T) bool {
		if object.KeyOf(candidate).Namespace == obj.GetNamespace() && selects(selector(candidate), set) {
			selecting = append(selecting, candidate)
		}
		return true
	})
	return selecting
}

func selects(s *metav1.LabelSelector, set labels.Set) bool {
	if s == nil || len(s.MatchLabels) == 0 && len(s.MatchExpressions) == 0 {
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(s)
	return err == nil && selector.Matches(set)
}

// isNil reports whether obj is nil or a nil pointer in an interface.
func isNil(obj metav1.Object) bool {
	v := reflect.ValueOf(obj)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}
