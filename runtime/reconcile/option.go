// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"errors"
	"slices"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// Option is a setting of [Kind.Reconcile]. [With], [When], [Owns], [Indexed] and [Watches] return
// Options, which may be given several times and to several controllers.
type Option func(*plan) error

// With sets the options of the controller: how many reconciles run at once, deadlines, metrics. Of
// several, the last one counts.
func With(options controller.Options) Option {
	return func(p *plan) error {
		p.options = options
		return nil
	}
}

// When restricts which events of the kind's own objects queue them: those that all filters accept.
// An object that is queued for another reason is reconciled whatever they say. Reconcile returns an
// error if T is not the type of the kind.
func When[T object.Object](filters ...controller.Filter[T]) Option {
	filters = slices.Clone(filters)
	return func(p *plan) error {
		if err := p.isOf("When: the filter", (*T)(nil)); err != nil {
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
	}
}

// Owns queues the owners of each object of i that changes, those that are of the kind. Its owner
// references say which ones they are; see [controller.Owned]. If the kind has no namespaces, it is
// [controller.OwnedByClusterScoped].
func Owns[T object.Object](i *informer.SharedIndexInformer[T], filters ...controller.Filter[T]) Option {
	return func(p *plan) error {
		owned := controller.Owned[T]
		if p.kind.clusterScoped {
			owned = controller.OwnedByClusterScoped[T]
		}
		p.watches = append(p.watches, owned(i, p.kind.gvk.GroupKind(), filters...))
		return nil
	}
}

// Indexed queues the objects of the kind that refer to an object of i that changes: those that
// index finds by the key that of returns. index is one of those that were generated for the kind,
// or any other one; see [controller.Indexed]. Reconcile returns an error if it is of another kind.
//
//	w := reconcile.Indexed(shoplisters.WidgetBySite(), sites.Informer(), (*shopv1.Site).GetName)
func Indexed[T, U object.Object, X comparable](index *store.Index[U, X], i *informer.SharedIndexInformer[T], of func(T) X, filters ...controller.Filter[T]) Option {
	return func(p *plan) error {
		if err := p.isOf("Indexed: the index", (*U)(nil)); err != nil {
			return err
		}
		in := (*informer.SharedIndexInformer[U])(p.informer)
		p.watches = append(p.watches, controller.Indexed(i, of, index, in, filters...))
		return nil
	}
}

// Watches adds other watches, such as [controller.Mapped] and [controller.Every].
func Watches(watches ...controller.Watch[object.Key]) Option {
	watches = slices.Clone(watches)
	return func(p *plan) error {
		p.watches = append(p.watches, watches...)
		return nil
	}
}
