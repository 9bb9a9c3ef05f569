// SPDX-License-Identifier: Apache-2.0

package factories

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/settings"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// sourceIn returns a function that makes a source for each namespace.
func sourceIn(s *settings.Settings, c *source.Client, gvr schema.GroupVersionResource) (settings.SourceIn, error) {
	elem := s.ObjectType.(reflect.Type).Elem()
	all, err := source.New[object.Object](c, gvr, source.Options{
		NewObject:         func() object.Object { return reflect.New(elem).Interface().(object.Object) },
		LabelSelector:     s.LabelSelector,
		FieldSelector:     s.FieldSelector,
		ShardSelector:     s.ShardSelector,
		Formats:           s.Formats,
		DropManagedFields: s.DropManagedFields,
		DropAnnotations:   s.DropAnnotations,
	})
	if err != nil {
		return nil, err
	}
	return func(namespace string) (source.Source[object.Object], error) {
		src, err := all.In(namespace)
		if err != nil {
			return nil, err // not a nil *source.HTTP in an interface
		}
		return src, nil
	}, nil
}
