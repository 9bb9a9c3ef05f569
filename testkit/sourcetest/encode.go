// SPDX-License-Identifier: Apache-2.0

package sourcetest

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

type encoding interface {
	contentType(watch bool) string
	object(runtime.Object) ([]byte, error)
	page(*Page) ([]byte, error)
	event(Event) ([]byte, error)
}

// listItem prepares a list item as API servers do: items of built-in kinds have no kind and
// apiVersion.
func (c *collection) listItem(item runtime.Object) runtime.Object {
	if item != nil && c.hasProtobuf && item.GetObjectKind().GroupVersionKind() == c.kind {
		item = item.DeepCopyObject()
		item.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	}
	return item
}

func (p *Page) meta() metav1.ListMeta {
	return metav1.ListMeta{ResourceVersion: p.ResourceVersion, Continue: p.Continue, RemainingItemCount: p.remaining}
}

type builtinList struct {
	Kind       string           `json:"kind"`
	APIVersion string           `json:"apiVersion"`
	Metadata   metav1.ListMeta  `json:"metadata"`
	Items      []runtime.Object `json:"items"`
}

// customList is the JSON of a list of custom resources, with kind and metadata behind the items.
type customList struct {
	APIVersion string           `json:"apiVersion"`
	Items      []runtime.Object `json:"items"`
	Kind       string           `json:"kind"`
	Metadata   metav1.ListMeta  `json:"metadata"`
}

type wireEvent struct {
	Type   string         `json:"type"`
	Object runtime.Object `json:"object"`
}

type jsonEncoding struct{ c *collection }

func (jsonEncoding) contentType(bool) string { return JSON }

func (jsonEncoding) object(obj runtime.Object) ([]byte, error) { return line(obj) }

func (e jsonEncoding) page(p *Page) ([]byte, error) {
	items := make([]runtime.Object, 0, len(p.Items))
	for _, item := range p.Items {
		items = append(items, e.c.listItem(item))
	}
	if e.c.hasProtobuf {
		return line(builtinList{p.Kind, p.APIVersion, p.meta(), items})
	}
	return line(customList{p.APIVersion, items, p.Kind, p.meta()})
}

func (jsonEncoding) event(e Event) ([]byte, error) { return line(wireEvent(e)) }

func line(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	return append(raw, '\n'), err
}
