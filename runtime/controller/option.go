// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// Option is an argument of [New] and [Kind.Reconcile]: a [Watch], [Options] (the last one counts),
// or a result of [When]. Several controllers may share it.
type Option interface {
	applyTo(p *plan) error
}

type plan struct {
	kind    *kind // from For; nil without it
	filters []Filter[object.Object]
	watches []Watch
	options Options
}

type kind struct {
	schema.GroupKind // zero if unknown
	clusterScoped    bool
	objectType       goType
	informer         *erasedInformer
}

type erasedInformer = informer.SharedIndexInformer[object.Object]

// goType is a reflect.Type without its many methods, which would be compiled with each kind.
type goType interface{ String() string }

func typeOf(pointer any) goType { return reflect.TypeOf(pointer).Elem() }

// checkType returns an error unless pointer points to the kind's type. name is the argument's.
func (k *kind) checkType(name string, pointer any) error {
	if of := typeOf(pointer); of != k.objectType {
		return fmt.Errorf("%s is of %v; want one of %v", name, of, k.objectType)
	}
	return nil
}

func (k *kind) appendOwners(obj object.Object, dst []object.Key) []object.Key {
	var buf [4]string
	namespace := obj.GetNamespace()
	if k.clusterScoped {
		namespace = ""
	}
	for _, name := range object.OwnerNames(obj, buf[:0], k.GroupKind) {
		dst = append(dst, object.Key{Namespace: namespace, Name: name})
	}
	return dst
}

type optionFunc func(p *plan) error

func (f optionFunc) applyTo(p *plan) error { return f(p) }

// When restricts the events of the kind's own objects that queue a key to those all filters accept.
// The filters don't affect keys queued for other reasons. When is for [Kind.Reconcile], which
// returns an error if T is not the kind's type; for New, pass the filters to [For].
func When[T object.Object](filters ...Filter[T]) Option {
	filters = slices.Clone(filters)
	return optionFunc(func(p *plan) error {
		if p.kind == nil {
			return errors.New("When is for Kind.Reconcile; pass the filters to For")
		}
		if err := p.kind.checkType("When: the filter", (*T)(nil)); err != nil {
			return err
		}
		for _, accepts := range filters {
			if accepts == nil {
				return errors.New("When: the filter is nil")
			}
			p.filters = append(p.filters, func(old, obj object.Object) bool {
				o, _ := old.(T) // nil stays nil
				n, _ := obj.(T)
				return accepts(o, n)
			})
		}
		return nil
	})
}

// For Kind.Reconcile, the plan's kind is already set.
func (p *plan) apply(options []Option) error {
	for n, option := range options {
		err := errors.New("it is nil")
		if option != nil {
			err = option.applyTo(p)
		}
		if err != nil {
			return fmt.Errorf("option %d: %w", n+1, err)
		}
	}
	return nil
}

// resolve binds the watches to the plan's kind, and returns the first one's mistake.
func (p *plan) resolve() error {
	for _, w := range p.watches {
		if w.kind == nil {
			continue
		}
		if p.kind != nil {
			return errors.New("For is given twice")
		}
		p.kind = w.kind
	}
	for n, w := range p.watches {
		switch {
		case w.err != nil || w.resolve == nil:
		case p.kind == nil:
			w.err = errors.New("the controller has no For")
		default:
			resolved := w.resolve(p.kind)
			resolved.delay = w.delay
			p.watches[n], w = resolved, resolved
		}
		if w.err == nil && w.register == nil && w.every == nil {
			w.err = errors.New("it is the zero value; make it with For, Owns, Indexed, Watches or Every")
		}
		if w.err != nil {
			return w.wrapError(n, w.err)
		}
	}
	return nil
}
