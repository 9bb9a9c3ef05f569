// SPDX-License-Identifier: Apache-2.0

package object_test

import (
	"reflect"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// identity has the four mandatory fields of a projection.
type identity struct {
	object.NoMeta
	name, namespace, version string
	uid                      types.UID
}

func (i *identity) GetName() string                   { return i.name }
func (i *identity) SetName(name string)               { i.name = name }
func (i *identity) GetNamespace() string              { return i.namespace }
func (i *identity) SetNamespace(namespace string)     { i.namespace = namespace }
func (i *identity) GetUID() types.UID                 { return i.uid }
func (i *identity) SetUID(uid types.UID)              { i.uid = uid }
func (i *identity) GetResourceVersion() string        { return i.version }
func (i *identity) SetResourceVersion(version string) { i.version = version }

// withLabels also has labels.
type withLabels struct {
	identity
	labels map[string]string
}

func (l *withLabels) GetLabels() map[string]string       { return l.labels }
func (l *withLabels) SetLabels(labels map[string]string) { l.labels = labels }

// TestNoMeta calls each setter of metav1.Object and its getter. Only fields of the projection may
// change.
func TestNoMeta(t *testing.T) {
	has := map[string]bool{"Name": true, "Namespace": true, "UID": true, "ResourceVersion": true, "Labels": true}
	obj := reflect.ValueOf(metav1.Object(&withLabels{}))
	methods := reflect.TypeFor[metav1.Object]()
	getters := 0
	for m := range methods.Methods() {
		field, ok := strings.CutPrefix(m.Name, "Get")
		if !ok {
			continue
		}
		getters++
		value := reflect.New(m.Type.Out(0)).Elem()
		fill(value)
		obj.MethodByName("Set" + field).Call([]reflect.Value{value})
		got := obj.MethodByName(m.Name).Call(nil)[0]
		if has[field] && !reflect.DeepEqual(got.Interface(), value.Interface()) {
			t.Errorf("%s() = %v after Set%s(%v)", m.Name, got, field, value)
		}
		if !has[field] && !got.IsZero() {
			t.Errorf("%s() = %v for a missing field, want the zero value", m.Name, got)
		}
	}
	if getters != methods.NumMethod()/2 {
		t.Errorf("metav1.Object has %d getters among %d methods, want half", getters, methods.NumMethod())
	}
}

// fill sets v to a value other than zero.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Int64:
		v.SetInt(7)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
	case reflect.Struct: // metav1.Time
		v.Set(reflect.ValueOf(metav1.Unix(1, 0)))
	}
}

// TestNoMetaAloneIsNoObject checks that the mandatory fields are mandatory.
func TestNoMetaAloneIsNoObject(t *testing.T) {
	if _, ok := any(struct{ object.NoMeta }{}).(metav1.Object); ok {
		t.Error("a struct without a name implements metav1.Object")
	}
	if size := reflect.TypeFor[object.NoMeta]().Size(); size != 0 {
		t.Errorf("NoMeta has %d bytes, want 0", size)
	}
}
