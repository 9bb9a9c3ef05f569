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

// preparedSource is the stream's source with checked, transformed and counted objects.
type preparedSource struct{ stream *Stream }

func (p preparedSource) String() string { return fmt.Sprint(p.stream.source) }

func (p preparedSource) List(ctx context.Context, opts source.ListOptions, item func(object.Object) error) (source.ListResult, error) {
	if opts.VersionOnly {
		return p.stream.source.List(ctx, opts, item)
	}
	p.stream.intake.interner.begin(ctx, p.stream.Name())
	opts.NoReuse = p.stream.mustReread(opts.NoReuse)
	cache := p.stream.cachedObjects(opts.NoReuse)
	opts.ReadOnly, opts.Known = p.stream.readOnly(), cache.lookup()
	p.stream.startPage(opts)
	foreign, received := 0, 0
	if p.stream.part != nil {
		p.stream.part.beginRequest(opts.Continue == "")
		opts.Keep, opts.KeepByController = p.stream.part.keepAhead, p.stream.part.byController()
		opts.ShardSelector = p.stream.part.selectorOfPage(opts.Continue == "")
	}
	result, err := p.stream.source.List(ctx, opts, func(obj object.Object) error {
		p.stream.intake.interner.arrived(false)
		if p.stream.isForeign(obj) {
			foreign++
			skipped(opts.Skipped)
			return nil
		}
		received++
		obj, err := p.stream.receive(ctx, obj, cache)
		if err != nil {
			return err
		}
		p.stream.countListed()
		return item(obj)
	})
	if err == nil && result.Continue == "" {
		p.stream.endList()
	}
	result.Skipped += foreign
	switch part := p.stream.part; {
	case part == nil:
	case err != nil:
		part.failed(opts.ShardSelector, err)
	default:
		part.answered(ctx, result, received)
	}
	return result, err
}

func (p preparedSource) Watch(ctx context.Context, opts source.WatchOptions, opened func(), event func(source.Event[object.Object]) error) (err error) {
	p.stream.intake.interner.begin(ctx, p.stream.Name())
	cache, paused := &cachedObjects{}, true
	opts.ReadOnly = p.stream.readOnly()
	if opts.SendInitialEvents {
		opts.NoReuse = p.stream.mustReread(opts.NoReuse)
		cache = p.stream.cachedObjects(opts.NoReuse)
		opts.Known = cache.lookup()
	}
	initial := opts.SendInitialEvents
	if p.stream.part != nil {
		p.stream.part.beginRequest(initial)
		opts.Keep, opts.KeepByController = p.stream.part.keepAhead, p.stream.part.byController()
		if opts.ShardSelector = p.stream.part.selector(); initial && opts.ShardSelector != "" {
			return errNoWatchList
		}
		defer func() { p.stream.part.failed(opts.ShardSelector, err) }()
	}
	stats := p.stream.startWatch(opts)
	defer stats.end()
	return p.stream.source.Watch(ctx, opts, func() { stats.opened(); opened() }, func(e source.Event[object.Object]) (err error) {
		p.stream.intake.interner.arrived(paused)
		paused = !e.More
		switch e.Type {
		case source.Added, source.Modified, source.Deleted:
			if p.stream.isForeign(e.Object) {
				if initial && e.Type == source.Added {
					skipped(opts.Skipped)
				}
				if initial || e.More {
					return nil
				}
				return event(source.Event[object.Object]{Type: source.Bookmark, ResourceVersion: e.ResourceVersion})
			}
			if e.Object, err = p.stream.receive(ctx, e.Object, cache); err != nil {
				return err
			}
		case source.Bookmark:
			if e.InitialEventsEnd {
				cache.closed.Store(true) // later events are changes
				initial = false
			}
		default:
			return &badObjectError{source.DecodeError{Err: fmt.Errorf("the source sent an event of unknown type %d", e.Type)}}
		}
		if !e.More && cache.closed.Load() {
			cache.version.Store(nil) // the source has sent every known object
		}
		stats.count(&e)
		return event(e)
	})
}

// mustReread reports whether the full state just begun must be read anew. requested is the
// reflector's request, which it repeats until it has passed on such a state. That state may still
// wait in the queue, or be dropped at the end of a run. Until one is in the table, every full state
// is read anew.
func (s *Stream) mustReread(requested bool) bool {
	if requested {
		s.lastReread.Store(s.sink.replaces)
	}
	return s.lastReread.Load() > 0
}

// readOnly reports whether the source's objects may share their parts. A transform gets objects
// that own their parts; the interner makes its results share them.
func (s *Stream) readOnly() bool {
	return s.intake.config.Transform == nil && !s.intake.config.Unshared
}

// skipped calls Skipped of the options, which may be nil.
func skipped(call func()) {
	if call != nil {
		call()
	}
}

// isForeign reports whether an object is not of the stream's part.
func (s *Stream) isForeign(obj object.Object) bool {
	return s.part != nil && !isNil(obj) && !s.part.receive(obj)
}

// receive prepares an object from the source. A known one is not transformed again.
func (s *Stream) receive(ctx context.Context, obj object.Object, cache *cachedObjects) (object.Object, error) {
	if s.intake.config.Transform == nil || cache.has(obj) {
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
	bucket := 0
	if s.part != nil {
		bucket = s.part.bucketOf(obj)
	}
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
	case s.part != nil && s.part.bucketOf(result) != bucket:
		return fail(errTransformedOwner)
	}
	return s.intake.interner.intern(result), nil
}

// check returns an error if an object is nil, has no name, or is not in the stream's namespace.
func (s *Stream) check(obj object.Object) error {
	switch {
	case isNil(obj):
		return &badObjectError{source.DecodeError{Err: errNilObject}}
	case obj.GetName() == "":
		return &badObjectError{source.DecodeError{Key: object.KeyOf(obj), Err: errNoName}}
	case s.namespace != "" && obj.GetNamespace() != s.namespace:
		return &badObjectError{source.DecodeError{Key: object.KeyOf(obj), Err: fmt.Errorf(
			"the source of namespace %q sent %s, an object of another namespace; check which namespace it reads", s.namespace, object.KeyOf(obj))}}
	}
	return nil
}

var (
	errTransformedToNil    = errors.New("the function returned nil; to drop objects, restrict the informer by selectors")
	errTransformedOwner    = errors.New("the function changed the object's controlling owner reference, which a ring needs; it must keep it")
	errTransformedIdentity = errors.New("the function changed the object's namespace, name, uid or resourceVersion; it must keep them")
)

// badObjectError is an error about an object that the source accepted. The reflector treats it as
// bad data.
type badObjectError struct{ data source.DecodeError }

var (
	errNilObject = errors.New("the source sent nil instead of an object")
	errNoName    = errors.New("the source sent an object without a name")
)

func (e *badObjectError) Error() string { return e.data.Err.Error() }

func (e *badObjectError) Unwrap() error { return &e.data }

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
