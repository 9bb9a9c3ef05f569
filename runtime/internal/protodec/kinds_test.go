// SPDX-License-Identifier: Apache-2.0

package protodec

import (
	"reflect"

	"k8s.io/client-go/kubernetes/scheme"
)

// message is what Kubernetes generates for its types.
type protoMessage interface {
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

// kinds returns the types of all kinds that Kubernetes serves as protobuf.
func kinds() []reflect.Type {
	seen := map[reflect.Type]bool{}
	var types []reflect.Type
	for _, t := range scheme.Scheme.AllKnownTypes() {
		_, ok := reflect.New(t).Interface().(protoMessage)
		if ok && !seen[t] && t.PkgPath() != "k8s.io/apimachinery/pkg/apis/meta/v1" {
			seen[t] = true
			types = append(types, t)
		}
	}
	return types
}
