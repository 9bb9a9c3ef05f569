// SPDX-License-Identifier: Apache-2.0

package server

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-gen/informer-gen/bench/data"
)

type rendering interface {
	contentType(watch bool) string
	// item returns an object in a list, and event one in a watch. separator is the number of bytes
	// between two items.
	item(runtime.Object) ([]byte, error)
	separator() int64
	event(watch.EventType, runtime.Object) ([]byte, error)
	// head and tail surround the items of a list, which have so many bytes.
	head(meta metav1.ListMeta, itemBytes int64) []byte
	tail(meta metav1.ListMeta) []byte
	// bookmark ends the initial events of a watch-list.
	bookmark(resourceVersion string) ([]byte, error)
}

func newRendering(k data.Kind, protobuf bool) rendering {
	if protobuf {
		return protobufRendering{k}
	}
	return jsonRendering{k}
}

// initialEventsEnd returns the object of that bookmark, without other fields.
func initialEventsEnd(k data.Kind, resourceVersion string) (runtime.Object, error) {
	obj := runtime.Object(&metav1.PartialObjectMetadata{})
	if k.BuiltIn {
		var err error
		if obj, err = data.Scheme.New(k.GVK()); err != nil {
			return nil, err
		}
	}
	obj.GetObjectKind().SetGroupVersionKind(k.GVK())
	to, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	to.SetResourceVersion(resourceVersion)
	to.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	return obj, nil
}

func expired() *metav1.Status {
	return &metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Code: 410, Reason: metav1.StatusReasonExpired, Message: "too old resource version",
	}
}
