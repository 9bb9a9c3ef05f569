// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"fmt"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source/internal/protowire"
)

// protoMessage has the methods that Kubernetes generates for its types. Unmarshal doesn't keep its
// argument.
type protoMessage interface {
	Reset()
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

// isProtobuf reports whether objects of the type of sample can be decoded from Kubernetes'
// protobuf. Having the methods is not enough, because a type gets the methods of a struct that it
// embeds. So every field must have a number, and the methods must decode the whole object, not a
// part of it.
func isProtobuf(sample object.Object) bool {
	if _, ok := sample.(protoMessage); !ok {
		return false
	}
	t := reflect.TypeOf(sample).Elem()
	if t.Kind() != reflect.Struct {
		return false
	}
	for f := range t.Fields() {
		number := strings.Contains(f.Tag.Get("protobuf"), ",")
		if !number && f.Type != reflect.TypeFor[metav1.TypeMeta]() && f.IsExported() {
			return false
		}
	}
	meta := metav1.ObjectMeta{Name: "name", ResourceVersion: "1"}
	raw, err := meta.Marshal()
	if err != nil {
		return false
	}
	probe := reflect.New(t).Interface().(protoMessage)
	if err := probe.Unmarshal(protowire.AppendBytes(nil, 1, raw)); err != nil {
		return false
	}
	obj := probe.(object.Object)
	return obj.GetName() == meta.Name && obj.GetResourceVersion() == meta.ResourceVersion
}

// malformed wraps an error of a generated Unmarshal method. An EOF of that method is not the end of
// the stream, so it is hidden.
func malformed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: protobuf: %v", ErrMalformed, err)
}
