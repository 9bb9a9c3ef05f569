// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/runtime/internal/podtest"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// heapOf returns the heap bytes kept alive by the result of do.
func heapOf[T any](do func() T) int {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&before)
	kept := do()
	for range 3 { // pools are empty after two
		runtime.GC()
	}
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(kept)
	return int(after.HeapAlloc) - int(before.HeapAlloc)
}

// readerOf returns a reader of body for a type of any kind.
func readerOf[T object.Object](t testing.TB, f Format, body []byte) *reader[T] {
	t.Helper()
	elem := reflect.TypeFor[T]().Elem()
	r := newReader(t, f, body, func() T { return reflect.New(elem).Interface().(T) }, Options{})
	r.codec.kind = ""
	return r
}

// listPicked lists objects and returns the result of pick for each.
func listPicked[T object.Object, K any](t testing.TB, s *reader[T], promises Promises, pick func(T) K) []K {
	var kept []K
	if _, err := s.List(context.Background(), promises, func(obj T) error { kept = append(kept, pick(obj)); return nil }); err != nil {
		t.Fatal(err)
	}
	return kept
}

type identityStrings struct {
	key             types.NamespacedName
	uid             types.UID
	resourceVersion string
	label, text     string
}

func stringsOf[T object.Object](obj T) identityStrings {
	return identityStrings{
		types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()}, obj.GetUID(), obj.GetResourceVersion(),
		obj.GetLabels()["label"], obj.GetAnnotations()["short"],
	}
}

// TestKeptStringsOfLargeObjects keeps short strings of objects that have large texts or very many
// strings.
func TestKeptStringsOfLargeObjects(t *testing.T) {
	const n = 40
	large, many := corev1.ConfigMapList{}, corev1.ConfigMapList{}
	for i := range n {
		c := corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Namespace: fmt.Sprint("namespace-", i), Name: fmt.Sprint("name-", i), UID: types.UID(fmt.Sprint("uid-", i)), ResourceVersion: fmt.Sprint(1000 + i),
			Labels: map[string]string{"label": fmt.Sprint("label-", i)}, Annotations: map[string]string{"short": fmt.Sprint("short-", i)},
		}}
		c.Data = map[string]string{"text": strings.Repeat("large text\n", 50_000)}
		c.Annotations["long"] = strings.Repeat("plain", 1000)
		large.Items = append(large.Items, c)
		c.Data = map[string]string{}
		for k := range 1000 {
			c.Data[fmt.Sprint("key ", i, " ", k)] = fmt.Sprintf("text %d of %d, which has a hundred bytes or so: %s", k, i, strings.Repeat("x", 60))
		}
		delete(c.Annotations, "long")
		many.Items = append(many.Items, c)
	}
	for name, list := range map[string]*corev1.ConfigMapList{"large": &large, "many": &many} {
		list.APIVersion, list.Kind, list.ResourceVersion = "v1", "ConfigMapList", "5000"
		for _, f := range allFormats {
			body := podtest.Encode(t, f, list)
			for _, readOnly := range []bool{true, false} {
				s := readerOf[*corev1.ConfigMap](t, f, body)
				got := heapOf(func() []identityStrings {
					return listPicked(t, s, Promises{ReadOnly: readOnly}, stringsOf[*corev1.ConfigMap])
				})
				// at most a block of short strings per object, and the codec's own memory
				if t.Logf("%s, %v, read-only %v: %d bytes", name, f, readOnly, got); got > n*4<<10+1_200_000 {
					t.Errorf("%s, %v, read-only %v: short strings of %d objects keep %d bytes", name, f, readOnly, n, got)
				}
			}
		}
		s := readerOf[*unstructured.Unstructured](t, JSON, podtest.Encode(t, JSON, list))
		got := heapOf(func() []identityStrings {
			return listPicked(t, s, Promises{}, stringsOf[*unstructured.Unstructured])
		})
		if t.Logf("%s, untyped: %d bytes", name, got); got > n*4<<10+1_200_000 {
			t.Errorf("%s, untyped: short strings of %d objects keep %d bytes", name, n, got)
		}
		runtime.KeepAlive(s)
	}
}

// TestDecoderKeepsNoBuffer decodes a large object.
func TestDecoderKeepsNoBuffer(t *testing.T) {
	body := podtest.Encode(t, JSON, &corev1.ConfigMapList{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMapList"}, ListMeta: metav1.ListMeta{ResourceVersion: "1"},
		Items: []corev1.ConfigMap{{ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: "1"}, Data: map[string]string{"text": strings.Repeat("x", 8<<20)}}},
	})
	typed, untyped := readerOf[*corev1.ConfigMap](t, JSON, body), readerOf[*unstructured.Unstructured](t, JSON, body)
	for name, list := range map[string]func() []int{
		"typed": func() []int { return listPicked(t, typed, Promises{}, func(*corev1.ConfigMap) int { return 1 }) },
		"untyped": func() []int {
			return listPicked(t, untyped, Promises{}, func(*unstructured.Unstructured) int { return 1 })
		},
	} {
		if got := heapOf(list); got > 1<<20 {
			t.Errorf("%s: the codec keeps %d bytes, want at most %d", name, got, 1<<20)
		}
	}
	runtime.KeepAlive(typed)
	runtime.KeepAlive(untyped)
}

// TestKeptNames keeps the names and namespaces of dropped Pods, as a work queue does, and compares
// the memory with that of apimachinery's decoders.
func TestKeptNames(t *testing.T) {
	pods := corev1.PodList{}
	for i := range 1000 {
		p := *podtest.LargeObject(t, i)
		p.Name = fmt.Sprintf("web-%x-%05d", i/50*7919, i)
		p.Namespace = fmt.Sprint("team-", i/100)
		p.ResourceVersion = fmt.Sprint(1 + i)
		pods.Items = append(pods.Items, p)
	}
	for _, f := range allFormats {
		pods.APIVersion, pods.Kind, pods.ResourceVersion = "v1", "PodList", "5000"
		body := podtest.Encode(t, f, &pods)
		key := func(p *corev1.Pod) types.NamespacedName {
			return types.NamespacedName{Namespace: p.Namespace, Name: p.Name}
		}
		peer := heapOf(func() (kept []types.NamespacedName) {
			theirs := podtest.DecodeList(t, f, body)
			kept = make([]types.NamespacedName, 0, len(theirs))
			for i := range theirs {
				kept = append(kept, key(&theirs[i]))
			}
			return kept
		})
		for _, readOnly := range []bool{true, false} {
			list := func() []types.NamespacedName { // the codec is dropped, too
				kept := make([]types.NamespacedName, 0, len(pods.Items))
				s := readerOf[*corev1.Pod](t, f, body)
				listPicked(t, s, Promises{ReadOnly: readOnly}, func(p *corev1.Pod) bool { kept = append(kept, key(p)); return true })
				return kept
			}
			list() // compiles programs, which the process keeps
			got := heapOf(list)
			if t.Logf("%v, read-only %v: %d bytes, apimachinery's %d", f, readOnly, got/len(pods.Items), peer/len(pods.Items)); float64(got) > 1.2*float64(peer) {
				t.Errorf("%v, read-only %v: names keep %d bytes, want at most 1.2 times apimachinery's %d", f, readOnly, got, peer)
			}
		}
	}
}
