// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
	"github.com/informer-gen/informer-gen/runtime/internal/share"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// TestSubstringsAreCloned adopts strings cut from a longer one, which the copy must not keep alive.
func TestSubstringsAreCloned(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	within := func(s string) bool {
		from, at := uintptr(layout.Data(long)), uintptr(layout.Data(s))
		return from <= at && at < from+uintptr(len(long))
	}
	for _, size := range []int{10, 256, 257, 1000, maxText - 1, maxText, 100_000} {
		cut := long[10 : 10+size]
		made := map[string]object.Object{
			"typed": &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"a": cut}}, Data: map[string]string{"b": cut}},
		}
		if size > layout.MaxShort {
			made["untyped"] = &unstructured.Unstructured{Object: map[string]any{
				"metadata": map[string]any{"annotations": map[string]any{"a": cut}}, "data": map[string]any{"b": cut}, "list": []any{cut},
			}}
		}
		for name, obj := range made {
			t.Run(fmt.Sprint(name, size), func(t *testing.T) {
				v := reflect.ValueOf(obj)
				adopter := ProgramOf(v.Type().Elem()).NewAdopter(share.New(1 << 20))
				for range 3 { // the third copy may share parts
					got := reflect.NewAt(v.Type().Elem(), adopter.Adopt(v.UnsafePointer())).Interface().(object.Object)
					texts := []string{got.GetAnnotations()["a"]}
					switch got := got.(type) {
					case *corev1.ConfigMap:
						texts = append(texts, got.Data["b"])
					case *unstructured.Unstructured:
						texts = []string{
							got.Object["metadata"].(map[string]any)["annotations"].(map[string]any)["a"].(string),
							got.Object["data"].(map[string]any)["b"].(string), got.Object["list"].([]any)[0].(string),
						}
					}
					for _, text := range texts {
						if text != cut || within(text) {
							t.Errorf("copy of %d bytes: equal %v, within the long string %v", len(text), text == cut, within(text))
						}
					}
				}
			})
		}
	}
}
