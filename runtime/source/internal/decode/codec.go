// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source/internal/dropped"
)

// Codec holds the type of a resource's objects and the decoders of each format. All streams of a
// source share it, and so do sources that differ in their namespaces only. It is safe for use by
// several goroutines.
type Codec struct {
	// Set once at construction.
	gvr        schema.GroupVersionResource
	apiVersion string // of gvr
	kind       string // the kind that is expected; "" accepts the server's
	stampAs    string // the apiVersion that objects carry, shared by all of them
	partial    bool   // objects are *metav1.PartialObjectMetadata, asked for as such
	untyped    bool   // objects hold their content as a map
	protobuf   bool   // objects can be decoded from protobuf
	drop       dropped.Parts
	shard      *shard
	newObject  func() object.Object
	elem       reflect.Type // what objects point to
	// plain: new objects are zero values of elem, as the fast decoders need them
	plain bool
	// exotic: objects are decoded from JSON by sigs.k8s.io/json, if not in the fast way
	exotic bool
	cbor   runtime.Decoder // of typed objects
	tuning tuning

	// The atomics synchronize themselves.
	pools  decoderPools
	warned atomic.Bool // the change of a shared part was logged
}

// The kinds and the apiVersion of objects that are metadata only.
const (
	metadataKind       = "PartialObjectMetadata"
	metadataListKind   = "PartialObjectMetadataList"
	metadataAPIVersion = "meta.k8s.io/v1"
)

// New returns the codec of the objects that opts describe. It fails if NewObject returns nil or
// something other than a pointer, and if ShardSelector is invalid.
func New(opts Options) (*Codec, error) {
	sample := opts.NewObject()
	if sample == nil || reflect.TypeOf(sample).Kind() != reflect.Pointer || reflect.ValueOf(sample).IsNil() {
		return nil, fmt.Errorf("NewObject returns %T; it has to return a new object, as in &v1.Pod{}", sample)
	}
	c := &Codec{
		gvr:        opts.Resource,
		apiVersion: opts.Resource.GroupVersion().String(),
		kind:       opts.Kind,
		protobuf:   isProtobuf(sample),
		drop:       dropped.New(opts.DropManagedFields, opts.DropAnnotations),
		newObject:  opts.NewObject,
		elem:       reflect.TypeOf(sample).Elem(),
		plain:      reflect.ValueOf(sample).Elem().IsZero(),
		tuning:     defaultTuning,
		pools:      newDecoderPools(),
	}
	var err error
	if c.shard, err = parseShard(opts.ShardSelector); err != nil {
		return nil, err
	}
	_, c.untyped = sample.(runtime.Unstructured)
	_, c.partial = sample.(*metav1.PartialObjectMetadata)
	c.stampAs = c.apiVersion
	switch {
	case c.partial && c.kind == "":
		c.stampAs = metadataAPIVersion
	case c.kind == "" && !c.untyped && !strings.Contains(c.elem.Name(), "["):
		c.kind = c.elem.Name()
	}
	c.exotic = !c.untyped && isExotic(c.elem, map[reflect.Type]bool{})
	c.cbor = newCBORDecoder(opts.NewObject)
	return c, nil
}

// Type returns the type of the objects, a pointer.
func (c *Codec) Type() reflect.Type { return reflect.PointerTo(c.elem) }

// Has reports whether the objects can be decoded from a format.
func (c *Codec) Has(f Format) bool { return f.Exists() && (f != Protobuf || c.protobuf) }

// SentAs returns the kind of meta.k8s.io/v1 that a server is to be asked to convert items to, of a
// list or of a watch; "" means none.
func (c *Codec) SentAs(list bool) string {
	switch {
	case !c.partial:
		return ""
	case list:
		return metadataListKind
	}
	return metadataKind
}

// identity is what the decoders read of every object: its kind, key and version.
type identity struct {
	apiVersion, kind string // as the server has sent them, or ""
	key              object.Key
	resourceVersion  string
}

// fresh returns a new object. fast reports whether the fast decoders can decode into it.
func (c *Codec) fresh() (obj object.Object, fast bool, err error) {
	if obj = c.newObject(); obj == nil {
		return nil, false, errNoNewObject
	}
	t := reflect.TypeOf(obj)
	return obj, c.plain && t.Kind() == reflect.Pointer && t.Elem() == c.elem, nil
}

var errNoNewObject = errors.New("NewObject returned nil; it has to return a new object at each call")

// read completes the identity of a typed object that was decoded with err.
func (c *Codec) read(obj object.Object, id identity, err error) (object.Object, identity, error) {
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

// readUntyped makes an untyped object of content.
func (c *Codec) readUntyped(content map[string]any, err error) (object.Object, identity, error) {
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

// readMeta reads the metadata of an object. Its accessors may panic: in a type whose metadata is a
// pointer they do if the server left the metadata out. Then the object has no name.
func readMeta(obj object.Object, id *identity) {
	defer func() { _ = recover() }()
	id.key = object.KeyOf(obj)
	id.resourceVersion = obj.GetResourceVersion()
}

func (c *Codec) wrongKind(apiVersion, kind string) error {
	want := c.kind
	if want == "" {
		want = "the kind of " + c.gvr.Resource
	}
	if apiVersion == "" {
		apiVersion = "?"
	}
	hint := "check the resource that the source was made for"
	if kind == "Table" {
		hint = "something between the client and the server asks for tables in the place of plain objects"
	}
	return fmt.Errorf("%w: got %s %s, want %s %s; %s", ErrWrongKind, apiVersion, kind, c.apiVersion, want, hint)
}

// stamp sets apiVersion and kind to the shared strings, so that no object keeps its own copies.
func (c *Codec) stamp(obj object.Object, kind string) {
	if u, ok := obj.(runtime.Unstructured); ok {
		content := u.UnstructuredContent()
		content["apiVersion"], content["kind"] = c.stampAs, kind
		return
	}
	switch k := obj.GetObjectKind().(type) {
	case *metav1.TypeMeta:
		k.APIVersion, k.Kind = c.stampAs, kind
	default:
		k.SetGroupVersionKind(schema.FromAPIVersionAndKind(c.stampAs, kind))
	}
}
