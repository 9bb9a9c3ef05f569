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

// identity has the four fields that a projection always has.
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

// labelled has one more.
type labelled struct {
	identity
	labels map[string]string
}

func (l *labelled) GetLabels() map[string]string       { return l.labels }
func (l *labelled) SetLabels(labels map[string]string) { l.labels = labels }

// TestNoMeta calls each setter of metav1.Object, and then each getter: only the fields that are
// there have changed.
func TestNoMeta(t *testing.T) {
	has := map[string]bool{"Name": true, "Namespace": true, "UID": true, "ResourceVersion": true, "Labels": true}
	obj := reflect.ValueOf(metav1.Object(&labelled{}))
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
			t.Errorf("%s returns %v after Set%s(%v)", m.Name, got, field, value)
		}
		if !has[field] && !got.IsZero() {
			t.Errorf("%s returns %v of a field that there isn't", m.Name, got)
		}
	}
	if getters != methods.NumMethod()/2 {
		t.Errorf("%d getters of %d methods", getters, methods.NumMethod())
	}
}

// fill sets v to something that isn't zero.
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

// TestNoMetaIsNoObjectByItself: what every object needs has to be there.
func TestNoMetaIsNoObjectByItself(t *testing.T) {
	if _, ok := any(struct{ object.NoMeta }{}).(metav1.Object); ok {
		t.Error("a struct without a name is an object")
	}
	if size := reflect.TypeFor[object.NoMeta]().Size(); size != 0 {
		t.Errorf("NoMeta has %d bytes", size)
	}
}
