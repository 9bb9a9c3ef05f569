// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/internal/podtest"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// listPods reads a list of Pods.
func listPods(t testing.TB, s *reader[*corev1.Pod], promises Promises) []*corev1.Pod {
	t.Helper()
	var got []*corev1.Pod
	if _, err := s.List(context.Background(), promises, func(p *corev1.Pod) error { got = append(got, p); return nil }); err != nil {
		t.Fatal(err)
	}
	return got
}

// podReader returns a reader of Pods that gets the list in a format at each call, with buffers of
// these sizes.
func podReader(t testing.TB, f Format, text string, sizes bufferSizes) *reader[*corev1.Pod] {
	t.Helper()
	r := newReader(t, f, podtest.Transcode(t, []byte(text), f), func() *corev1.Pod { return &corev1.Pod{} }, Options{})
	r.codec.sizes = sizes
	return r
}

// addresses records the addresses of an object's maps, slices and pointer targets in all, with
// paths.
func addresses(v reflect.Value, all map[uintptr]string, path string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			if v.Type() != reflect.TypeFor[*corev1.Pod]() && v.Elem().Type().Size() > 0 && v.Elem().Kind() != reflect.Struct || strings.Contains(path, "Security") {
				all[v.Pointer()] = path
			}
			addresses(v.Elem(), all, path)
		}
	case reflect.Struct:
		if v.Type().PkgPath() == "time" || strings.HasSuffix(v.Type().PkgPath(), "api/resource") {
			return // immutable
		}
		for i := range v.NumField() {
			addresses(v.Field(i), all, path+"."+v.Type().Field(i).Name)
		}
	case reflect.Slice:
		if v.Len() > 0 && v.Type().Elem().Size() > 0 {
			all[v.Pointer()] = path
		}
		for i := range v.Len() {
			addresses(v.Index(i), all, path+"[]")
		}
	case reflect.Map:
		if v.Len() > 0 {
			all[v.Pointer()] = path
		}
		for _, key := range v.MapKeys() {
			addresses(v.MapIndex(key), all, path+"{}")
		}
	}
}

// TestReadOnlySharing checks that read-only objects share equal parts, even with an earlier list,
// and that others share nothing.
func TestReadOnlySharing(t *testing.T) {
	for _, f := range allFormats {
		for name, sizes := range map[string]bufferSizes{"usual": defaultSizes, "tiny": tinySizes} {
			s := podReader(t, f, podtest.LargeList(20), sizes)
			for range 2 {
				listPods(t, s, Promises{ReadOnly: true})
			}
			before := listPods(t, s, Promises{ReadOnly: true})[3]
			shared := listPods(t, s, Promises{ReadOnly: true})
			for i, p := range shared {
				address := func(p *corev1.Pod) []uintptr {
					return []uintptr{reflect.ValueOf(p.Labels).Pointer(), reflect.ValueOf(p.Spec.Containers).Pointer(), reflect.ValueOf(p.OwnerReferences).Pointer()}
				}
				if !reflect.DeepEqual(address(before), address(p)) {
					t.Errorf("%v, %s: Pod %d does not share its parts", f, name, i)
				}
			}
			owner := map[uintptr]string{}
			for _, p := range shared {
				addresses(reflect.ValueOf(p), owner, "shared")
			}
			for i, p := range listPods(t, s, Promises{}) {
				own := map[uintptr]string{}
				addresses(reflect.ValueOf(p), own, fmt.Sprint("Pod ", i))
				for address, path := range own {
					if other, ok := owner[address]; ok {
						t.Errorf("%v, %s: %s and %s share memory", f, name, path, other)
					}
					owner[address] = path
				}
			}
			runtime.KeepAlive(shared) // else its memory is given to the last list
		}
	}
}

// TestKnownObjectsAreReused checks that lists and ADDED events deliver the caller's objects if
// their UID and resourceVersion are the same.
func TestKnownObjectsAreReused(t *testing.T) {
	for _, f := range []Format{JSON, Protobuf} {
		for name, sizes := range map[string]bufferSizes{"usual": defaultSizes, "tiny": tinySizes} {
			have := map[object.Key]*corev1.Pod{}
			for _, p := range listPods(t, podReader(t, f, podtest.LargeList(50), sizes), Promises{}) {
				have[object.KeyOf(p)] = p
			}
			known := func(key object.Key, uid types.UID, version string) object.Object {
				if p := have[key]; p != nil && p.UID == uid && p.ResourceVersion == version {
					return p
				}
				return nil
			}
			items := make([]string, 60)
			for i := range items {
				items[i] = podtest.Large(i + 1)
				switch {
				case i%10 == 3:
					items[i] = strings.Replace(items[i], `"resourceVersion":"`, `"resourceVersion":"1000`, 1)
				case i%10 == 7:
					items[i] = strings.Replace(items[i], `"uid":"`, `"uid":"another`, 1)
				}
			}
			check := func(verb string, i int, p *corev1.Pod) {
				t.Helper()
				old := have[object.KeyOf(p)]
				if want := i < 50 && i%10 != 3 && i%10 != 7; want != (p == old) {
					t.Errorf("%v, %s, %s: Pod %d is the known object: %v, want %v", f, name, verb, i, p == old, want)
				}
				if p.Name != fmt.Sprint("web-", i+1) || p.Kind != "Pod" || len(p.Spec.Containers) != 1 {
					t.Errorf("%v, %s, %s: Pod %d is delivered as %s %s", f, name, verb, i, p.Kind, p.Name)
				}
			}
			for i, p := range listPods(t, podReader(t, f, podtest.List("7", items...), sizes), Promises{Known: known, ReadOnly: true}) {
				check("list", i, p)
			}
			var body bytes.Buffer
			for i := range items {
				p := podtest.LargeObject(t, i+1)
				if i%10 == 3 {
					p.ResourceVersion = "1000" + p.ResourceVersion
				}
				if i%10 == 7 {
					p.UID = "another" + p.UID
				}
				body.Write(podtest.EncodeEvent(t, f, "ADDED", p))
			}
			body.Write(podtest.EncodeEvent(t, f, "MODIFIED", podtest.LargeObject(t, 1)))
			s := newReader(t, f, body.Bytes(), func() *corev1.Pod { return &corev1.Pod{} }, Options{})
			s.codec.sizes = sizes
			n := 0
			err := s.Watch(t.Context(), Promises{Known: known}, func(e Event[*corev1.Pod]) error {
				if e.Type == deltafifo.Added {
					check("watch", n, e.Object)
				} else if e.Object == have[object.KeyOf(e.Object)] {
					t.Errorf("%v, %s: a %v event has the known object", f, name, e.Type)
				}
				if e.ResourceVersion != e.Object.ResourceVersion {
					t.Errorf("%v, %s: event at %s has an object at %s", f, name, e.ResourceVersion, e.Object.ResourceVersion)
				}
				n++
				return nil
			})
			if err != nil || n != 61 {
				t.Errorf("%v, %s: got %d events, %v, want 61", f, name, n, err)
			}
		}
	}
}

// TestKnownIsNotCalledAfterAChange changes a shared part, which may belong to any known object.
func TestKnownIsNotCalledAfterAChange(t *testing.T) {
	for _, f := range []Format{JSON, Protobuf} {
		for name, mistake := range map[string]func(*corev1.Pod){
			"none":                 func(*corev1.Pod) {},
			"in a map":             func(p *corev1.Pod) { p.Labels["app"] = "changed" },
			"behind a pointer":     func(p *corev1.Pod) { *p.Spec.EnableServiceLinks = false },
			"in an unshared field": func(p *corev1.Pod) { p.Spec.NodeName = "changed" },
		} {
			items := make([]string, 20)
			for i := range items {
				items[i] = strings.Replace(podtest.Large(i+1), `"spec":{`, `"spec":{"enableServiceLinks":true,`, 1)
			}
			s := podReader(t, f, podtest.List("7", items...), defaultSizes)
			have := map[object.Key]*corev1.Pod{}
			want := listPods(t, s, Promises{})
			for _, p := range listPods(t, s, Promises{ReadOnly: true}) {
				have[object.KeyOf(p)] = p
			}
			mistake(have[object.KeyOf(want[10])])
			asked := 0
			got := listPods(t, s, Promises{ReadOnly: true, Known: func(key object.Key, _ types.UID, _ string) object.Object {
				asked++
				return have[key]
			}})
			if trusted := name == "none" || name == "in an unshared field"; trusted != (asked > 0) {
				t.Errorf("%v, change %s: Known is called %d times", f, name, asked)
			} else if trusted {
				continue
			}
			for i, p := range got {
				if !reflect.DeepEqual(p, want[i]) {
					t.Errorf("%v, change %s: Pod %d is not the one sent", f, name, i)
				}
			}
		}
	}
}

// TestKnownObjectsAreStillValidated has invalid JSON in an object that isn't decoded.
func TestKnownObjectsAreStillValidated(t *testing.T) {
	known := func(object.Key, types.UID, string) object.Object { return &corev1.Pod{} }
	for _, bad := range []string{`{"metadata":{"name":"a","resourceVersion":"1"},"spec":{"x":}}`, `{"metadata":{"name":"a","resourceVersion":"1"},"spec":[1 2]}`} {
		var failed *Error
		_, err := newReader(t, JSON, []byte(podtest.List("7", bad)), func() *corev1.Pod { return &corev1.Pod{} }, Options{}).List(t.Context(), Promises{Known: known}, func(*corev1.Pod) error { return nil })
		if !errors.As(err, &failed) || failed.Item != 1 {
			t.Errorf("%s: got error %v, want one of item 1", bad, err)
		}
	}
}

// raceDetector is set by race_test.go.
var raceDetector bool

// TestListMemory checks that decoding a list allocates only the objects, and a megabyte for
// decoders and buffers.
func TestListMemory(t *testing.T) {
	if raceDetector {
		t.Skip("sync.Pool drops values at random under the race detector")
	}
	const n = 2000
	heap := func() (allocated, kept uint64) {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		allocated = m.TotalAlloc
		for range 3 { // pools are empty after two
			runtime.GC()
		}
		runtime.ReadMemStats(&m)
		return allocated, m.HeapAlloc
	}
	for _, tc := range []struct {
		f        Format
		readOnly bool
		limit    uint64 // bytes per object
	}{
		{JSON, true, 2500}, {JSON, false, 6500}, {Protobuf, true, 2500}, {Protobuf, false, 6500},
	} {
		s := podReader(t, tc.f, podtest.LargeList(n), defaultSizes)
		// the first list compiles programs and fills the table
		listPods(t, s, Promises{ReadOnly: tc.readOnly})
		got := make([]*corev1.Pod, 0, n)
		_, before := heap()
		start, _ := heap()
		if _, err := s.List(t.Context(), Promises{ReadOnly: tc.readOnly}, func(p *corev1.Pod) error { got = append(got, p); return nil }); err != nil {
			t.Fatal(err)
		}
		end, after := heap()
		allocated, kept := (end-start)/n, (after-before)/n
		ratio := float64(allocated) / float64(kept)
		t.Logf("%v, read only %v: %d B allocated and %d B kept per object: %.2f", tc.f, tc.readOnly, allocated, kept, ratio)
		if allocated > tc.limit+1<<20/n || allocated > kept*115/100+1<<20/n {
			t.Errorf("%v, read only %v: %d B allocated and %d B kept per object, want at most %d", tc.f, tc.readOnly, allocated, kept, tc.limit)
		}
		runtime.KeepAlive(got)
		runtime.KeepAlive(s)
	}
}

// TestSharedPartsAreBounded reads objects that are small on the wire and large in memory, each
// several times, and keeps none.
func TestSharedPartsAreBounded(t *testing.T) {
	const objects, elements = 100, 900
	var items []string
	for i := range objects {
		item := fmt.Sprintf(`{"metadata":{"name":"pod-%d","resourceVersion":"1"},"spec":{"containers":[%s{"name":"%[1]d"}]}}`, i, strings.Repeat("{},", elements))
		items = append(items, item, item, item)
	}
	for _, f := range []Format{JSON, Protobuf} {
		s := podReader(t, f, podtest.List("7", items...), defaultSizes)
		heap := func() int {
			var m runtime.MemStats
			for range 3 { // pools are empty after two
				runtime.GC()
			}
			runtime.ReadMemStats(&m)
			return int(m.HeapAlloc)
		}
		before := heap()
		if _, err := s.List(t.Context(), Promises{ReadOnly: true}, func(*corev1.Pod) error { return nil }); err != nil {
			t.Fatal(err)
		}
		kept := heap() - before
		t.Logf("%v: %.1f MB are kept", f, float64(kept)/1e6)
		if kept > shareBytes+1<<20 {
			t.Errorf("%v: the codec keeps %d bytes, want at most %d", f, kept, shareBytes)
		}
		runtime.KeepAlive(s)
	}
}
