// SPDX-License-Identifier: Apache-2.0

package factories

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/engine"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/intake"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/settings"
	"github.com/informer-gen/informer-gen/runtime/object"
)

type informerKey struct {
	gvr    schema.GroupVersionResource
	goType settings.GoType
	settings.Identity
}

type member struct {
	// set once at construction
	key      informerKey
	view     *engine.View // the informer, whatever its type
	settings settings.Settings
	broken   bool // view's engine is broken
	// namespaces is the informer of the namespaces that match key.NamespaceSelector, or of all for
	// a ring by namespaces; else nil.
	namespaces *engine.Informer

	// the factory's mu guards the rest
	errs    []error                 // for Start
	started bool                    // Start has run it once
	lease   *engine.Lease           // of the last Start; nil before the first Start and after Stop
	ctx     context.Context         // of lease
	cancel  context.CancelCauseFunc // of ctx
}

var (
	errStopped    = errors.New("the factory has stopped the informer")
	errNilFactory = errors.New("the factory is nil; make one with factories.New")
	errNilContext = errors.New("the context is nil")
)

func wrapError(call string, err error) error {
	if err != nil {
		return fmt.Errorf("informer factory: %s: %w", call, err)
	}
	return nil
}

func view[T object.Object](m *member) *informer.SharedIndexInformer[T] {
	return (*informer.SharedIndexInformer[T])(m.view)
}

func (m *member) engine() *engine.Informer { return m.view.Engine() }

// memberOf is For without its type parameter. For a nil factory it returns a member whose engine
// returns errors only.
func memberOf(f SharedInformerFactory, gvr schema.GroupVersionResource, t settings.GoType, opts []informer.Option) *member {
	if !settings.IsNil(f) {
		if base := f.Base(); base != nil {
			return base.lookup(gvr, t, opts)
		}
	}
	name := resourceName(gvr)
	return &member{view: engine.NewView(engine.Broken(name, fmt.Errorf("factories.For %s: the factory is nil", name)))}
}

// lookup finds or makes the member for a call of For.
func (f *Factory) lookup(gvr schema.GroupVersionResource, t settings.GoType, opts []informer.Option) *member {
	s := f.settings
	s.ObjectType = t
	wrong := applyKind(&s, gvr)
	defaults := s.Identity
	wrong = errors.Join(wrong, settings.ApplyAll(&s, settings.InFor, opts))
	m, found := f.findOrMake(informerKey{gvr, t, s.Identity}, defaults, &s, wrong)
	if !found || m.broken {
		return m
	}
	if wrong == nil {
		wrong = m.adjust(opts)
	}
	if wrong != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		err := fmt.Errorf("factories.For %s: %w", resourceName(gvr), wrong)
		if !slices.ContainsFunc(m.errs, func(known error) bool { return known.Error() == err.Error() }) {
			m.errs = append(m.errs, err)
		}
	}
	return m
}

// findOrMake returns the member for key. defaults is the kind's identity without options of For. If
// the informer can't be made, the new member is broken and has the error.
func (f *Factory) findOrMake(key informerKey, defaults settings.Identity, s *settings.Settings, wrong error) (m *member, found bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if m := f.informers[key]; m != nil {
		return m, true
	}
	m = &member{key: key, settings: *s}
	err := wrong
	var i *engine.Informer
	if err == nil {
		i, err = f.newEngineLocked(key, defaults, s)
	}
	if err != nil {
		err = fmt.Errorf("factories.For %s: %w", resourceName(key.gvr), err)
		m.errs = append(m.errs, err)
		i, m.broken = engine.Broken(resourceName(key.gvr), err), true
	}
	m.namespaces = i.Namespaces()
	m.view = engine.NewView(i)
	if f.informers == nil {
		f.informers = map[informerKey]*member{}
	}
	f.informers[key] = m
	f.order = append(f.order, m)
	return m, false
}

func (f *Factory) newEngineLocked(key informerKey, defaults settings.Identity, s *settings.Settings) (*engine.Informer, error) {
	if f.client == nil {
		return nil, errors.New("the factory has no client")
	}
	if err := checkKind(key.gvr, key.goType); err != nil {
		return nil, err
	}
	newSource, err := sourceIn(s, f.client, key.gvr)
	if err != nil {
		return nil, err
	}
	name := describe(key, defaults, s.ClusterScoped())
	if key.NamespaceSelector != "" && key.Ring == nil {
		namespaces, err := f.namespacesLocked(key.NamespaceSelector)
		if err != nil {
			return nil, err
		}
		return s.NewSelectingEngine(name, newSource, namespaces)
	}
	if s.ByNamespace() && key.Namespaces == "" && !s.ClusterScoped() {
		namespaces, err := f.namespacesLocked("")
		if err != nil {
			return nil, err
		}
		return s.NewRingEngine(name, newSource, namespaces)
	}
	var streams []intake.StreamConfig
	for _, namespace := range s.SplitNamespaces() {
		src, err := newSource(namespace)
		if err != nil {
			return nil, err
		}
		streams = append(streams, intake.StreamConfig{Namespace: namespace, Source: src})
	}
	return s.NewEngine(name, newSource, streams...)
}

// adjust checks opts against the informer's original options, and adds their indexes. It may wait
// for the current batch.
func (m *member) adjust(opts []informer.Option) error {
	original, changed := m.settings.Comparable(), m.settings
	changed.Indexes = nil
	if err := settings.ApplyAll(&changed, settings.InFor, opts); err != nil {
		return err
	}
	var errs []error
	if changed.Comparable() != original {
		errs = append(errs, m.disagreementError(opts))
	}
	if err := m.engine().AddIndexes(changed.Indexes...); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// disagreementError returns an error that names each of opts, right by itself, that differs from
// the informer's original options.
func (m *member) disagreementError(opts []informer.Option) error {
	original := m.settings.Comparable()
	var errs []error
	for _, opt := range opts {
		s := m.settings
		if err := settings.ApplyAll(&s, settings.InFor, []informer.Option{opt}); err != nil || s.Comparable() != original {
			errs = append(errs, fmt.Errorf("%v: the informer was made with another value; give it to the first For, or to none, or make another informer by WithName", opt))
		}
	}
	return errors.Join(errs...)
}
