// SPDX-License-Identifier: Apache-2.0

// Package object defines the API objects held by informers, and the keys that identify them.
//
// It starts no goroutine and never waits.
package object

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Object is an API object with metadata: the constraint on everything listed, watched and stored.
// The pointer types of Kubernetes' API packages and of every custom resource satisfy it.
//
// The readers of a store and its handlers share objects, and must not change them. DeepCopyObject
// returns a copy for changing.
type Object interface {
	metav1.Object
	runtime.Object
}

// Key identifies an object within one resource. Namespace is empty for cluster-scoped objects. Keys
// are comparable, so they can be map keys and work queue items.
type Key struct {
	Namespace string
	Name      string
}

// KeyOf returns the key of obj, which must not be nil.
func KeyOf(obj metav1.Object) Key {
	return Key{Namespace: obj.GetNamespace(), Name: obj.GetName()}
}

// ParseKey parses the format of [Key.String]: "namespace/name", or "name" for a cluster-scoped
// object. It fails on an empty part and on more than one slash.
func ParseKey(s string) (Key, error) {
	namespace, name, namespaced := strings.Cut(s, "/")
	if !namespaced {
		namespace, name = "", s
	}
	if name == "" || namespaced && namespace == "" || strings.Contains(name, "/") {
		return Key{}, fmt.Errorf("key %q: want \"namespace/name\" or \"name\"", s)
	}
	return Key{Namespace: namespace, Name: name}, nil
}

// String returns "namespace/name", or "name" for a cluster-scoped object.
func (k Key) String() string {
	if k.Namespace == "" {
		return k.Name
	}
	return k.Namespace + "/" + k.Name
}

// MarshalText returns k.String(): a Key is text in JSON, also as the key of a map.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText is the inverse of MarshalText, with the errors of [ParseKey]. Empty text is the
// zero Key.
func (k *Key) UnmarshalText(text []byte) (err error) {
	*k = Key{}
	if len(text) > 0 {
		*k, err = ParseKey(string(text))
	}
	return err
}
