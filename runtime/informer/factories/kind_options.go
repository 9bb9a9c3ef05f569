// SPDX-License-Identifier: Apache-2.0

package factories

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/settings"
	"github.com/informer-gen/informer-gen/runtime/internal/gotype"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// eraseOptions returns o's fields as options. It is not a method, to save compile time.
func eraseOptions[T object.Object](o KindOptions[T]) []informer.Option {
	opts := kindOptions(o.Name, o.Namespaces, o.LabelSelector, o.FieldSelector, o.ResyncPeriod, o.ErrorHandler)
	if o.Transform != nil {
		opts = append(opts, informer.WithTransform(o.Transform))
	}
	if len(o.Indexes) > 0 {
		opts = append(opts, informer.WithIndexes(o.Indexes...))
	}
	return append(opts, o.Options...)
}

func kindOptions(name string, namespaces []string, labels labels.Selector, fields fields.Selector, resync time.Duration, onError func(string, error)) []informer.Option {
	var opts []informer.Option
	if name != "" {
		opts = append(opts, informer.WithName(name))
	}
	if namespaces != nil {
		opts = append(opts, informer.WithNamespace(namespaces...))
	}
	if labels != nil {
		opts = append(opts, informer.WithLabelSelector(labels))
	}
	if fields != nil {
		opts = append(opts, informer.WithFieldSelector(fields))
	}
	if resync != 0 {
		opts = append(opts, informer.WithResyncPeriod(resync))
	}
	if onError != nil {
		opts = append(opts, informer.WithErrorHandler(onError))
	}
	return opts
}

// kind is a Kind without its type parameter, so that its methods are compiled once.
type kind struct {
	factory  *Factory
	resource schema.GroupVersionResource
	opts     []informer.Option // never modified in place
}

func (k *kind) member(t settings.GoType) *member {
	return memberOf(k.factory, k.resource, t, k.opts)
}

func (k *kind) with(opts []informer.Option) kind {
	return kind{k.factory, k.resource, append(k.opts[:len(k.opts):len(k.opts)], opts...)}
}

// withKind checks the options when the factory is made, because the factory may never have an
// informer of the kind. It isn't inlined, to save compile time.
//
//go:noinline
func withKind(resource schema.GroupVersionResource, t settings.GoType, opts []informer.Option) informer.Option {
	apply := func(s *settings.Settings) error { return settings.ApplyAll(s, settings.InFor, opts) }
	return settings.New("WithKind", settings.InFactory, func(s *settings.Settings) error {
		trial := settings.Default()
		trial.ObjectType = t
		if err := errors.Join(checkKind(resource, t), apply(&trial)); err != nil {
			return fmt.Errorf("%s: %w", resourceName(resource), err)
		}
		s.Kinds = append(s.Kinds, settings.Kind{Resource: resource, ObjectType: t, Apply: apply})
		return nil
	})
}

func checkKind(resource schema.GroupVersionResource, goType settings.GoType) error {
	switch t := goType.(reflect.Type); {
	case resource.Resource == "" || resource.Version == "":
		return fmt.Errorf("%q lacks a resource or a version", resource)
	case t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct:
		return fmt.Errorf("can't make objects of type %v; want a pointer to a struct", t)
	}
	return nil
}

// applyKind applies the options of WithKind for one kind. It returns an error if they are for
// another Go type.
func applyKind(s *settings.Settings, resource schema.GroupVersionResource) error {
	var errs []error
	for _, k := range s.Kinds {
		switch {
		case k.Resource != resource:
		case k.ObjectType == s.ObjectType:
			errs = append(errs, k.Apply(s))
			s.ScopedByKind = s.ScopedByKind || s.Namespaced()
		case !isAlternativeType(k.ObjectType) && !isAlternativeType(s.ObjectType):
			errs = append(errs, fmt.Errorf("objects of type %v, but WithKind has options for objects of type %v", s.ObjectType, k.ObjectType))
		}
	}
	return errors.Join(errs...)
}

var metadataType = settings.TypeOf((**metav1.PartialObjectMetadata)(nil))

// isAlternativeType reports whether t is an alternative to a kind's own Go type: untyped, metadata
// only or a projection.
func isAlternativeType(t settings.GoType) bool {
	return t == metadataType || t.(reflect.Type).Implements(reflect.TypeFor[runtime.Unstructured]()) || isProjection(t)
}

func isProjection(t settings.GoType) bool { return gotype.IsProjection(t.(reflect.Type).Elem()) }
