// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"errors"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/object"
)

const (
	metadataKind       = "PartialObjectMetadata"
	metadataListKind   = "PartialObjectMetadataList"
	metadataAPIVersion = "meta.k8s.io/v1"
)

type identity struct {
	apiVersion, kind string // as sent by the server, or ""
	key              object.Key
	resourceVersion  string
}

func (c *Codec) create() (obj object.Object, fast bool, err error) {
	if obj = c.newObject(); obj == nil {
		return nil, false, errNoNewObject
	}
	t := reflect.TypeOf(obj)
	return obj, c.newIsZero && t.Kind() == reflect.Pointer && t.Elem() == c.elem, nil
}

var errNoNewObject = errors.New("NewObject returned nil; it must return a new object at each call")

func (c *Codec) identify(obj object.Object, id identity, err error) (object.Object, identity, error) {
	if id.apiVersion == "" && id.kind == "" {
		switch k := obj.GetObjectKind().(type) {
		case *metav1.TypeMeta:
			id.apiVersion, id.kind = k.APIVersion, k.Kind
		default:
			id.apiVersion, id.kind = k.GroupVersionKind().ToAPIVersionAndKind()
		}
	}
	readMeta(obj, &id)
	return obj, id, err
}

func (c *Codec) createUntyped(content map[string]any, err error) (object.Object, identity, error) {
	var id identity
	obj := c.newObject()
	if obj == nil {
		return nil, id, errNoNewObject
	}
	obj.(runtime.Unstructured).SetUnstructuredContent(content)
	id.apiVersion, _ = content["apiVersion"].(string)
	id.kind, _ = content["kind"].(string)
	readMeta(obj, &id)
	return obj, id, err
}

// readMeta reads the metadata of an object. Its accessors may panic, as in a type whose metadata is
// a pointer if the server left the metadata out. Then the object has no name.
func readMeta(obj object.Object, id *identity) {
	defer func() { _ = recover() }()
	id.key = object.KeyOf(obj)
	id.resourceVersion = obj.GetResourceVersion()
}

// expectedKind returns the kind of the objects, or "" if it is not known yet.
func (c *Codec) expectedKind() string {
	if c.kind == "" {
		if kind := c.learnedKind.Load(); kind != nil {
			return *kind
		}
	}
	return c.kind
}

// learn takes kind as that of all objects from now on, and returns true, if the resource is its
// usual plural. A custom resource may have another plural, so its kind is never certain.
func (c *Codec) learn(kind string) bool {
	if kind == "" {
		return false
	}
	if plural, _ := meta.UnsafeGuessKindToResource(c.gvr.GroupVersion().WithKind(kind)); plural != c.gvr {
		return false
	}
	c.learnedKind.Store(&kind)
	return true
}

func (c *Codec) wrongKind(apiVersion, kind string) error {
	want := c.expectedKind()
	if want == "" {
		want = "the kind of " + c.gvr.Resource
	}
	if apiVersion == "" {
		apiVersion = "?"
	}
	hint := "check the resource of the source"
	if kind == "Table" {
		hint = "a proxy between the client and the server seems to request tables instead of objects"
	}
	return fmt.Errorf("%w: got %s %s, want %s %s; %s", ErrWrongKind, apiVersion, kind, c.apiVersion, want, hint)
}

// Stamped returns obj if it has an apiVersion and a kind, or else a copy with those of the codec's
// objects. It fails for an untyped object without a kind, because that can't be guessed.
func (c *Codec) Stamped(obj object.Object) (object.Object, error) {
	apiVersion, kind := obj.GetObjectKind().GroupVersionKind().ToAPIVersionAndKind()
	if apiVersion != "" && kind != "" {
		return obj, nil
	}
	if kind == "" {
		kind = c.kind
	}
	if kind == "" {
		return nil, fmt.Errorf("the %T has no kind; set it, or Options.Kind", obj)
	}
	stamped := obj.DeepCopyObject().(object.Object)
	stamped.GetObjectKind().SetGroupVersionKind(c.gvr.GroupVersion().WithKind(kind))
	return stamped, nil
}

func (c *Codec) setKind(obj object.Object, kind string) {
	if u, ok := obj.(runtime.Unstructured); ok {
		content := u.UnstructuredContent()
		content["apiVersion"], content["kind"] = c.objectAPIVersion, kind
		return
	}
	switch k := obj.GetObjectKind().(type) {
	case *metav1.TypeMeta:
		k.APIVersion, k.Kind = c.objectAPIVersion, kind
	default:
		k.SetGroupVersionKind(schema.FromAPIVersionAndKind(c.objectAPIVersion, kind))
	}
}
