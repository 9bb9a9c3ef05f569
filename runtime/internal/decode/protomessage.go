// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/internal/gotype"
	"github.com/informer-gen/informer-gen/runtime/internal/protowire"
	"github.com/informer-gen/informer-gen/runtime/object"
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
		if number(f) == 0 && f.Type != reflect.TypeFor[metav1.TypeMeta]() && f.IsExported() {
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

// isProtobufProjection reports whether a projection, which has no methods, can be decoded by the
// numbers of its fields: all have one, and the fast decoder knows their types.
func (c *Codec) isProtobufProjection() bool {
	program := c.protoProgram()
	return c.plain && program != nil && program.IsComplete()
}

// number returns the number that the tag of a field has, or 0.
func number(f reflect.StructField) int {
	_, n, _ := gotype.ProtobufTag(f)
	return n
}

// malformed wraps an error of a generated Unmarshal method. An EOF of that method is not the end of
// the stream, so it is hidden.
func malformed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: protobuf: %v", ErrMalformed, err)
}
