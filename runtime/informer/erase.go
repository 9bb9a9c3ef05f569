// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/engine"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/fanout"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/intake"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/mutation"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/settings"
	"github.com/informer-gen/informer-gen/runtime/internal/decode"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// This file removes the type parameter from users' values, for the engine, which is compiled once.

// erase returns a Source of object.Object over a Source of T.
func erase[T object.Object](src source.Source[T]) source.Source[object.Object] {
	if s, ok := any(src).(source.Source[object.Object]); ok {
		return s
	}
	if s, ok := any(src).(checkpointSource); ok {
		return erasedCheckpointSource[T]{erasedSource[T]{src}, s}
	}
	return erasedSource[T]{src}
}

// eraseIn returns nil for a nil function.
func eraseIn[T object.Object](in func(namespace string) (source.Source[T], error)) settings.SourceIn {
	if in == nil {
		return nil
	}
	return func(namespace string) (source.Source[object.Object], error) {
		src, err := in(namespace)
		if err != nil || settings.IsNil(src) {
			return nil, err
		}
		return erase(src), nil
	}
}

type erasedSource[T object.Object] struct{ src source.Source[T] }

func (s erasedSource[T]) List(ctx context.Context, opts source.ListOptions, item func(object.Object) error) (source.ListResult, error) {
	return s.src.List(ctx, opts, func(obj T) error { return item(obj) })
}

func (s erasedSource[T]) Watch(ctx context.Context, opts source.WatchOptions, opened func(), event func(source.Event[object.Object]) error) error {
	return s.src.Watch(ctx, opts, opened, func(e source.Event[T]) error {
		erased := source.Event[object.Object]{Type: e.Type, ResourceVersion: e.ResourceVersion, InitialEventsEnd: e.InitialEventsEnd, More: e.More}
		if e.Type != source.Bookmark {
			erased.Object = e.Object // a Bookmark's nil *T must not become a non-nil interface
		}
		return event(erased)
	})
}

// Resource returns the zero value if src has no such method.
func (s erasedSource[T]) Resource() schema.GroupVersionResource {
	if src, ok := any(s.src).(engine.ResourceSource); ok {
		return src.Resource()
	}
	return schema.GroupVersionResource{}
}

// erasedCheckpointSource is an erasedSource with the methods a checkpoint needs.
type erasedCheckpointSource[T object.Object] struct {
	erasedSource[T]
	checkpointSource
}

type checkpointSource interface {
	Identity() string
	Codec() *decode.Codec
}

// erasedHandler implements fanout.Handler for a Handler of any type.
type erasedHandler struct {
	add    func(obj object.Object, initial bool)
	update func(old, obj object.Object)
	delete func(fanout.Deleted)
}

func (e *erasedHandler) OnAdd(obj object.Object, initial bool) { e.add(obj, initial) }
func (e *erasedHandler) OnUpdate(old, obj object.Object)       { e.update(old, obj) }
func (e *erasedHandler) OnDelete(d fanout.Deleted)             { e.delete(d) }

// eraseHandler returns a fanout.Handler that converts objects back to T; the engine holds only
// objects that its source made as T. The three methods are closures of a function that isn't
// inlined, so that they are compiled once for all kinds of a package.
//
//go:noinline
func eraseHandler[T object.Object](h Handler[T]) *erasedHandler {
	return &erasedHandler{
		func(obj object.Object, initial bool) { h.OnAdd(obj.(T), initial) },
		func(old, obj object.Object) { h.OnUpdate(old.(T), obj.(T)) },
		func(d fanout.Deleted) { h.OnDelete(Deleted[T]{d.Key, d.Object.(T), d.FinalStateUnknown}) },
	}
}

// eraseTransform leaves the checks of the result (not nil, the same type) to the engine. It isn't
// inlined, to save compile time.
//
//go:noinline
func eraseTransform[T object.Object](transform func(T) (T, error)) func(object.Object) (object.Object, error) {
	if transform == nil {
		return nil
	}
	return func(obj object.Object) (object.Object, error) { return transform(obj.(T)) }
}

// eraseIndexes keeps a nil index nil; the engine refuses it.
func eraseIndexes[T object.Object](indexes []store.AnyIndex[T]) []intake.Indexer {
	erased := make([]intake.Indexer, len(indexes))
	for i, index := range indexes {
		if index != nil {
			erased[i] = index
		}
	}
	return erased
}

func eraseReport(report func(Mutation)) func(mutation.Mutation) {
	if report == nil {
		return nil
	}
	return func(m mutation.Mutation) { report(Mutation(m)) }
}
