// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// prepared is the stream's source; what it hands over belongs to the stream, is transformed, and is counted.
type prepared struct{ *stream }

func (p prepared) String() string { return fmt.Sprint(p.source) }

func (p prepared) List(ctx context.Context, opts source.ListOptions, item func(object.Object) error) (source.ListResult, error) {
	if opts.VersionOnly {
		return p.source.List(ctx, opts, item)
	}
	p.startPage(opts)
	result, err := p.source.List(ctx, opts, func(obj object.Object) error {
		obj, err := p.prepare(ctx, obj)
		if err != nil {
			return err
		}
		p.countListed()
		return item(obj)
	})
	if err == nil && result.Continue == "" {
		p.endList()
	}
	return result, err
}

func (p prepared) Watch(ctx context.Context, opts source.WatchOptions, opened func(), event func(source.Event[object.Object]) error) error {
	m := p.startWatch(opts)
	defer m.end()
	return p.source.Watch(ctx, opts, func() { m.opened(); opened() }, func(e source.Event[object.Object]) (err error) {
		switch e.Type {
		case source.Added, source.Modified, source.Deleted:
			if e.Object, err = p.prepare(ctx, e.Object); err != nil {
				return err
			}
		case source.Bookmark:
		default:
			return &wrongError{source.DecodeError{Err: fmt.Errorf("the source handed over an event of the unknown type %d", e.Type)}}
		}
		m.count(&e)
		return event(e)
	})
}

// prepare checks and transforms an object.
func (s *stream) prepare(ctx context.Context, obj object.Object) (object.Object, error) {
	switch {
	case isNil(obj):
		return nil, &wrongError{source.DecodeError{Err: errNil}}
	case obj.GetName() == "":
		return nil, &wrongError{source.DecodeError{Key: object.KeyOf(obj), Err: errNameless}}
	case s.namespace != "" && obj.GetNamespace() != s.namespace:
		return nil, &wrongError{source.DecodeError{Key: object.KeyOf(obj), Err: fmt.Errorf(
			"the source of namespace %q sent %s; its server or its client restricts it to another namespace", s.namespace, object.KeyOf(obj))}}
	}
	transform := s.informer.config.Transform
	if transform == nil {
		return obj, nil
	}
	key, uid, version := object.KeyOf(obj), obj.GetUID(), obj.GetResourceVersion()
	fail := func(err error) (object.Object, error) { return nil, &reflector.TransformError{Key: key, Err: err} }
	result, err := callTransform(ctx, transform, obj)
	switch {
	case err != nil:
		return fail(err)
	case isNil(result):
		return fail(errTransformedToNil)
	case object.KeyOf(result) != key || result.GetUID() != uid || result.GetResourceVersion() != version:
		return fail(errTransformedIdentity)
	case reflect.TypeOf(result) != reflect.TypeOf(obj):
		return fail(fmt.Errorf("the function returned a %T; it must return a %T", result, obj))
	}
	return result, nil
}

var (
	errTransformedToNil    = errors.New("the function returned nil; to drop objects, restrict the informer by selectors")
	errTransformedIdentity = errors.New("the function changed namespace, name, uid or resourceVersion, which must stay")
)

// wrongError is bad data for the reflector, which the source did not see itself.
type wrongError struct{ data source.DecodeError }

var (
	errNil      = errors.New("the source handed over nil in the place of an object")
	errNameless = errors.New("the source handed over an object without a name, by which it would be found")
)

func (e *wrongError) Error() string { return e.data.Err.Error() }

func (e *wrongError) Unwrap() error { return &e.data }

func callTransform(ctx context.Context, transform func(object.Object) (object.Object, error), obj object.Object) (result object.Object, err error) {
	returned := false
	defer func() {
		if returned {
			return
		}
		if reason := recover(); reason != nil {
			err = fmt.Errorf("the function panicked: %w", panicError(reason))
			klog.FromContext(ctx).Error(err, "A transform function panicked", "key", object.KeyOf(obj), "stack", stack())
		}
	}()
	result, err = transform(obj)
	returned = true
	return result, err
}

// isNil also finds a nil pointer in an interface.
func isNil(obj object.Object) bool {
	v := reflect.ValueOf(obj)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}
