// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/internal/dropped"
	"github.com/informer-gen/informer-gen/runtime/internal/jsondec"
	"github.com/informer-gen/informer-gen/runtime/internal/placement"
	"github.com/informer-gen/informer-gen/runtime/internal/podtest"
	"github.com/informer-gen/informer-gen/runtime/internal/protodec"
	"github.com/informer-gen/informer-gen/runtime/internal/share"
	"github.com/informer-gen/informer-gen/runtime/object"
)

func newPlacement() *placement.PodPlacement { return &placement.PodPlacement{} }

// podOptions are the options for a type not named after its kind.
var podOptions = Options{Kind: "Pod", DropManagedFields: true, DropAnnotations: []string{"example.test/checksum"}}

// TestProjectionInEveryFormat lists and watches Pods as a projection, with default and tiny
// buffers, with and without shared parts.
func TestProjectionInEveryFormat(t *testing.T) {
	const n = 60
	var want []*placement.PodPlacement
	for i := range n {
		want = append(want, placement.Of(podtest.LargeObject(t, i+1)))
	}
	for _, f := range allFormats {
		list := podtest.Transcode(t, []byte(podtest.LargeList(n)), f)
		var events []byte
		for i := range n {
			events = append(events, podtest.EncodeEvent(t, f, "ADDED", podtest.LargeObject(t, i+1))...)
		}
		events = append(events, podtest.EncodeEvent(t, f, "BOOKMARK", podtest.LargeObject(t, n))...)
		for _, sizes := range []bufferSizes{defaultSizes, tinySizes} {
			for _, readOnly := range []bool{false, true} {
				name := fmt.Sprintf("%v, chunks of %d bytes, read-only %v", f, sizes.chunk, readOnly)
				r := newReader(t, f, list, newPlacement, podOptions)
				r.codec.sizes, r.readOnly = sizes, readOnly
				for range 2 {
					got, result, err := listAll(r)
					if err != nil || result.ResourceVersion != "12345" {
						t.Fatalf("%s: the list: %v at %q", name, err, result.ResourceVersion)
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Fatalf("%s: the list (-want +got):\n%s", name, diff)
					}
				}
				w := newReader(t, f, events, newPlacement, podOptions)
				w.codec.sizes, w.readOnly = sizes, readOnly
				got, err := watchAll(w)
				if err != nil || len(got) != n+1 || got[n].Type != deltafifo.Bookmark || got[n].ResourceVersion != want[n-1].ResourceVersion {
					t.Fatalf("%s: %d events, %v", name, len(got), err)
				}
				for i := range want {
					if diff := cmp.Diff(want[i], got[i].Object); diff != "" {
						t.Fatalf("%s: event %d (-want +got):\n%s", name, i, diff)
					}
				}
			}
		}
	}
}

// TestKnownProjectionsAreNotDecoded checks that a relist delivers the caller's objects.
func TestKnownProjectionsAreNotDecoded(t *testing.T) {
	for _, f := range []Format{JSON, Protobuf} {
		r := newReader(t, f, podtest.Transcode(t, []byte(podtest.LargeList(5)), f), newPlacement, podOptions)
		first, _, err := listAll(r)
		if err != nil {
			t.Fatal(err)
		}
		have := map[types.UID]*placement.PodPlacement{}
		for _, obj := range first {
			have[obj.UID] = obj
		}
		known := func(key object.Key, uid types.UID, version string) object.Object {
			if obj := have[uid]; obj != nil && obj.ResourceVersion == version && object.KeyOf(obj) == key {
				return obj
			}
			return nil
		}
		again := 0
		_, err = r.List(t.Context(), Promises{ReadOnly: true, Known: known}, func(obj *placement.PodPlacement) error {
			if obj == have[obj.UID] {
				again++
			}
			return nil
		})
		if err != nil || again != len(first) {
			t.Errorf("%v: List delivers %d of %d known objects, %v", f, again, len(first), err)
		}
	}
}

// numbered, unnumbered and partlyNumbered are projections whose fields all have protobuf numbers,
// have none, and have some.
type numbered struct {
	metav1.TypeMeta
	placement.PodPlacementMeta `json:"metadata" protobuf:"bytes,1,opt,name=metadata"`
	Spec                       *placement.PodPlacementSpec `json:"spec" protobuf:"bytes,2,opt,name=spec"`
}

type unnumbered struct {
	metav1.TypeMeta
	placement.PodPlacementMeta `json:"metadata"`
}

type partlyNumbered struct {
	metav1.TypeMeta
	placement.PodPlacementMeta `json:"metadata" protobuf:"bytes,1,opt,name=metadata"`
	Spec                       struct {
		Containers []struct {
			Name string `json:"name"`
		} `json:"containers" protobuf:"bytes,2,rep,name=containers"`
	} `json:"spec" protobuf:"bytes,2,opt,name=spec"`
}

func (*numbered) DeepCopyObject() runtime.Object       { panic("not needed") }
func (*unnumbered) DeepCopyObject() runtime.Object     { panic("not needed") }
func (*partlyNumbered) DeepCopyObject() runtime.Object { panic("not needed") }

func TestProjectionsInProtobufNeedNumbers(t *testing.T) {
	for _, tc := range []struct {
		obj  object.Object
		want bool
	}{{&numbered{}, true}, {&unnumbered{}, false}, {&partlyNumbered{}, false}} {
		if got := mustCodec(t, podOptions, func() object.Object { return tc.obj }).Has(Protobuf); got != tc.want {
			t.Errorf("codec of %T: Has(Protobuf) = %v, want %v", tc.obj, got, tc.want)
		}
	}
}

// TestProjectionOfSingleObject decodes the response to a request for one object.
func TestProjectionOfSingleObject(t *testing.T) {
	pod := podtest.LargeObject(t, 1)
	for _, f := range allFormats {
		c := mustCodec(t, podOptions, func() object.Object { return newPlacement() })
		got, err := c.Object(podtest.Encode(t, f, pod), f)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(placement.Of(pod), got); diff != "" {
			t.Errorf("%v (-want +got):\n%s", f, diff)
		}
	}
}

// projected are API types to project.
var projected = []reflect.Type{
	reflect.TypeFor[corev1.Pod](), reflect.TypeFor[corev1.Node](), reflect.TypeFor[corev1.Service](), reflect.TypeFor[corev1.ConfigMap](),
	reflect.TypeFor[corev1.PersistentVolume](), reflect.TypeFor[appsv1.Deployment](), reflect.TypeFor[networkingv1.Ingress](),
}

// TestRandomProjectionsAgreeWithFullObjects decodes random objects of API types by the reference
// decoders, and as random projections. The fields of the projections are equal.
func TestRandomProjectionsAgreeWithFullObjects(t *testing.T) {
	const projections, objects = 100, 12
	r := rand.New(rand.NewPCG(16, 1))
	for n := range projections {
		of := projected[n%len(projected)]
		slim := podtest.Projection(r, of)
		ways := decodersOf(t, slim)
		for i := range objects {
			whole := reflect.New(of)
			(&podtest.Filler{R: r, Full: float64(i+1) / objects}).Fill(whole.Elem())
			for f := range ways {
				body, want, ok := encodeWhole(f, whole)
				if !ok {
					continue
				}
				to := reflect.New(slim)
				podtest.Project(to.Elem(), want.Elem())
				for name, decode := range ways[f] {
					got := reflect.New(slim)
					if err := decode(body, got); err != nil {
						t.Fatalf("projection %d of %v, %v: %v\n%v", n, of, name, err, slim)
					}
					if !reflect.DeepEqual(to.Interface(), got.Interface()) {
						t.Fatalf("projection %d of %v, %v (-want +got):\n%s", n, of, name, cmp.Diff(to.Elem().Interface(), got.Elem().Interface()))
					}
				}
			}
		}
	}
}

// encodeWhole encodes an object, and decodes it by the reference decoder. It returns false if JSON
// can't encode the object.
func encodeWhole(f Format, obj reflect.Value) (body []byte, whole reflect.Value, ok bool) {
	whole = reflect.New(obj.Type().Elem())
	var err error
	switch f {
	case JSON:
		if body, err = json.Marshal(obj.Interface()); err == nil {
			err = unmarshalJSON(body, whole.Interface())
		}
	case Protobuf:
		if body, err = obj.Interface().(protoMessage).Marshal(); err == nil {
			err = whole.Interface().(protoMessage).Unmarshal(body)
		}
	}
	return body, whole, err == nil
}

// decodersOf returns all decoders of a projection, by format.
func decodersOf(t *testing.T, slim reflect.Type) map[Format]map[string]func([]byte, reflect.Value) error {
	t.Helper()
	table := share.New(64 << 10)
	json, err := jsondec.New(slim, dropped.Parts{})
	if err != nil {
		t.Fatal(err)
	}
	proto, err := protodec.New(slim, dropped.Parts{})
	if err != nil {
		t.Fatal(err)
	}
	fastJSON := func(d *jsondec.Decoder) func([]byte, reflect.Value) error {
		return func(body []byte, to reflect.Value) error {
			if n, ok := d.Decode(body, to.Interface()); !ok || n != len(body) {
				return fmt.Errorf("declined after %d of %d bytes", n, len(body))
			}
			return nil
		}
	}
	fastProto := func(d *protodec.Decoder) func([]byte, reflect.Value) error {
		return func(body []byte, to reflect.Value) error {
			if !d.Decode(body, to.UnsafePointer()) {
				return fmt.Errorf("declined")
			}
			return nil
		}
	}
	return map[Format]map[string]func([]byte, reflect.Value) error{
		JSON: {
			"JSON": fastJSON(json.NewDecoder(nil, false)), "JSON, shared": fastJSON(json.NewDecoder(table, true)),
			"JSON, in the slow way": func(body []byte, to reflect.Value) error { return unmarshalJSON(body, to.Interface()) },
		},
		Protobuf: {
			"protobuf": fastProto(proto.NewDecoder(nil, false)), "protobuf, shared": fastProto(proto.NewDecoder(table, true)),
		},
	}
}

// FuzzProjectionInProtobuf compares a message decoded as a projection with the full object.
func FuzzProjectionInProtobuf(f *testing.F) {
	r := rand.New(rand.NewPCG(16, 2))
	slim := make([]reflect.Type, len(projected))
	fast := make([][]*protodec.Decoder, len(projected))
	for i, of := range projected {
		slim[i] = podtest.Projection(r, of)
		program, err := protodec.New(slim[i], dropped.Parts{})
		if err != nil {
			f.Fatal(err)
		}
		fast[i] = []*protodec.Decoder{program.NewDecoder(nil, false), program.NewDecoder(share.New(64<<10), true)}
		for _, full := range []float64{0.2, 0.5} {
			whole := reflect.New(of)
			(&podtest.Filler{R: r, Full: full}).Fill(whole.Elem())
			body, err := whole.Interface().(protoMessage).Marshal()
			if err != nil {
				f.Fatal(err)
			}
			f.Add(uint8(i), body)
			f.Add(uint8(i), append(body, body...)) // merged messages
			f.Add(uint8(i), body[:len(body)/2])
		}
	}
	// an entry of a ConfigMap's binaryData without key and value
	f.Add(uint8(3), []byte{3<<3 | 2, 0})
	f.Fuzz(func(t *testing.T, kind uint8, body []byte) {
		i := int(kind) % len(projected)
		whole, want := reflect.New(projected[i]), reflect.New(slim[i])
		if whole.Interface().(protoMessage).Unmarshal(body) != nil {
			return
		}
		podtest.Project(want.Elem(), whole.Elem())
		for _, d := range fast[i] {
			got := reflect.New(slim[i])
			if d.Decode(body, got.UnsafePointer()) && !reflect.DeepEqual(want.Interface(), got.Interface()) {
				t.Errorf("%x (-whole +projection):\n%s", body, cmp.Diff(want.Elem().Interface(), got.Elem().Interface()))
			}
		}
	})
}
