// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	runtimeobject "k8s.io/apimachinery/pkg/runtime"

	"github.com/informer-gen/informer-gen/runtime/object"
)

func benchPodObject(t testing.TB, i int) *corev1.Pod {
	t.Helper()
	var p corev1.Pod
	if err := json.Unmarshal([]byte(kindPodOf(benchPod(i))), &p); err != nil {
		t.Fatal(err)
	}
	return &p
}

// theirs decodes a whole list as apimachinery does it.
func theirs(t testing.TB, f Format, body []byte) []corev1.Pod {
	t.Helper()
	var list corev1.PodList
	var err error
	if f == JSON {
		err = json.Unmarshal(body, &list)
	} else {
		_, _, err = serializer(f).Decode(body, nil, &list)
	}
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func TestEveryFormatListsTheSame(t *testing.T) {
	text := []byte(podList("7", benchPod(1), kindPodOf(benchPod(2)), pod("c", "3")))
	for _, f := range everyFormat {
		t.Run(f.String(), func(t *testing.T) {
			body := transcodeList(t, text, f)
			got, result, err := listAll(serveIn(t, f, body, func() *corev1.Pod { return &corev1.Pod{} }, Options{}))
			if err != nil || result.ResourceVersion != "7" {
				t.Fatal(result, err)
			}
			want := theirs(t, f, body)
			if len(got) != len(want) {
				t.Fatalf("got %d Pods, want %d", len(got), len(want))
			}
			for i := range got {
				if want := (metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}); got[i].TypeMeta != want {
					t.Errorf("item %d says it is %v", i, got[i].TypeMeta)
				}
				want[i].TypeMeta = got[i].TypeMeta
				if diff := cmp.Diff(&want[i], got[i]); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

func TestEveryFormatOfUntypedObjects(t *testing.T) {
	list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "v1", "kind": "PodList", "metadata": map[string]any{"resourceVersion": "7", "continue": "more"}}}
	var want []*unstructured.Unstructured
	for i := range 3 {
		content, err := runtimeobject.DefaultUnstructuredConverter.ToUnstructured(benchPodObject(t, i+1))
		if err != nil {
			t.Fatal(err)
		}
		content["big"], content["float"], content["none"] = int64(9007199254740993), 1.5, nil
		list.Items = append(list.Items, unstructured.Unstructured{Object: content})
		want = append(want, &list.Items[i])
	}
	for _, f := range []Format{JSON, CBOR} {
		got, result, err := listAll(serveIn(t, f, encode(t, f, list), func() *unstructured.Unstructured { return &unstructured.Unstructured{} }, Options{}))
		if err != nil || result != (ListResult{ResourceVersion: "7", Continue: "more"}) {
			t.Fatal(f, result, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%v: %s", f, diff)
		}
	}
}

func TestEveryFormatWatches(t *testing.T) {
	added := benchPodObject(t, 1)
	mark := &corev1.Pod{TypeMeta: added.TypeMeta, ObjectMeta: metav1.ObjectMeta{ResourceVersion: "9"}}
	end := mark.DeepCopy()
	end.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	gone := &metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Reason: metav1.StatusReasonExpired, Code: 410}
	for _, f := range everyFormat {
		t.Run(f.String(), func(t *testing.T) {
			var body []byte
			for _, e := range []struct {
				typ string
				obj runtimeobject.Object
			}{{"ADDED", added}, {"BOOKMARK", mark}, {"BOOKMARK", end}, {"MODIFIED", added}, {"DELETED", added}, {"ERROR", gone}, {"ADDED", added}} {
				body = append(body, encodeEvent(t, f, e.typ, e.obj)...)
			}
			got, err := watchAll(serveIn(t, f, body, func() *corev1.Pod { return &corev1.Pod{} }, Options{}))
			if !apierrors.IsResourceExpired(err) {
				t.Errorf("got %v, want an expiry", err)
			}
			want := []Event[*corev1.Pod]{
				{Type: Added, Object: added, ResourceVersion: "1"},
				{Type: Bookmark, ResourceVersion: "9"},
				{Type: Bookmark, ResourceVersion: "9", InitialEventsEnd: true},
				{Type: Modified, Object: added, ResourceVersion: "1"},
				{Type: Deleted, Object: added, ResourceVersion: "1"},
			}
			if !equality.Semantic.DeepEqual(want, got) {
				t.Error(cmp.Diff(want, got))
			}
			// It ends without an error between events, and with one everywhere else.
			one := encodeEvent(t, f, "ADDED", added)
			for cut := 1; cut < len(one); cut += 7 {
				got, err := watchAll(serveIn(t, f, append(bytes.Clone(one), one[:cut]...), func() *corev1.Pod { return &corev1.Pod{} }, Options{}))
				var decode *DecodeError
				if len(got) != 1 || !errors.Is(err, io.ErrUnexpectedEOF) || !errors.As(err, &decode) || decode.Item != 2 {
					t.Fatalf("cut off after %d of %d bytes: got %d events and %v", cut, len(one), len(got), err)
				}
			}
			if _, err := watchAll(serveIn(t, f, one, func() *corev1.Pod { return &corev1.Pod{} }, Options{})); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestEveryFormatRejects puts the same mistakes into each format.
func TestEveryFormatRejects(t *testing.T) {
	good := benchPodObject(t, 1)
	list := func(kind, apiVersion, version string, items ...corev1.Pod) *corev1.PodList {
		return &corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: kind, APIVersion: apiVersion}, ListMeta: metav1.ListMeta{ResourceVersion: version}, Items: items}
	}
	noName, noVersion := *good.DeepCopy(), *good.DeepCopy()
	noName.Name, noVersion.ResourceVersion = "", ""
	otherKind := good.DeepCopy()
	otherKind.Kind = "Node"
	markWithout := &corev1.Pod{TypeMeta: good.TypeMeta}
	for _, f := range everyFormat {
		for name, tc := range map[string]struct {
			body []byte
			item int
			is   error
			key  string
		}{
			"other version": {encode(t, f, list("PodList", "v2", "7", *good)), 0, ErrWrongKind, ""},
			"other list":    {encode(t, f, list("Nodes", "v2", "7")), 0, ErrWrongKind, ""},
			"no version":    {encode(t, f, list("PodList", "v1", "", *good)), 0, ErrNoResourceVersion, ""},
			"status":        {encode(t, f, &metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Success"}), 0, ErrWrongKind, ""},
			"no name":       {encode(t, f, list("PodList", "v1", "7", *good, noName)), 2, ErrNoName, ""},
			"unordered":     {encode(t, f, list("PodList", "v1", "7", noVersion)), 1, ErrNoResourceVersion, "shop/web-1"},
			"empty":         {nil, 0, io.ErrUnexpectedEOF, ""},
			"cut off":       {cutAfter(encode(t, f, list("PodList", "v1", "7", *good, *good)), 0.8), 2, io.ErrUnexpectedEOF, ""},
		} {
			_, _, err := listAll(serveIn(t, f, tc.body, func() *corev1.Pod { return &corev1.Pod{} }, Options{}))
			var decode *DecodeError
			if !errors.As(err, &decode) || !errors.Is(err, tc.is) || decode.Item != tc.item || tc.key != "" && decode.Key.String() != tc.key {
				t.Errorf("%v list, %s: got %v, want %v at item %d", f, name, err, tc.is, tc.item)
			}
		}
		one := encodeEvent(t, f, "ADDED", good)
		for name, tc := range map[string]struct {
			body []byte
			is   error
			key  string
		}{
			"unknown type": {encodeEvent(t, f, "SPLICED", good), ErrUnknownEvent, ""},
			"no type":      {encodeEvent(t, f, "", good), ErrUnknownEvent, ""},
			"wrong kind":   {encodeEvent(t, f, "ADDED", otherKind), ErrWrongKind, "shop/web-1"},
			"no name":      {encodeEvent(t, f, "ADDED", &noName), ErrNoName, ""},
			"unordered":    {encodeEvent(t, f, "DELETED", &noVersion), ErrNoResourceVersion, "shop/web-1"},
			"empty mark":   {encodeEvent(t, f, "BOOKMARK", markWithout), ErrNoResourceVersion, ""},
			"no status":    {encodeEvent(t, f, "ERROR", &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{Kind: "ConfigMap", APIVersion: "v1"}}), ErrWrongKind, ""},
		} {
			got, err := watchAll(serveIn(t, f, append(bytes.Clone(one), tc.body...), func() *corev1.Pod { return &corev1.Pod{} }, Options{}))
			var decode *DecodeError
			if len(got) != 1 || !errors.As(err, &decode) || !errors.Is(err, tc.is) || decode.Item != 2 || tc.key != "" && decode.Key.String() != tc.key {
				t.Errorf("%v watch, %s: got %d events and %v, want 1 and %v", f, name, len(got), err, tc.is)
			}
			if decode != nil && (decode.Offset <= int64(len(one)) || decode.Offset > int64(len(one)+len(tc.body))) {
				t.Errorf("%v watch, %s: offset %d is not in the event after %d", f, name, decode.Offset, len(one))
			}
		}
	}
}

// TestAbsurdLengths: what a length promises is not believed.
func TestAbsurdLengths(t *testing.T) {
	envelope := func(fields ...byte) []byte { return append([]byte(protoPrefix), fields...) }
	for name, tc := range map[string]struct {
		f           Format
		list, watch []byte
	}{
		"JSON as a frame":  {Protobuf, nil, []byte(`{"type":"ADDED"}`)},
		"a frame of 4 GB":  {Protobuf, nil, []byte{255, 255, 255, 255, 1}},
		"a frame of 16 MB": {Protobuf, nil, []byte{1, 0, 0, 0, 1}},
		"an item of 200 MB": {Protobuf, envelope(append(append([]byte{18}, binary.AppendUvarint(nil, 1<<40)...),
			append([]byte{18}, binary.AppendUvarint(nil, 200<<20)...)...)...), nil},
		"an item of 2^63":    {Protobuf, envelope(append([]byte{18, 100, 18}, binary.AppendUvarint(nil, 1<<63)...)...), nil},
		"a list of 2^63":     {Protobuf, envelope(append([]byte{18}, binary.AppendUvarint(nil, 1<<63)...)...), nil},
		"a type of 2^62":     {Protobuf, envelope(append([]byte{10}, binary.AppendUvarint(nil, 1<<62)...)...), nil},
		"an item too long":   {Protobuf, envelope(18, 4, 18, 5, 1, 2, 3, 4, 5), nil},
		"a text of 2^63":     {CBOR, []byte{0xa1, 0x7b, 128, 0, 0, 0, 0, 0, 0, 0}, []byte{0xa1, 0x7b, 128, 0, 0, 0, 0, 0, 0, 0}},
		"a text of 200 MB":   {CBOR, []byte{0xa1, 0x7a, 12, 0, 0, 0, 'x'}, []byte{0xa1, 0x7a, 12, 0, 0, 0, 'x'}},
		"a map of 2^64":      {CBOR, []byte{0xbb, 255, 255, 255, 255, 255, 255, 255, 255, 0x61, 'x', 0xbb, 255, 255, 255, 255, 255, 255, 255, 255}, nil},
		"an array of 2^64":   {CBOR, []byte{0xa1, 0x65, 'i', 't', 'e', 'm', 's', 0x9b, 255, 255, 255, 255, 255, 255, 255, 255}, nil},
		"arrays within them": {CBOR, append([]byte{0xa1, 0x61, 'x'}, bytes.Repeat([]byte{0x81}, 1<<20)...), nil},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for verb, body := range map[string][]byte{"list": tc.list, "watch": tc.watch} {
				if body == nil {
					continue
				}
				s := serveIn(t, tc.f, body, func() *corev1.Pod { return &corev1.Pod{} }, Options{})
				var err error
				if verb == "list" {
					_, _, err = listAll(s)
				} else {
					_, err = watchAll(s)
				}
				var decode *DecodeError
				if !errors.As(err, &decode) {
					t.Errorf("%s: got %v", verb, err)
				}
			}
			runtime.ReadMemStats(&after)
			if grown := after.TotalAlloc - before.TotalAlloc; grown > 8<<20 {
				t.Errorf("allocated %d bytes", grown)
			}
		})
	}
}

// TestObjectWithoutEnd: an object that goes on and on is given up, however it is made, and so is a list that never comes to one. What
// came before it is not counted.
func TestObjectWithoutEnd(t *testing.T) {
	text := func(s string) string { return string(rune(0x60+len(s))) + s }
	cborList := "\xbf" + text("kind") + text("PodList") + text("apiVersion") + text("v1") + text("items") + "\x9f"
	good := []string{pod("a", "1"), pod("b", "1"), pod("c", "1")}
	for name, tc := range map[string]struct {
		f          Format
		verb       string
		begin, end string // end is repeated
		item       int
	}{
		"JSON, a text":          {JSON, "list", strings.TrimSuffix(podList("7", good...), "]}") + `,{"metadata":{"name":"`, "xxxxxxxx", 4},
		"JSON, unknown members": {JSON, "list", strings.TrimSuffix(podList("7", good...), "]}") + `,{"x":[1`, ",1,1,1,1", 4},
		"JSON, before items":    {JSON, "list", `{"kind":"PodList","x":[1`, ",1,1,1,1", 0},
		"JSON, watched":         {JSON, "watch", event("ADDED", kindPod("a", "1")) + `{"type":"ADDED","object":{"x":[1`, ",1,1,1,1", 2},
		"CBOR, an array":        {CBOR, "list", cborList + "\xbf" + text("x") + "\x9f", "\x01\x01\x01\x01\x01", 1},
		"CBOR, a text":          {CBOR, "list", cborList + "\xbf" + text("x") + "\x7f", text("yyyyyyy"), 1},
		"protobuf, unknown":     {Protobuf, "list", protoPrefix, "\x20\x01\x20\x01\x20\x01", 0},
	} {
		for _, limit := range []int64{4 << 10, 256 << 10} {
			body := strings.NewReader(tc.begin + strings.Repeat(tc.end, 100<<10))
			s := newStream(mustCodec(t, Options{}, newPod), tc.verb, io.NopCloser(body), tc.f)
			s.body.limit, s.body.left = limit, limit
			var err error
			if tc.verb == "list" {
				l := listReader{stream: s, deliver: func(object.Object) error { return nil }}
				_, err = l.read()
			} else {
				w := watchReader{stream: s, deliver: func(Event[object.Object]) error { return nil }}
				err = w.read()
			}
			var decode *DecodeError
			if !errors.As(err, &decode) || !errors.Is(err, ErrMalformed) || decode.Item != tc.item {
				t.Errorf("%s: got %v, want an error of item %d", name, err, tc.item)
			}
			if read := body.Size() - int64(body.Len()); read > limit*2+8<<10 {
				t.Errorf("%s: %d bytes were read of an object of %d at most", name, read, limit)
			}
		}
	}
}

// TestItemBeyondTheEndOfItsList: nothing is made of bytes that don't belong to the list.
func TestItemBeyondTheEndOfItsList(t *testing.T) {
	item, err := benchPodObject(t, 1).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	meta, err := (&metav1.TypeMeta{Kind: "v1", APIVersion: "PodList"}).Marshal() // the envelope has them in the other order
	if err != nil {
		t.Fatal(err)
	}
	list := appendBytes(appendBytes(nil, 1, appendBytes(nil, 2, []byte("7"))), 2, item)
	for short := range 3 {
		body := binary.AppendUvarint(append(appendBytes([]byte(protoPrefix), 1, meta), byte(protoBytes(2))), uint64(len(list)-short))
		body = append(body, list...)
		got, _, err := listAll(serveIn(t, Protobuf, body, func() *corev1.Pod { return &corev1.Pod{} }, Options{}))
		if short == 0 && (err != nil || len(got) != 1) || short > 0 && (!errors.Is(err, ErrMalformed) || len(got) != 0) {
			t.Errorf("a list that is %d bytes too short: got %d Pods and %v", short, len(got), err)
		}
	}
}

// TestCBORWithoutLengths: other servers may write what apimachinery doesn't.
func TestCBORWithoutLengths(t *testing.T) {
	text := func(s string) string { return string(rune(0x60+len(s))) + s }
	item := "\xbf" + text("metadata") + "\xbf" + text("name") + "\x7f" + text("a") + text("b") + "\xff" + text("resourceVersion") + text("5") + text("annotations") + "\xbf" +
		text("drop") + text("x") + text("keep") + text("y") + "\xff" + text("managedFields") + "\x9f\xff" + "\xff\xff"
	body := "\xd9\xd9\xf7\xbf" + text("kind") + text("PodList") + text("apiVersion") + text("v1") + text("metadata") + "\xbf" + text("resourceVersion") + text("7") + "\xff" +
		text("x") + "\x9f\x01\x20\xf5\xfb" + strings.Repeat("\x00", 8) + "\xbf\xff\xff" + text("items") + "\x9f" + item + "\xd9\xd9\xf7" + item + "\xff\xff"
	for _, opts := range []Options{{}, {DropManagedFields: true, DropAnnotations: []string{"drop"}}} {
		got, result, err := listAll(serveIn(t, CBOR, []byte(body), func() *corev1.Pod { return &corev1.Pod{} }, opts))
		if err != nil || len(got) != 2 || got[1].Name != "ab" || got[1].Annotations["keep"] != "y" || result.ResourceVersion != "7" {
			t.Errorf("got %v, %v, %v", got, result, err)
		}
		if len(got) == 2 && got[1].Annotations["drop"] == "x" != opts.DropManagedFields == false {
			t.Errorf("%+v: got %v", opts, got[1].Annotations)
		}
	}
}

// TestNoMetadataInEveryFormat: a type whose accessors panic.
func TestNoMetadataInEveryFormat(t *testing.T) {
	for _, drop := range []Options{{Kind: "Pod"}, {Kind: "Pod", DropManagedFields: true, DropAnnotations: []string{"a"}}} {
		for _, f := range []Format{JSON, CBOR} {
			body := encode(t, f, &unstructured.UnstructuredList{
				Object: map[string]any{"apiVersion": "v1", "kind": "PodList", "metadata": map[string]any{"resourceVersion": "1"}},
				Items:  []unstructured.Unstructured{{Object: map[string]any{"apiVersion": "v1", "kind": "Pod"}}},
			})
			_, _, err := listAll(serveIn(t, f, body, func() *pointerMeta { return &pointerMeta{} }, drop))
			if !errors.Is(err, ErrNoName) {
				t.Errorf("%v: got %v", f, err)
			}
		}
	}
}

func cutAfter(b []byte, part float64) []byte { return b[:int(float64(len(b))*part)] }
