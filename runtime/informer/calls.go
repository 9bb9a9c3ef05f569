// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"errors"
	"fmt"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/engine"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/fanout"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/intake"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/settings"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// This file has the methods of SharedIndexInformer without its type parameter; await.go has the
// waits.

var errNilContext = errors.New("the context is nil")

func run(ctx context.Context, e *engine.Informer) error {
	if ctx == nil {
		return fmt.Errorf("informer %s: Run: %w", e.Name(), errNilContext)
	}
	err := e.Run(ctx)
	if err == ErrRunning {
		return fmt.Errorf("informer %s: Run: %w", e.Name(), err)
	}
	return err
}

// initError returns the error of an informer that For could not make.
func initError(e *engine.Informer) error { return e.AddIndexes() }

func acquire(ctx context.Context, e *engine.Informer) (*Lease, error) {
	l, err := e.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	return &Lease{e, l}, nil
}

func newEngine(src source.Source[object.Object], t settings.GoType, opts []Option) (*engine.Informer, error) {
	return newEngineOf(nil, t, opts, intake.StreamConfig{Source: src})
}

func newEngineIn(sourceIn settings.SourceIn, namespaces []string, t settings.GoType, opts []Option) (*engine.Informer, error) {
	if sourceIn == nil {
		return nil, errors.New("the function that returns a Source is nil")
	}
	checked := func(namespace string) (source.Source[object.Object], error) {
		src, err := sourceIn(namespace)
		if err == nil && src == nil {
			err = fmt.Errorf("the source of namespace %q is nil", namespace)
		}
		return src, err
	}
	var streams []intake.StreamConfig
	for _, namespace := range namespaces {
		if namespace == "" {
			return nil, errors.New(`"" means all namespaces, so it can't be one of several; use New`)
		}
		src, err := checked(namespace)
		if err != nil {
			return nil, err
		}
		streams = append(streams, intake.StreamConfig{Namespace: namespace, Source: src})
	}
	return newEngineOf(checked, t, opts, streams...)
}

func newEngineOf(sourceIn settings.SourceIn, t settings.GoType, opts []Option, streams ...intake.StreamConfig) (*engine.Informer, error) {
	s := settings.Default()
	s.ObjectType = t
	if err := settings.ApplyAll(&s, settings.InNew, opts); err != nil {
		return nil, err
	}
	name := s.Name
	if name == "" {
		name = t.String()
	}
	return s.NewEngine(name, sourceIn, streams...)
}

func addIndexers(e *engine.Informer, indexes []intake.Indexer) error {
	if err := e.AddIndexes(indexes...); err != nil {
		return fmt.Errorf("informer %s: AddIndexers: %w", e.Name(), err)
	}
	return nil
}

func register(e *engine.Informer, h fanout.Handler, name string, opts []HandlerOption) (*Registration, error) {
	fail := func(err error) (*Registration, error) {
		return nil, fmt.Errorf("informer %s: AddEventHandler: %w", e.Name(), err)
	}
	if h == nil {
		return fail(errors.New("the handler is nil"))
	}
	s := e.HandlerDefaults()
	s.Name = name
	if err := settings.Each(opts, func(o HandlerOption) error { return o.applyHandler(&s) }); err != nil {
		return fail(err)
	}
	sub, err := e.AddHandler(h, s)
	if err != nil {
		return fail(err)
	}
	return &Registration{sub}, nil
}

func statusOf(e *engine.Informer) Status {
	s := Status{Name: e.Name(), Running: e.Running(), Synced: e.HasSynced()}
	worst := -1
	for _, stream := range e.Streams() {
		s.Streams = append(s.Streams, StreamStatus(stream))
		severity := 0
		if stream.Reflector.Reason != reason.None {
			severity++
		}
		if !stream.Synced {
			severity += 2
		}
		if severity > worst {
			worst, s.Reflector = severity, stream.Reflector
		}
	}
	if ring := e.Ring(); ring != nil {
		s.Ring = (*RingStatus)(ring)
	}
	if namespaces := e.Namespaces(); namespaces != nil {
		status := namespaces.Streams()[0].Reflector
		s.Namespaces = &NamespacesStatus{Name: namespaces.Name(), Synced: !e.AwaitsNamespaces(), Reflector: status}
		if !s.Namespaces.Synced || worst < 2 && status.Reason != reason.None || worst < 0 {
			s.Reflector = status
		}
	}
	version := e.Table().Version()
	s.Objects, s.ResourceVersion = version.Len(), version.ResourceVersion()
	s.Handlers = handlerStatus(e.Handlers())
	return s
}

func keyStatus(e *engine.Informer, key object.Key) []HandlerStatus {
	return handlerStatus(e.HandlersOf(key))
}

func handlerStatus(handlers []fanout.HandlerStatus) (all []HandlerStatus) {
	for _, h := range handlers {
		all = append(all, HandlerStatus(h))
	}
	return all
}
