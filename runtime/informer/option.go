// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"fmt"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/fanout"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/intake"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/settings"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// This file implements the options of options.go, handler_options.go and wait.go.

// withTransform isn't inlined, to save compile time.
//
//go:noinline
func withTransform(t settings.GoType, transform func(object.Object) (object.Object, error), code uintptr) Option {
	return settings.New("WithTransform", settings.InFactory|settings.InFor|settings.InNew, func(s *settings.Settings) error {
		switch general := t == settings.TypeOf((*object.Object)(nil)); {
		case !general && s.ObjectType == nil:
			return fmt.Errorf("a transform of %v given to a factory; give it to For, or use a transform of object.Object", t)
		case !general && t != s.ObjectType:
			return fmt.Errorf("a transform of %v given to an informer of %v", t, s.ObjectType)
		}
		s.Transform, s.TransformCode = transform, code
		return nil
	})
}

// withIndexes isn't inlined, to save compile time.
//
//go:noinline
func withIndexes(t settings.GoType, indexes []intake.Indexer) Option {
	return settings.New("WithIndexes", settings.InFor|settings.InNew, func(s *settings.Settings) error {
		if t != s.ObjectType {
			return fmt.Errorf("indexes of %v given to an informer of %v", t, s.ObjectType)
		}
		s.Indexes = append(s.Indexes, indexes...)
		return nil
	})
}

type sharedOption struct {
	name  string
	apply func(*fanout.HandlerConfig) error
}

func (o sharedOption) String() string { return o.name }

func (o sharedOption) Apply(s *settings.Settings, _ settings.Scope) error {
	return o.applyHandler(&s.Handlers)
}

func (o sharedOption) applyHandler(c *fanout.HandlerConfig) error {
	return settings.Named(o.name, o.apply(c))
}

type handlerOption struct {
	name  string
	apply func(*fanout.HandlerConfig) error
}

func (o handlerOption) String() string { return o.name }

func (o handlerOption) applyHandler(c *fanout.HandlerConfig) error {
	return settings.Named(o.name, o.apply(c))
}

type waitOption struct {
	name  string
	apply func(*settings.Wait) error
}

func (o waitOption) String() string { return o.name }

func (o waitOption) ApplyWait(w *settings.Wait) error { return settings.Named(o.name, o.apply(w)) }
