// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"reflect"
	"runtime"

	clientcache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// transformOf returns one function for the transforms of all namespaces, or nil if there is none.
func transformOf(s kindSettings) clientcache.TransformFunc {
	some := needed(s.config.Transform)
	for _, config := range s.namespaces {
		some = some || needed(config.Transform)
	}
	if !some {
		return nil
	}
	return func(obj any) (any, error) {
		transform := s.in(obj.(object.Object).GetNamespace()).Transform
		if !needed(transform) {
			return obj, nil
		}
		return transform(obj)
	}
}

// needed reports whether to call a transform. Fields dropped by cache.TransformStripManagedFields
// are not even decoded.
func needed(transform clientcache.TransformFunc) bool {
	return transform != nil && !isStripManagedFields(transform)
}

// isStripManagedFields reports whether cache.TransformStripManagedFields has made transform. The
// compiler may copy its function for each caller, but each copy is from the same line.
func isStripManagedFields(transform clientcache.TransformFunc) bool {
	return transform != nil && positionOf(transform) == stripManagedFields
}

type position struct {
	file string
	line int
}

func positionOf(transform clientcache.TransformFunc) position {
	pc := reflect.ValueOf(transform).Pointer()
	file, line := runtime.FuncForPC(pc).FileLine(pc)
	return position{file, line}
}

var stripManagedFields = positionOf(cache.TransformStripManagedFields())
