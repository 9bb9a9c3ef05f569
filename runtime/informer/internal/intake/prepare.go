// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/outcome"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// prepared is the stream's source with checked, transformed and counted objects.
type prepared struct{ stream *Stream }

func (p prepared) String() string { return fmt.Sprint(p.stream.source) }

func (p prepared) List(ctx context.Context, opts source.ListOptions, item func(object.Object) error) (source.ListResult, error) {
	if opts.VersionOnly {
		return p.stream.source.List(ctx, opts, item)
	}
	p.stream.intake.adoption.begin(ctx, p.stream.Name())
	opts.Anew = p.stream.readAnew(opts.Anew)
	have := p.stream.have(opts.Anew)
	opts.ReadOnly, opts.Known = p.stream.readOnly(), have.asked()
	p.stream.startPage(opts)
	result, err := p.stream.source.List(ctx, opts, func(obj object.Object) error {
		p.stream.intake.adoption.arrived(false)
		obj, err := p.stream.handedOver(ctx, obj, have)
		if err != nil {
			return err
		}
		p.stream.countListed()
		return item(obj)
	})
	if err == nil && result.Continue == "" {
		p.stream.endList()
	}
	return result, err
}

func (p prepared) Watch(ctx context.Context, opts source.WatchOptions, opened func(), event func(source.Event[object.Object]) error) error {
	p.stream.intake.adoption.begin(ctx, p.stream.Name())
	have, paused := &cached{}, true
	opts.ReadOnly = p.stream.readOnly()
	if opts.SendInitialEvents {
		opts.Anew = p.stream.readAnew(opts.Anew)
		have = p.stream.have(opts.Anew)
		opts.Known = have.asked()
	}
	m := p.stream.startWatch(opts)
	defer m.end()
	return p.stream.source.Watch(ctx, opts, func() { m.opened(); opened() }, func(e source.Event[object.Object]) (err error) {
		p.stream.intake.adoption.arrived(paused)
		paused = !e.More
		switch e.Type {
		case source.Added, source.Modified, source.Deleted:
			if e.Object, err = p.stream.handedOver(ctx, e.Object, have); err != nil {
				return err
			}
		case source.Bookmark:
			if e.InitialEventsEnd {
				have.over.Store(true) // later events are news
			}
		default:
			return &wrongError{source.DecodeError{Err: fmt.Errorf("the source handed over an event of the unknown type %d", e.Type)}}
		}
		if !e.More && have.over.Load() {
			have.version.Store(nil) // every known object was handed over
		}
		m.count(&e)
		return event(e)
	})
}

// readAnew reports whether the full state just begun must be read anew. asked is the reflector's
// wish. It lasts until the reflector has passed on such a state, which may still wait in the queue,
// or have been dropped at the end of a run; until one is in the table, all are read anew.
func (s *Stream) readAnew(asked bool) bool {
	if asked {
		s.anew.Store(s.sink.replaces)
	}
	return s.anew.Load() > 0
}

// readOnly reports whether the source's objects may share their parts. A transform gets objects
// that own their parts; the adoption makes its results share them.
func (s *Stream) readOnly() bool {
	return s.intake.config.Transform == nil && !s.intake.config.Unshared
}

// handedOver prepares an object from the source. A known one is not transformed again.
func (s *Stream) handedOver(ctx context.Context, obj object.Object, have *cached) (object.Object, error) {
	if s.intake.config.Transform == nil || have.has(obj) {
		return obj, s.check(obj)
	}
	return s.Prepare(ctx, obj)
}

// Prepare checks and transforms an object.
func (s *Stream) Prepare(ctx context.Context, obj object.Object) (object.Object, error) {
	if err := s.check(obj); err != nil {
		return nil, err
	}
	transform := s.intake.config.Transform
	if transform == nil {
		return obj, nil
	}
	key, uid, version := object.KeyOf(obj), obj.GetUID(), obj.GetResourceVersion()
	fail := func(err error) (object.Object, error) { return nil, &source.TransformError{Key: key, Err: err} }
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
	return s.intake.adoption.adopt(result), nil
}

// check returns an error if an object is nil, has no name, or is not in the stream's namespace.
func (s *Stream) check(obj object.Object) error {
	switch {
	case isNil(obj):
		return &wrongError{source.DecodeError{Err: errNil}}
	case obj.GetName() == "":
		return &wrongError{source.DecodeError{Key: object.KeyOf(obj), Err: errNameless}}
	case s.namespace != "" && obj.GetNamespace() != s.namespace:
		return &wrongError{source.DecodeError{Key: object.KeyOf(obj), Err: fmt.Errorf(
			"the source of namespace %q sent %s; its server or its client restricts it to another namespace", s.namespace, object.KeyOf(obj))}}
	}
	return nil
}

var (
	errTransformedToNil    = errors.New("the function returned nil; to drop objects, restrict the informer by selectors")
	errTransformedIdentity = errors.New("the function changed namespace, name, uid or resourceVersion, which must stay")
)

// wrongError is an error about an object that the source accepted. The reflector treats it as bad
// data.
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
		if recovered := recover(); recovered != nil {
			err = fmt.Errorf("the function panicked: %w", outcome.Panic(recovered))
			klog.FromContext(ctx).Error(err, "A transform function panicked", "key", object.KeyOf(obj), "stack", stack())
		}
	}()
	result, err = transform(obj)
	returned = true
	return result, err
}

func isNil(obj object.Object) bool {
	v := reflect.ValueOf(obj)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}
