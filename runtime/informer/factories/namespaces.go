// SPDX-License-Identifier: Apache-2.0

package factories

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/engine"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/intake"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/settings"
	"github.com/informer-gen/informer-gen/runtime/object"
)

var namespaceResource = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}

// namespacesLocked returns the informer of the namespaces that match a selector; "" matches all. It
// is shared by
// the members with that selector, which keep it running, and is freed with the last of them.
func (f *Factory) namespacesLocked(selector string) (*engine.Informer, error) {
	for _, m := range f.order {
		if m.namespaces != nil && m.key.NamespaceSelector == selector {
			return m.namespaces, nil
		}
	}
	s := settings.Default()
	s.ObjectType, s.LabelSelector = metadataType, selector
	s.Transform, s.DropManagedFields, s.EmptyBeforeSync = keepName, true, true
	s.Tuning, s.Formats = f.settings.Tuning, f.settings.Formats
	s.OnError, s.Logger, s.Metrics = f.settings.OnError, f.settings.Logger, f.settings.Metrics
	newSource, err := sourceIn(&s, f.client, namespaceResource)
	if err != nil {
		return nil, err
	}
	all, err := newSource("")
	if err != nil {
		return nil, err
	}
	name := "namespaces"
	if selector != "" {
		name += " matching " + selector
	}
	return s.NewEngine(name, nil, intake.StreamConfig{Source: all})
}

// keepName is a transform that drops what identifies no object.
func keepName(obj object.Object) (object.Object, error) {
	namespace := obj.(*metav1.PartialObjectMetadata)
	namespace.ObjectMeta = metav1.ObjectMeta{Name: namespace.Name, UID: namespace.UID, ResourceVersion: namespace.ResourceVersion}
	return namespace, nil
}
