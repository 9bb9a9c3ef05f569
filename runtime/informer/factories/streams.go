// SPDX-License-Identifier: Apache-2.0

package factories

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/engine"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/settings"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// streams returns one stream for each namespace.
func streams(s *settings.Settings, c *source.Client, gvr schema.GroupVersionResource) ([]engine.Stream, error) {
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
	var streams []engine.Stream
	for _, namespace := range s.SplitNamespaces() {
		src, err := all.In(namespace)
		if err != nil {
			return nil, err
		}
		streams = append(streams, engine.Stream{Namespace: namespace, Source: src})
	}
	return streams, nil
}
