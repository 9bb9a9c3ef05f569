// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// setItems makes objs the items of list. It is meta.SetList without its checks for each item, if
// the items are structs or pointers of the objects' type.
func setItems(list client.ObjectList, objs []object.Object) error {
	items, err := meta.GetItemsPtr(list)
	if err != nil {
		return err
	}
	to := reflect.ValueOf(items).Elem()
	itemType := to.Type().Elem()
	made := reflect.MakeSlice(to.Type(), len(objs), len(objs))
	for i, obj := range objs {
		switch from := reflect.ValueOf(obj); {
		case from.Type() == itemType:
			made.Index(i).Set(from)
		case from.Type().Elem() == itemType:
			made.Index(i).Set(from.Elem())
		default:
			return setUnusualItems(list, objs)
		}
	}
	to.Set(made)
	return nil
}

func setUnusualItems(list client.ObjectList, objs []object.Object) error {
	generic := make([]runtime.Object, len(objs))
	for i, obj := range objs {
		generic[i] = obj
	}
	return meta.SetList(list, generic)
}
