// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
	"github.com/informer-gen/informer-gen/runtime/internal/share"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// kitchenSink has a field of every shape.
type kitchenSink struct {
	metav1.ObjectMeta
	Name    string
	Flag    bool
	Long    int64
	Short   int8
	Pointer *string
	Number  *int32
	Twice   **kitchenSink
	Self    *kitchenSink
	Strings map[string]string
	Named   map[name][]name
	Nested  map[string]map[string]*kitchenSink
	Structs map[string]inner
	Floats  map[string]float64
	Ints    map[int]string
	Data    map[string][]byte
	Many    [3]inner
	Arrays  [][2]string
	Large   [100]string
	Any     any
	Free    map[string]any
	List    []any
	Empty   []struct{}
	Iface   fmt.Stringer
	Func    func()
	hidden  []string
	Hides   *withHidden
	HidesIn withHidden
}

type name string

type inner struct {
	A     string
	B     *inner
	C     []inner
	Times []metav1.Time
}

type withHidden struct {
	Shown  []string
	hidden *int
}

// unusualMeta is the metadata of a projection whose name and namespace are not strings.
type unusualMeta struct {
	object.NoMeta
	Name      *string
	Namespace *inner
}

func TestNamesOfAnyType(t *testing.T) {
	text := "name"
	from := &unusualMeta{Name: &text, Namespace: &inner{A: "a"}}
	got := adoptOne(adopterOf[unusualMeta](share.New(1<<20)), from)
	if !reflect.DeepEqual(got, from) || got.Name == from.Name || got.Namespace == from.Namespace {
		t.Errorf("Adopt = %+v, want a copy of %+v", got, from)
	}
}

func adoptOne[T any](a *Adopter, v *T) *T {
	p := a.Adopt(layout.Of(v))
	if p == nil {
		return nil
	}
	return layout.As[T](p)
}

func adopterOf[T any](table *share.Table) *Adopter {
	return ProgramOf(reflect.TypeFor[T]()).NewAdopter(table)
}

// TestAdoptedObjectsAreEqual adopts random objects of many types, in several goroutines with one
// table. Copies are equal to the originals, and these are unchanged.
func TestAdoptedObjectsAreEqual(t *testing.T) {
	for _, typ := range []reflect.Type{
		reflect.TypeFor[kitchenSink](), reflect.TypeFor[corev1.Pod](), reflect.TypeFor[corev1.ConfigMap](), reflect.TypeFor[corev1.PersistentVolume](),
		reflect.TypeFor[appsv1.Deployment](), reflect.TypeFor[networkingv1.Ingress](), reflect.TypeFor[unstructured.Unstructured](), reflect.TypeFor[corev1.ResourceQuota](),
	} {
		table := share.New(1 << 20)
		var group sync.WaitGroup
		for g := range 3 {
			group.Go(func() {
				a := ProgramOf(typ).NewAdopter(table)
				for seed := range uint64(24) {
					random := func() reflect.Value {
						f := &filler{r: rand.New(rand.NewPCG(seed/2, uint64(g))), share: []float64{0.1, 0.5, 0.9}[seed%3]}
						v := reflect.New(typ)
						f.fill(v.Elem())
						return v
					}
					from, want := random(), random()
					got := a.Adopt(from.UnsafePointer())
					if got == nil {
						t.Errorf("%v: Adopt declines the object", typ)
						return
					}
					if !same(want, from) {
						t.Errorf("%v: Adopt has changed the original", typ)
					}
					if adopted := reflect.NewAt(typ, got); !same(want, adopted) {
						t.Errorf("%v: Adopt = %+v, want %+v", typ, adopted, want)
					}
				}
			})
		}
		group.Wait()
	}
}

// same is reflect.DeepEqual of the objects behind reflect.Values.
func same(x, y reflect.Value) bool { return reflect.DeepEqual(x.Interface(), y.Interface()) }

// newPod returns a new copy of Pod i of a workload.
func newPod(workload, i int) *corev1.Pod {
	yes := true
	p := &corev1.Pod{}
	p.Name, p.Namespace = fmt.Sprintf("workload-%d-%d", workload, i), fmt.Sprint("team-", workload)
	p.Labels = map[string]string{"app": fmt.Sprint("workload-", workload), "tier": "backend"}
	p.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: fmt.Sprint("workload-", workload), Controller: &yes}}
	p.Spec.Containers = []corev1.Container{{Name: "main", Image: fmt.Sprintf("registry.example/%d:v1", workload), Env: []corev1.EnvVar{{Name: "A", Value: "B"}}}}
	p.Spec.Volumes = append(make([]corev1.Volume, 0, 8), corev1.Volume{Name: fmt.Sprintf("token-%d", i)})
	p.Status.PodIP = fmt.Sprint("10.0.0.", i)
	return p
}

func address(v any) uintptr { return reflect.ValueOf(v).Pointer() }

// TestEqualPartsAreShared adopts Pods by two Adopters of a table. Unshared slices have no spare
// capacity.
func TestEqualPartsAreShared(t *testing.T) {
	table := share.New(1 << 20)
	a, b := adopterOf[corev1.Pod](table), adopterOf[corev1.Pod](table)
	for i := range 3 {
		adoptOne(a, newPod(1, i))
	}
	from := newPod(1, 7)
	p, q := adoptOne(a, newPod(1, 8)), adoptOne(b, from)
	for name, parts := range map[string][2]any{
		"labels": {p.Labels, q.Labels}, "owners": {p.OwnerReferences, q.OwnerReferences}, "containers": {p.Spec.Containers, q.Spec.Containers},
	} {
		if address(parts[0]) != address(parts[1]) {
			t.Errorf("the %s are not shared", name)
		}
	}
	for name, parts := range map[string][2]any{
		"volumes": {q.Spec.Volumes, p.Spec.Volumes}, "volumes of the original": {q.Spec.Volumes, from.Spec.Volumes}, "labels of the original": {q.Labels, from.Labels},
	} {
		if address(parts[0]) == address(parts[1]) {
			t.Errorf("the %s are shared", name)
		}
	}
	if n := cap(q.Spec.Volumes); n != 1 {
		t.Errorf("the volumes have capacity %d, want 1", n)
	}
	other := newPod(1, 9)
	other.Labels["app"] = "changed"
	if r := adoptOne(a, other); r.Labels["app"] != "changed" || address(r.OwnerReferences) != address(p.OwnerReferences) || address(r.Labels) == address(p.Labels) {
		t.Errorf("labels that differ are %v, or the owners are no longer shared", r.Labels)
	}
}

// TestUntypedObjectsShareParts adopts maps and lists in empty interfaces.
func TestUntypedObjectsShareParts(t *testing.T) {
	a := adopterOf[unstructured.Unstructured](share.New(1 << 20))
	numbered := func(i int) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"name": fmt.Sprint("name-", i), "labels": map[string]any{"app": "web"}},
			"spec":     map[string]any{"id": int64(i), "ports": []any{map[string]any{"port": int64(80)}, "x"}},
		}}
	}
	part := func(u *unstructured.Unstructured) (map[string]any, []any) {
		labels, _, _ := unstructured.NestedFieldNoCopy(u.Object, "metadata", "labels")
		ports, _, _ := unstructured.NestedFieldNoCopy(u.Object, "spec", "ports")
		return labels.(map[string]any), ports.([]any)
	}
	for i := range 4 {
		adoptOne(a, numbered(i))
	}
	x, y := adoptOne(a, numbered(5)), adoptOne(a, numbered(6))
	labels, ports := part(x)
	labels2, ports2 := part(y)
	if address(labels) != address(labels2) || address(ports) != address(ports2) {
		t.Error("equal parts are not shared")
	}
	if !reflect.DeepEqual(y, numbered(6)) {
		t.Errorf("Adopt = %v, want %v", y, numbered(6))
	}
}

// TestAdoptOnlyReadsTheOriginal adopts objects that refer to values of the program, while other
// goroutines read these. The race detector finds writes.
func TestAdoptOnlyReadsTheOriginal(t *testing.T) {
	common := newPod(1, 1)
	table := share.New(1 << 20)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			a := adopterOf[corev1.Pod](table)
			for i := range 50 {
				p := newPod(2, i)
				p.Labels, p.Spec, p.OwnerReferences = common.Labels, common.Spec, common.OwnerReferences
				if q := adoptOne(a, p); address(q.Labels) == address(common.Labels) {
					t.Error("the copy has the original's map")
				}
			}
		})
		group.Go(func() {
			for range 50 {
				if len(maps.Clone(common.Labels)) != 2 || common.Spec.Volumes[0].Name != "token-1" {
					t.Error("Adopt has changed the original")
				}
			}
		})
	}
	group.Wait()
}

// TestCopiesDoNotKeepTheOriginal adopts Pods with strings cut from long texts, and with slices that
// have spare capacity.
func TestCopiesDoNotKeepTheOriginal(t *testing.T) {
	const n = 200
	a := adopterOf[corev1.Pod](share.New(1 << 20))
	var before, after runtime.MemStats
	kept := make([]*corev1.Pod, n)
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range kept {
		long := strings.Repeat(fmt.Sprint(i), 50_000)
		p := newPod(i, i)
		p.Labels = map[string]string{long[:20]: long[20:40]}
		p.Spec.NodeName, p.Status.Message = long[40:60], long[:layout.MaxShort]
		p.Spec.Containers = append(make([]corev1.Container, 0, 100), p.Spec.Containers...)
		kept[i] = adoptOne(a, p)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if each := (int(after.HeapAlloc) - int(before.HeapAlloc)) / n; each > 6000 {
		t.Errorf("each copy keeps %d bytes, want at most 6000", each)
	}
	runtime.KeepAlive(kept)
	runtime.KeepAlive(a)
}

// TestTableKeepsNoLongStrings drops objects with long strings, whose memory the table's bound
// doesn't count.
func TestTableKeepsNoLongStrings(t *testing.T) {
	const n, size = 50, 1 << 20
	a := adopterOf[corev1.ConfigMap](share.New(1 << 20))
	var before, after runtime.MemStats
	var first, second *corev1.ConfigMap
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range n {
		long := strings.Repeat("x", size)
		for range 3 { // a part is entered the second time, and found the third time
			c := &corev1.ConfigMap{Data: map[string]string{"text": long}}
			c.Labels = map[string]string{"app": "web"}
			first, second = second, adoptOne(a, c)
		}
	}
	if address(first.Labels) != address(second.Labels) {
		t.Error("the other parts of objects with long strings are not shared")
	}
	first, second = nil, nil
	runtime.GC()
	runtime.ReadMemStats(&after)
	if more := int(after.HeapAlloc) - int(before.HeapAlloc); more > 5*size {
		t.Errorf("dropped objects keep %d bytes, want at most %d", more, 5*size)
	}
	runtime.KeepAlive(a)
}

// TestCyclicAndLargeObjectsAreDeclined adopts an ordinary object after each declined one.
func TestCyclicAndLargeObjectsAreDeclined(t *testing.T) {
	a := adopterOf[twins](share.New(1 << 20))
	ring := &twins{}
	ring.Left = ring
	free := map[string]any{}
	free["self"] = []any{free}
	tree := &twins{}
	for range 60 {
		tree = &twins{Left: tree, Right: tree}
	}
	for name, v := range map[string]*twins{
		"cycle": ring, "untyped cycle": {Free: free}, "exponential tree": tree, "large": {Data: map[string][]byte{"a": make([]byte, maxBytes+1)}},
	} {
		if adoptOne(a, v) != nil {
			t.Errorf("%s: Adopt accepts the object", name)
		}
		want := &twins{Left: &twins{Strings: map[string]string{"a": "b"}}, Free: map[string]any{"a": []any{"b"}}}
		if got := adoptOne(a, want); !reflect.DeepEqual(got, want) {
			t.Errorf("after %s: Adopt = %+v, want %+v", name, got, want)
		}
	}
}

// twins can contain themselves.
type twins struct {
	Left, Right *twins
	Strings     map[string]string
	Free        map[string]any
	Data        map[string][]byte
}

// TestUnknownFieldsAreCopiedRaw has unexported fields, functions, interfaces with methods, and maps
// whose keys are not strings. The copy refers to the same memory.
func TestUnknownFieldsAreCopiedRaw(t *testing.T) {
	a := adopterOf[kitchenSink](share.New(1 << 20))
	from := &kitchenSink{hidden: []string{"a"}, Hides: &withHidden{Shown: []string{"b"}}, Iface: &metav1.Time{}, Func: func() {}, Ints: map[int]string{1: "one"}}
	from.HidesIn = withHidden{Shown: []string{"b"}, hidden: new(3)}
	got := adoptOne(a, from)
	if &got.hidden[0] != &from.hidden[0] || got.Hides != from.Hides || got.Iface != from.Iface || got.Func == nil || address(got.Ints) != address(from.Ints) {
		t.Errorf("Adopt = %+v, want raw copies of the fields of %+v", got, from)
	}
	if got.HidesIn.hidden != from.HidesIn.hidden || &got.HidesIn.Shown[0] == &from.HidesIn.Shown[0] || got.HidesIn.Shown[0] != "b" {
		t.Errorf("Adopt = %+v, want a raw copy of the unexported field only", got.HidesIn)
	}
}

// TestScratchMemoryIsBounded adopts one large object.
func TestScratchMemoryIsBounded(t *testing.T) {
	a := adopterOf[corev1.ConfigMap](share.New(64 << 10))
	c := &corev1.ConfigMap{Data: map[string]string{}}
	for i := range 5000 {
		c.Data[fmt.Sprint("key-", i)] = fmt.Sprint("value-", i)
	}
	for range 5 {
		if got := adoptOne(a, c); !reflect.DeepEqual(got, c) {
			t.Fatal("the copy is not equal")
		}
	}
	if n := cap(a.entries); n > keepParts {
		t.Errorf("capacity for %d entries is kept, want at most %d", n, keepParts)
	}
	if n := cap(a.buf); n > keepBytes {
		t.Errorf("%d bytes are kept, want at most %d", n, keepBytes)
	}
}

func TestAdoptAllocatesOnlyUnsharedParts(t *testing.T) {
	a := adopterOf[corev1.Pod](share.New(1 << 20))
	pods := make([]*corev1.Pod, 200)
	for i := range pods {
		pods[i] = newPod(i/20, i)
		adoptOne(a, pods[i])
	}
	i := 0
	// the Pod, its volumes, and its strings
	if n := testing.AllocsPerRun(len(pods)-1, func() { adoptOne(a, pods[i]); i++ }); n > 4 {
		t.Errorf("Adopt allocates %v times, want at most 4", n)
	}
}
