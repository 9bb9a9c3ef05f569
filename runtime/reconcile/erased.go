// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// The types and functions here have no type parameter, so that they are compiled once and not for
// each kind.

type erasedInformer = informer.SharedIndexInformer[object.Object]

// kind is a Kind without its type parameter.
type kind struct {
	resource      schema.GroupVersionResource
	gvk           schema.GroupVersionKind
	of            goType
	clusterScoped bool
}

// goType is a reflect.Type, whose many methods would be compiled with each kind.
type goType interface{ String() string }

// typeOf returns the type that pointer points to.
func typeOf(pointer any) goType { return reflect.TypeOf(pointer).Elem() }

func newKind(resource schema.GroupVersionResource, name string, pointer any, clusterScoped bool) kind {
	return kind{resource, resource.GroupVersion().WithKind(name), typeOf(pointer), clusterScoped}
}

// plan is what the options of a controller add up to.
type plan struct {
	kind     *kind
	informer *erasedInformer
	filters  []controller.Filter[object.Object]
	watches  []controller.Watch[object.Key]
	options  controller.Options
}

func (k *kind) reconcile(name string, reconcile Func[object.Object], from *erasedInformer, options []Option) (Controller, error) {
	p := plan{kind: k, informer: from}
	for n, option := range options {
		err := errors.New("it is nil")
		if option != nil {
			err = option(&p)
		}
		if err != nil {
			return nil, fmt.Errorf("Reconcile %q of %s: option %d: %w", name, k.resource.GroupResource(), n+1, err)
		}
	}
	var get controller.Reconcile[object.Key]
	if reconcile != nil {
		get = func(ctx context.Context, key object.Key) (controller.Result, error) {
			obj, ok := from.Store().Snapshot().Get(key)
			if !ok {
				return controller.Result{}, nil
			}
			return reconcile(ctx, obj.DeepCopyObject().(object.Object))
		}
	}
	self := controller.Self(from, p.filters...)
	c, err := controller.New(name, get, p.options, append([]controller.Watch[object.Key]{self}, p.watches...)...)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// isOf returns an error if something that is made for objects of the type that pointer points to
// doesn't fit the kind.
func (p *plan) isOf(what string, pointer any) error {
	if of := typeOf(pointer); of != p.kind.of {
		return fmt.Errorf("%s is of %v; want one of %v", what, of, p.kind.of)
	}
	return nil
}
