// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/internal/shard"
	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/internal/jsondec"
	"github.com/informer-gen/informer-gen/runtime/internal/layout"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// selection selects the objects of a stream by their metadata. One goroutine uses it.
type selection struct {
	// Set once at construction.
	keep         func(object.Meta) bool
	byController bool

	controller metav1.OwnerReference // of the object that is looked at
}

// newSelection returns the selection of the objects of all shards that are kept, or nil for all
// objects.
func newSelection(promises *Promises, shards ...*shard.Shard) *selection {
	keep := promises.Keep
	for _, s := range shards {
		if s == nil {
			continue
		}
		next := keep
		keep = func(m object.Meta) bool {
			return s.Has(string(m.UID), m.Namespace) && (next == nil || next(m))
		}
	}
	if keep == nil {
		return nil
	}
	return &selection{keep: keep, byController: promises.Keep != nil && promises.KeepByController}
}

// keepsObject reports whether a decoded object is kept.
func (s *selection) keepsObject(obj object.Object) bool {
	if s.byController {
		return s.keep(object.MetaOf(obj))
	}
	return s.keep(object.Meta{Namespace: obj.GetNamespace(), Name: obj.GetName(), UID: obj.GetUID()})
}

// keepsBytes reports whether an object is kept that isn't decoded. The arguments are valid until it
// returns.
func (s *selection) keepsBytes(namespace, name, uid []byte, controller jsondec.Owner) bool {
	m := object.Meta{Namespace: layout.View(namespace), Name: layout.View(name), UID: types.UID(layout.View(uid))}
	if controller.IsController {
		s.controller = metav1.OwnerReference{
			APIVersion: layout.View(controller.APIVersion), Kind: layout.View(controller.Kind), Name: layout.View(controller.Name),
			UID: types.UID(layout.View(controller.UID)), Controller: &isController,
		}
		m.Controller = &s.controller
	}
	kept := s.keep(m)
	s.controller = metav1.OwnerReference{} // keeps no buffer
	return kept
}

var isController = true

// dropsOwners reports whether decoded objects may lack the controller that a selection looks at.
func (c *Codec) dropsOwners(s *selection) bool {
	return c.projection && s != nil && s.byController
}

// drop describes an object that is not decoded. The identity is valid until the stream reads on.
func (r *Item) drop(apiVersion, kind string, namespace, name, version []byte) {
	r.dropped = true
	r.id = identity{
		apiVersion: apiVersion, kind: kind,
		key: object.Key{Namespace: layout.View(namespace), Name: layout.View(name)}, resourceVersion: layout.View(version),
	}
}

// progress returns a bookmark in the place of a dropped event.
func (r *Item) progress() *Item {
	return &Item{Type: deltafifo.Bookmark, id: identity{resourceVersion: strings.Clone(r.id.resourceVersion)}}
}
