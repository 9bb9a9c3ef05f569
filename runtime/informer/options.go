// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/internal/engine"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// Option configures a factory (as the default of all its informers) or one informer. A wrong option is an error of the
// call that it was given to, or of Factory.Start if that call returns no error.
type Option interface {
	// String returns the name of the function that made the option.
	String() string
	applyInformer(*settings, scope) error
}

// HandlerOption configures one registration of a handler.
type HandlerOption interface {
	// String returns the name of the function that made the option.
	String() string
	applyHandler(*handlerSettings) error
}

// SharedOption is an Option and a HandlerOption: given to a factory or an informer it is the default of their handlers,
// given to AddEventHandler it applies to that registration.
type SharedOption interface {
	Option
	HandlerOption
}

// Never is the backlog threshold of a handler whose events are never merged.
const Never = engine.Never

// WithNamespace restricts informers to one namespace. "" means all of them, which is the default. Informers made with
// WithClusterScope ignore the namespace of their factory. New refuses the option: its Source determines the namespace.
func WithNamespace(namespace string) Option {
	return option{"WithNamespace", inFactory | inFor, func(s *settings) error {
		s.Namespace = namespace
		return nil
	}}
}

// WithClusterScope says that a kind is cluster-scoped, so the namespace of the factory does not apply to it. Generated code
// gives it for every cluster-scoped kind. Only For takes it.
func WithClusterScope() Option {
	return option{"WithClusterScope", inFor, func(s *settings) error {
		s.Namespace = ""
		return nil
	}}
}

// WithLabelSelector restricts informers to objects whose labels match. nil is an error; labels.Everything is the
// default. New refuses the option: its Source determines the selector.
func WithLabelSelector(selector labels.Selector) Option {
	return option{"WithLabelSelector", inFactory | inFor, func(s *settings) error {
		if selector == nil {
			return errors.New("the selector is nil; use labels.Everything")
		}
		s.LabelSelector = selector.String()
		return nil
	}}
}

// WithFieldSelector restricts informers to objects whose fields match. The server evaluates the selector and refuses fields
// that it does not support. nil is an error; fields.Everything is the default. New refuses the option: its Source determines
// the selector.
func WithFieldSelector(selector fields.Selector) Option {
	return option{"WithFieldSelector", inFactory | inFor, func(s *settings) error {
		if selector == nil {
			return errors.New("the selector is nil; use fields.Everything")
		}
		s.FieldSelector = selector.String()
		return nil
	}}
}

// WithPageSize sets how many objects a page of a list has at most. 0, the default, leaves it to the reflector. It has no
// effect while the initial state comes as a stream, which has no pages; WithWatchList(false) turns streams off.
func WithPageSize(objects int64) Option {
	return option{"WithPageSize", inFactory | inFor | inNew, func(s *settings) error {
		if objects < 0 {
			return fmt.Errorf("%d objects; want 0 or more", objects)
		}
		s.PageSize = objects
		return nil
	}}
}

// WithWatchList says whether the initial state is first requested as a stream (a watch-list, KEP-3157). The default is
// true; a server that does not support it is asked for a list instead.
func WithWatchList(enabled bool) Option {
	return option{"WithWatchList", inFactory | inFor | inNew, func(s *settings) error {
		s.DisableWatchList = !enabled
		return nil
	}}
}

// WithLogger sets the logger of informers. The default is the one in the context of Run or Start (klog.FromContext).
func WithLogger(logger klog.Logger) Option {
	return option{"WithLogger", inFactory | inFor | inNew, func(s *settings) error {
		s.logger = &logger
		return nil
	}}
}

// WithName sets what an informer is called in logs, errors and Status. The default is "resource.group/version", for example
// "widgets.samples.io/v1", for informers of a factory, and the Go type for others.
func WithName(name string) Option {
	return option{"WithName", inFor | inNew, func(s *settings) error {
		if name == "" {
			return errors.New("the name is empty")
		}
		s.Name = name
		return nil
	}}
}

// WithIndexes gives one informer its indexes. For also adds them to an informer that exists already. An index given twice
// counts once; two indexes of one name are an error. NewFactory refuses the option, because an index belongs to one type.
func WithIndexes[T object.Object](indexes ...store.Indexer[T]) Option {
	erased := eraseIndexes(indexes)
	return option{"WithIndexes", inFor | inNew, func(s *settings) error {
		if t := reflect.TypeFor[T](); t != s.objectType {
			return fmt.Errorf("indexes of %v given to an informer of %v", t, s.objectType)
		}
		s.indexes = append(s.indexes, erased...)
		return nil
	}}
}

// WithResyncPeriod calls handlers again with every object of the store, as OnUpdate(obj, obj), a period after the last
// resync has ended. It is local: no request goes to the server. 0, the default, means never; periods under a second are
// raised to a second; negative ones are an error.
func WithResyncPeriod(period time.Duration) SharedOption {
	return sharedOption{"WithResyncPeriod", func(s *handlerSettings) error {
		if period < 0 {
			return fmt.Errorf("%v; want 0 or more", period)
		}
		if period > 0 {
			period = max(period, time.Second)
		}
		s.Resync = period
		return nil
	}}
}

// WithBacklogThreshold sets how many events may wait for a handler before events of the same object are merged. The
// default is 1,024. 0 merges all waiting events; Never merges none, which lets the backlog of a stuck handler grow
// without bound. Other negative values are an error.
func WithBacklogThreshold(events int) SharedOption {
	return sharedOption{"WithBacklogThreshold", func(s *handlerSettings) error {
		if events < Never {
			return fmt.Errorf("%d events; want 0 or more, or Never", events)
		}
		s.Threshold = events
		return nil
	}}
}

// WithPanicOnHandlerCrash says whether a panic in a handler ends the process, as it does in client-go. The default is
// false: it is logged with the key and the stack, and the handler gets its next event.
func WithPanicOnHandlerCrash(enabled bool) SharedOption {
	return sharedOption{"WithPanicOnHandlerCrash", func(s *handlerSettings) error {
		s.Crash = enabled
		return nil
	}}
}

// WithHandlerName sets what a handler is called in logs, errors and Status. The default is the name of the first
// function of HandlerFuncs, or the handler's type.
func WithHandlerName(name string) HandlerOption {
	return handlerOption{"WithHandlerName", func(s *handlerSettings) error {
		if name == "" {
			return errors.New("the name is empty")
		}
		s.Name = name
		return nil
	}}
}

// --- private from here ---

// scope says which calls take an option.
type scope uint8

const (
	inFactory scope = 1 << iota // NewFactory
	inFor                       // For
	inNew                       // New
)

func (s scope) String() string {
	var names []string
	for n, name := range []string{"NewFactory", "For", "New"} {
		if s&(1<<n) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, " or ")
}

// settings is what options write: defaults of a factory, or one informer.
type settings struct {
	tuning
	logger     *klog.Logger
	objectType reflect.Type // nil in a factory
	indexes    []engine.Indexer
}

// tuning is the part of the settings that two calls of For must agree on.
type tuning struct {
	Name                                    string
	Namespace, LabelSelector, FieldSelector string
	PageSize                                int64
	DisableWatchList                        bool
	handlers                                handlerSettings
}

type handlerSettings = engine.HandlerConfig

// defaults are all the defaults that there are; what is left out is the zero value.
func defaults() settings {
	return settings{tuning: tuning{handlers: handlerSettings{Threshold: 1024}}}
}

func (o option) String() string        { return o.name }
func (o sharedOption) String() string  { return o.name }
func (o handlerOption) String() string { return o.name }

type option struct {
	name  string
	where scope
	apply func(*settings) error
}

func (o option) applyInformer(s *settings, where scope) error {
	if o.where&where == 0 {
		return fmt.Errorf("%s: not an option of %v; use it with %v", o.name, where, o.where)
	}
	return named(o.name, o.apply(s))
}

type sharedOption struct {
	name  string
	apply func(*handlerSettings) error
}

func (o sharedOption) applyInformer(s *settings, _ scope) error {
	return named(o.name, o.apply(&s.handlers))
}
func (o sharedOption) applyHandler(s *handlerSettings) error { return named(o.name, o.apply(s)) }

type handlerOption sharedOption

func (o handlerOption) applyHandler(s *handlerSettings) error { return named(o.name, o.apply(s)) }

func named(name string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// applyAll applies opts to s and returns all that is wrong with them.
func (s *settings) applyAll(where scope, opts []Option) error {
	var errs []error
	for i, opt := range opts {
		if opt == nil {
			errs = append(errs, fmt.Errorf("option %d is nil", i+1))
			continue
		}
		errs = append(errs, opt.applyInformer(s, where))
	}
	return errors.Join(errs...)
}

func applyHandlerOptions(s *handlerSettings, opts []HandlerOption) error {
	var errs []error
	for i, opt := range opts {
		if opt == nil {
			errs = append(errs, fmt.Errorf("option %d is nil", i+1))
			continue
		}
		errs = append(errs, opt.applyHandler(s))
	}
	return errors.Join(errs...)
}

// eraseIndexes keeps nil indexes as nil, for the engine to refuse.
func eraseIndexes[T object.Object](indexes []store.Indexer[T]) []engine.Indexer {
	erased := make([]engine.Indexer, len(indexes))
	for i, index := range indexes {
		if index != nil {
			erased[i] = index
		}
	}
	return erased
}
