// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/internal/shard"
	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/internal/podtest"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// keepTexts are Pods with owners and without. Some are written as no API server writes them.
func keepTexts(untyped bool) (texts []string) {
	for i := range 12 {
		texts = append(texts, podtest.Large(i+1))
	}
	for i, rest := range []string{
		``, `,"ownerReferences":[]`, `,"ownerReferences":null`, `,"ownerReferences":[{"name":"a","apiVersion":"v1","kind":"Node","uid":"n"}]`,
		`,"ownerReferences":[{"name":"a","controller":false},{"name":"b","controller":true,"kind":"K","uid":"u"},{"name":"c","controller":true}]`,
		`,"ownerReferences":[{"name":"\u0061b","controller":true}]`, `,"ownerReferences":[{"name":"a","name":"b","controller":true}]`,
		`,"ownerReferences":[{"name":"a","controller":true}],"ownerReferences":[{"name":"b","controller":true}]`,
		`,"ownerReferences":[null,{"name":"d","controller":true}]`, `,"ownerReferences":[{"controller":true}]`, `,"namespace":"other"`, `,"name":"again"`,
		`,"labels":{"ownerReferences":"x"}`,
	} {
		for _, after := range []string{``, `},"metadata":{"annotations":{"a":"b"}`, `},"spec":{"nodeName":"\u0061","ownerReferences":{}`} {
			if untyped && (strings.Contains(after, `"metadata"`) || strings.Contains(rest, `[null`)) {
				continue // unstructured.Unstructured has other rules for these
			}
			texts = append(texts, fmt.Sprintf(`{"metadata":{"name":"pod-%d","namespace":"ns-%d","uid":"uid-%d","resourceVersion":"%d"%s%s}}`, i, i%3, i*7, 50+i, rest, after))
		}
	}
	return texts
}

// keepHalf keeps about half of the objects, by all their metadata.
func keepHalf(m object.Meta) bool {
	hash := shard.Hash(m.Namespace + "/" + m.Name + "/" + string(m.UID) + "/" + ownerText(m.Controller))
	return hash%2 == 0
}

func ownerText(o *metav1.OwnerReference) string {
	if o == nil {
		return "none"
	}
	return strings.Join([]string{o.APIVersion, o.Kind, o.Name, string(o.UID)}, "/")
}

// TestKeepSelectsAsAfterDecoding compares selections before and after decoding, for objects of any
// type and form.
func TestKeepSelectsAsAfterDecoding(t *testing.T) {
	for _, f := range allFormats {
		for name, c := range map[string]*Codec{
			"typed": mustCodec(t, Options{}, newPod), "untyped": mustCodec(t, Options{Kind: "Pod"}, newUntyped),
			"projection": mustCodec(t, podOptions, func() object.Object { return newPlacement() }),
			"metadata":   mustCodec(t, Options{Kind: "Pod"}, func() object.Object { return &metav1.PartialObjectMetadata{} }),
		} {
			if !c.Has(f) {
				continue
			}
			responses := newKeepResponses(t, f, keepTexts(name == "untyped"))
			for _, sizes := range []bufferSizes{defaultSizes, tinySizes} {
				c.sizes = sizes
				for _, known := range []bool{false, true} {
					responses.check(t, fmt.Sprintf("%v, %s, known %v", f, name, known), &reader[object.Object]{codec: c, format: f}, known)
				}
			}
		}
	}
}

// keepResponses are a list and the events of Pods.
type keepResponses struct {
	list, events []byte
	all          int
	want         []string // the names of the Pods to keep
}

func newKeepResponses(t *testing.T, f Format, texts []string) (k keepResponses) {
	for n, text := range texts {
		var pod corev1.Pod
		if err := unmarshalJSON([]byte(text), &pod); err != nil {
			t.Fatal(text, err)
		}
		if keepHalf(object.MetaOf(&pod)) {
			k.want = append(k.want, pod.Name)
		}
		typ := deltafifo.Type(n%3) + deltafifo.Added
		if f == Protobuf {
			pod.APIVersion, pod.Kind = "v1", "Pod"
			k.events = append(k.events, podtest.EncodeEvent(t, f, typ.String(), &pod)...)
		} else {
			k.events = append(k.events, podtest.Event(typ.String(), podtest.WithKind(text))...)
		}
	}
	if k.all = len(texts); len(k.want) < 10 || len(k.want) > k.all-10 {
		t.Fatalf("%d of %d Pods are kept, want about half", len(k.want), k.all)
	}
	if k.list = []byte(podtest.List("900", texts...)); f == Protobuf {
		k.list = podtest.Transcode(t, k.list, f)
	}
	return k
}

func (k *keepResponses) check(t *testing.T, name string, r *reader[object.Object], known bool) {
	t.Helper()
	promises := Promises{ReadOnly: true, KeepByController: true, Keep: keepHalf}
	have := map[types.UID]object.Object{}
	if known {
		promises.Known = func(key object.Key, uid types.UID, version string) object.Object {
			obj := have[uid+types.UID(version)]
			if obj == nil || object.KeyOf(obj) != key {
				return nil
			}
			return obj
		}
	}
	r.body = bodyOf(k.list)
	for range 2 {
		var got []string
		result, err := r.List(t.Context(), promises, func(obj object.Object) error {
			got = append(got, obj.GetName())
			have[obj.GetUID()+types.UID(obj.GetResourceVersion())] = obj
			return nil
		})
		if err != nil || !slices.Equal(got, k.want) || result.Skipped != k.all-len(k.want) {
			t.Fatalf("%s: the list has %d objects and %+v, %v, want %d\n%v\n%v", name, len(got), result, err, len(k.want), got, k.want)
		}
	}
	r.body = bodyOf(k.events)
	var got []string
	last := ""
	err := r.Watch(t.Context(), promises, func(e Event[object.Object]) error {
		if last = e.ResourceVersion; e.Type != deltafifo.Bookmark {
			got = append(got, e.Object.GetName())
		}
		return nil
	})
	if err != nil || !slices.Equal(got, k.want) || last != "62" {
		t.Fatalf("%s: the watch has %d objects up to %s, %v, want %d up to 62\n%v\n%v", name, len(got), last, err, len(k.want), got, k.want)
	}
}

// TestControllerOnlyIfWanted shows that Keep gets no controller without KeepByController.
func TestControllerOnlyIfWanted(t *testing.T) {
	for _, f := range allFormats {
		for _, byController := range []bool{false, true} {
			listPods(t, podReader(t, f, podtest.LargeList(3), defaultSizes), Promises{KeepByController: byController, Keep: func(m object.Meta) bool {
				if got := ownerText(m.Controller); strings.HasPrefix(got, "apps/v1/ReplicaSet/web-") != byController {
					t.Errorf("%v, KeepByController %v: got the controller %s", f, byController, got)
				}
				return false
			}})
		}
	}
}

// TestDroppedObjectsAreStillChecked has objects that are wrong, but whose metadata can be read.
func TestDroppedObjectsAreStillChecked(t *testing.T) {
	const meta = `"metadata":{"name":"a","namespace":"b","resourceVersion":"1"}`
	for text, want := range map[string]string{
		`{` + meta + `,"spec":{"x":}}`: "invalid character", `{` + meta + `,"spec":[1 2]}`: "", `{` + meta: "",
		`{"apiVersion":"v1","kind":"Node",` + meta + `}`: "wrong kind", `{"metadata":{"name":"a","namespace":"b"}}`: "resourceVersion", `{"metadata":{"resourceVersion":"1"}}`: "name",
	} {
		for verb, read := range map[string]func(*reader[*corev1.Pod]) error{
			"list": func(r *reader[*corev1.Pod]) error {
				r.body = bodyOf([]byte(podtest.List("7", text)))
				_, err := r.List(t.Context(), Promises{Keep: keepNothing}, func(*corev1.Pod) error { return nil })
				return err
			},
			"watch": func(r *reader[*corev1.Pod]) error {
				r.body = bodyOf([]byte(podtest.Event("MODIFIED", text)))
				return r.Watch(t.Context(), Promises{Keep: keepNothing}, func(Event[*corev1.Pod]) error { return nil })
			},
		} {
			err := read(newReader(t, JSON, nil, func() *corev1.Pod { return &corev1.Pod{} }, Options{}))
			var failed *Error
			if !errors.As(err, &failed) || failed.Item != 1 || !strings.Contains(err.Error(), want) {
				t.Errorf("%s of %s: got the error %v, want one of item 1 about %s", verb, text, err, want)
			}
			if want == "wrong kind" && failed.Key != (object.Key{Namespace: "b", Name: "a"}) {
				t.Errorf("%s of %s: the error is about %q", verb, text, failed.Key)
			}
		}
	}
}

func keepNothing(object.Meta) bool { return false }

// TestDroppedObjectsAllocateNothing reads lists and watches of many Pods.
func TestDroppedObjectsAllocateNothing(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates")
	}
	keep := func(m object.Meta) bool { return m.Controller == nil }
	for _, f := range allFormats {
		allocs := func(n int) (list, watch float64) {
			r := podReader(t, f, podtest.LargeList(n), defaultSizes)
			list = testing.AllocsPerRun(5, func() { listPods(t, r, Promises{Keep: keep, KeepByController: true}) })
			var events []byte
			for i := range n {
				events = append(events, podtest.EncodeEvent(t, f, "MODIFIED", podtest.LargeObject(t, i+1))...)
			}
			r.body = bodyOf(events)
			watch = testing.AllocsPerRun(5, func() {
				err := r.Watch(context.Background(), Promises{Keep: keep, KeepByController: true}, func(Event[*corev1.Pod]) error { return nil })
				if err != nil {
					t.Error(err)
				}
			})
			return list, watch
		}
		fewList, fewWatch := allocs(10)
		manyList, manyWatch := allocs(510)
		// reading allocates something for each chunk, and a watch a bookmark for each burst
		if (manyList-fewList)/500 > 0.05 || (manyWatch-fewWatch)/500 > 0.5 {
			t.Errorf("%v: lists of 10 and 510 dropped Pods allocate %v and %v times, watches %v and %v times", f, fewList, manyList, fewWatch, manyWatch)
		}
	}
}

// TestStoredObjectsOutsideTheShard reads stored objects with a codec for a shard.
func TestStoredObjectsOutsideTheShard(t *testing.T) {
	all, none := mustCodec(t, Options{}, newPod), mustCodec(t, Options{ShardSelector: "shardRange(object.metadata.uid, '0x0000000000000000', '0x0000000000000001')"}, newPod)
	stored, err := all.AppendStored(nil, podtest.LargeObject(t, 1))
	if err != nil {
		t.Fatal(err)
	}
	for c, want := range map[*Codec]int{all: 1, none: 0} {
		n := 0
		if err := c.ReadStored(bodyOf(stored)(), true, func(object.Object) error { n++; return nil }); err != nil || n != want {
			t.Errorf("read %d objects, %v, want %d", n, err, want)
		}
	}
}

// TestShardInfo reads the metadata of lists in JSON.
func TestShardInfo(t *testing.T) {
	for info, want := range map[string]bool{`{"selector":"x"}`: true, `{"selector":""}`: false, `{}`: false, `null`: false} {
		list := strings.Replace(podtest.List("7", podtest.Pod("a", "1")), `"resourceVersion":"7"`, `"resourceVersion":"7","shardInfo":`+info, 1)
		if !json.Valid([]byte(list)) || !strings.Contains(list, "shardInfo") {
			t.Fatal(list)
		}
		_, result, err := listAll(newReader(t, JSON, []byte(list), func() *corev1.Pod { return &corev1.Pod{} }, Options{}))
		if err != nil || result.Sharded != want {
			t.Errorf("%s: got %+v, %v, want Sharded %v", info, result, err, want)
		}
	}
}
