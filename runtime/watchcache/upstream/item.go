// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/watchcache"
	"github.com/informer-gen/informer-gen/runtime/watchcache/internal/rawjson"
)

// item is an object on its way from the source into the cache. The source checks its metadata.
type item struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	// set once at construction
	apiVersion, kind string // of an object that has none, as in lists of built-in kinds
	fields           []string

	object *watchcache.Object
}

// UnmarshalJSON reads the object, and keeps a copy of its bytes.
func (i *item) UnmarshalJSON(data []byte) error {
	h, err := rawjson.Parse(data, i.fields)
	if err != nil {
		return err
	}
	if data, err = h.Stamp(data, i.apiVersion, i.kind); err != nil {
		return err
	}
	i.APIVersion, i.Kind = h.APIVersion, h.Kind
	i.Namespace, i.Name, i.UID = h.Namespace, h.Name, types.UID(h.UID)
	if h.Version > 0 {
		i.ResourceVersion = strconv.FormatUint(h.Version, 10)
	}
	i.object = &watchcache.Object{
		Key:     object.KeyOf(i).String(),
		UID:     h.UID,
		Version: h.Version,
		Labels:  watchcache.PairsOf(h.Labels),
		Fields:  watchcache.PairsOf(h.Fields),
		Bytes:   data,
	}
	return nil
}

// DeepCopyObject returns a shallow copy, since nothing changes what an item refers to.
func (i *item) DeepCopyObject() runtime.Object {
	c := *i
	return &c
}
