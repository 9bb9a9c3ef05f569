// SPDX-License-Identifier: Apache-2.0

package storagesuite

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/apis/example"
	examplev1 "k8s.io/apiserver/pkg/apis/example/v1"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/value"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

// record is the stored form of a pod. The suites store pods under keys that don't fit their names,
// and change their names and uids, which no API allows. So a record's metadata comes from the key,
// and the pod is a value inside. Selectors see only fields outside of the pod.
type record struct {
	Metadata metadata `json:"metadata"`
	Spec     spec     `json:"spec"`
	Pod      []byte   `json:"pod"` // written by the store's transformer
}

type metadata struct {
	Namespace       string            `json:"namespace,omitempty"`
	Name            string            `json:"name"`
	ResourceVersion string            `json:"resourceVersion,omitempty"`
	Labels          map[string]string `json:"labels,omitempty"`
}

type spec struct {
	NodeName string `json:"nodeName,omitempty"`
}

// nodeName is the field in the suites' selectors.
const nodeName = "spec.nodeName"

// resource is the prefix of all pods' keys.
const resource = "/pods/"

// split returns the namespace and the name for a key. A name is never empty.
func split(key string) (namespace, name string) {
	rest := strings.TrimPrefix(key, resource)
	namespace, name, ok := strings.Cut(rest, "/")
	if !ok {
		namespace, name = "", rest
	}
	return namespace, cmp.Or(name, ".")
}

// cacheKey returns the cache's key for a key of the suites.
func cacheKey(key string) string {
	namespace, name := split(key)
	return object.Key{Namespace: namespace, Name: name}.String()
}

// codec is the codec of the pods.
var codec = func() runtime.Codec {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, metav1.SchemeGroupVersion)
	utilruntime.Must(example.AddToScheme(scheme))
	utilruntime.Must(examplev1.AddToScheme(scheme))
	return serializer.NewCodecFactory(scheme).LegacyCodec(examplev1.SchemeGroupVersion)
}()

// encode encodes a pod without its version.
func encode(obj runtime.Object) ([]byte, error) {
	obj = obj.DeepCopyObject()
	if err := (storage.APIObjectVersioner{}).PrepareObjectForStorage(obj); err != nil {
		return nil, err
	}
	return runtime.Encode(codec, obj)
}

// decode decodes a pod and sets its version.
func decode(data []byte, version uint64, into runtime.Object) error {
	if into == nil { // the caller doesn't need the pod
		return nil
	}
	if err := runtime.SetZeroValue(into); err != nil {
		return err
	}
	if err := runtime.DecodeInto(codec, data, into); err != nil {
		return storage.NewInternalError(err)
	}
	return storage.APIObjectVersioner{}.UpdateObject(into, version)
}

// seal returns the record of a pod; data is the pod in encoded form. version is the version of the
// replaced record, or 0 for none.
func (s *store) seal(ctx context.Context, key string, pod *example.Pod, data []byte, version uint64) ([]byte, error) {
	stored, err := s.transformer().TransformToStorage(ctx, data, value.DefaultContext(key))
	if err != nil {
		return nil, storage.NewInternalError(err)
	}
	r := record{Spec: spec{pod.Spec.NodeName}, Pod: stored}
	r.Metadata.Labels = pod.Labels
	r.Metadata.Namespace, r.Metadata.Name = split(key)
	if version != 0 {
		r.Metadata.ResourceVersion = strconv.FormatUint(version, 10)
	}
	return json.Marshal(r)
}

// open returns the encoded pod in a record. It is stale if the transformer would write it in
// another form.
func (s *store) open(ctx context.Context, o *watchcache.Object) (data []byte, stale bool, err error) {
	var r record
	if err := json.Unmarshal(o.Bytes, &r); err != nil {
		return nil, false, err
	}
	key := resource + o.Key
	data, stale, err = s.transformer().TransformFromStorage(ctx, r.Pod, value.DefaultContext(key))
	if err != nil {
		return nil, false, storage.NewInternalError(fmt.Errorf("unable to transform key %q: %w", key, err))
	}
	return data, stale, nil
}

// read decodes the pod in a record into into, and sets its version.
func (s *store) read(ctx context.Context, o *watchcache.Object, version uint64, into runtime.Object) error {
	data, _, err := s.open(ctx, o)
	if err != nil {
		return err
	}
	return decode(data, version, into)
}
