// SPDX-License-Identifier: Apache-2.0

package sourcetest

import (
	"fmt"
	"maps"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/informer-gen/informer-gen/internal/request"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// nameLocked names an object that has only a generateName. The name is short enough for a label.
func (c *collection) nameLocked(obj object.Object) {
	c.server.uids++
	if base := obj.GetGenerateName(); obj.GetName() == "" && base != "" {
		suffix := fmt.Sprintf("%05d", c.server.uids)
		obj.SetName(base[:min(len(base), validation.LabelValueMaxLength-len(suffix))] + suffix)
	}
}

// initLocked sets a new object's uid and creationTimestamp, after nameLocked.
func (c *collection) initLocked(obj object.Object) {
	obj.SetUID(types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", c.server.uids)))
	obj.SetCreationTimestamp(metav1.Now().Rfc3339Copy())
}

// keepImmutable copies fields that updates can't change from old to obj, and sets the generation.
func (c *collection) keepImmutable(obj, old object.Object) {
	obj.SetDeletionTimestamp(nil)
	obj.SetDeletionGracePeriodSeconds(nil)
	request.Keep(obj, old, c.hasGeneration && c.differ(obj, old))
}

// differ reports whether two objects differ outside of metadata, and outside of a status with a
// subresource. Such a change raises the generation.
func (c *collection) differ(a, b object.Object) bool {
	if a, ok := a.(*unstructured.Unstructured); ok {
		x, y := maps.Clone(a.Object), maps.Clone(b.(*unstructured.Unstructured).Object)
		for _, content := range []map[string]any{x, y} {
			delete(content, "metadata")
			if !c.withoutStatus {
				delete(content, "status")
			}
		}
		return !equality.Semantic.DeepEqual(x, y)
	}
	x, y := reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem()
	for i := range c.elem.NumField() {
		f := c.elem.Field(i)
		switch {
		case !f.IsExported(), f.Type == reflect.TypeFor[metav1.TypeMeta](), f.Type == reflect.TypeFor[metav1.ObjectMeta](),
			i == c.status && !c.withoutStatus:
		case !equality.Semantic.DeepEqual(x.Field(i).Interface(), y.Field(i).Interface()):
			return true
		}
	}
	return false
}

func (c *collection) hasStatus() bool {
	return !c.withoutStatus && (c.status >= 0 || c.elem == reflect.TypeFor[unstructured.Unstructured]())
}

func (c *collection) setStatus(obj, from object.Object) {
	if obj, ok := obj.(*unstructured.Unstructured); ok {
		delete(obj.Object, "status")
		if from == nil {
			return
		}
		if status, ok := from.(*unstructured.Unstructured).Object["status"]; ok {
			obj.Object["status"] = status
		}
		return
	}
	field := reflect.ValueOf(obj).Elem().Field(c.status)
	if from == nil {
		field.SetZero()
		return
	}
	field.Set(reflect.ValueOf(from).Elem().Field(c.status))
}

func fieldOf(t reflect.Type, name string) int {
	for i := range t.NumField() {
		if tag, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); tag == name {
			return i
		}
	}
	return -1
}

// pathSegment returns the reasons why a name, or the beginning of one if prefix is set, can't be
// part of a request's path.
func pathSegment(name string, prefix bool) []string {
	var errs []string
	if !prefix && (name == "." || name == "..") {
		errs = append(errs, fmt.Sprintf("may not be '%s'", name))
	}
	for _, part := range []string{"/", "%"} {
		if strings.Contains(name, part) {
			errs = append(errs, fmt.Sprintf("may not contain '%s'", part))
		}
	}
	return errs
}
