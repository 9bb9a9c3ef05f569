// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/server/internal/rawjson"
	"github.com/informer-gen/informer-gen/server/protobuf"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

// item is an object on its way from the source into the cache. The source checks its metadata:
// name, uid and version, and in JSON also the kind.
type item struct {
	metav1.TypeMeta
	metav1.ObjectMeta `protobuf:"bytes,1,opt,name=metadata"` // the source wants a number

	reader reader // set once at construction
	object *watchcache.Object
}

// reader reads an object from its bytes, and keeps a copy of them.
type reader func(data []byte) (metav1.TypeMeta, *watchcache.Object, error)

// jsonReader returns a reader of JSON. It adds a missing kind, as in lists of built-in kinds.
func jsonReader(resource schema.GroupVersionResource, opts Options) (reader, error) {
	r, err := rawjson.NewReader(opts.Fields, opts.Drop)
	if err != nil {
		return nil, err
	}
	builtIn := protobuf.BuiltIn(resource.GroupVersion().WithKind(opts.Kind))
	bools := slices.DeleteFunc(slices.Clone(opts.Fields), func(field string) bool { return !builtIn[field].Bool })
	return func(data []byte) (kind metav1.TypeMeta, _ *watchcache.Object, err error) {
		h, err := r.Parse(data)
		if err != nil {
			return kind, nil, err
		}
		setFalse(&h, bools)
		if data, err = h.Stamp(data, resource.GroupVersion().String(), opts.Kind); err != nil {
			return kind, nil, err
		}
		kind.APIVersion, kind.Kind = h.APIVersion, h.Kind
		return kind, &watchcache.Object{
			Key:     object.Key{Namespace: h.Namespace, Name: h.Name}.String(),
			UID:     h.UID,
			Version: h.Version,
			Labels:  watchcache.PairsOf(h.Labels),
			Fields:  watchcache.PairsOf(h.Fields),
			Bytes:   data,
		}, nil
	}, nil
}

// setFalse sets fields omitted from the JSON of a built-in kind because they are false.
func setFalse(h *rawjson.Header, bools []string) {
	for _, field := range bools {
		if _, ok := h.Fields[field]; ok {
			continue
		}
		if h.Fields == nil {
			h.Fields = map[string]string{}
		}
		h.Fields[field] = "false"
	}
}

func protobufReader(opts Options) (reader, error) {
	r, err := protobuf.NewReader(opts.Protobuf, opts.Fields, opts.Drop)
	if err != nil {
		return nil, err
	}
	return func(data []byte) (metav1.TypeMeta, *watchcache.Object, error) {
		o, err := r.Read(data)
		return metav1.TypeMeta{}, o, err
	}, nil
}

// UnmarshalJSON reads the object from JSON.
func (i *item) UnmarshalJSON(data []byte) error { return i.unmarshal(data) }

// Unmarshal reads the object from protobuf. The source calls it on a zero item, to see whether the
// type supports protobuf.
func (i *item) Unmarshal(data []byte) (err error) {
	if i.reader == nil {
		if i.reader, err = protobufReader(Options{}); err != nil {
			return err
		}
	}
	return i.unmarshal(data)
}

func (i *item) unmarshal(data []byte) (err error) {
	if i.TypeMeta, i.object, err = i.reader(data); err != nil {
		return err
	}
	i.Namespace, i.Name, i.UID = i.object.Namespace(), i.object.Name(), types.UID(i.object.UID)
	if i.object.Version > 0 {
		i.ResourceVersion = strconv.FormatUint(i.object.Version, 10)
	}
	return nil
}

// Marshal returns the object's bytes. Like Reset, it exists because the source expects all methods
// of Kubernetes' types.
func (i *item) Marshal() ([]byte, error) { return i.object.Bytes, nil }

// Reset empties the item.
func (i *item) Reset() { *i = item{reader: i.reader} }

// DeepCopyObject returns a shallow copy, since an item's referents never change.
func (i *item) DeepCopyObject() runtime.Object {
	c := *i
	return &c
}
