// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	sigsjson "sigs.k8s.io/json"

	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/internal/jsondec"
	"github.com/informer-gen/informer-gen/runtime/internal/podtest"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// fuzzBody is the response for the readers of the list and watch targets. A process runs one input
// at a time.
var fuzzBody []byte

// fuzzReaders returns readers by format: typed and untyped, with and without dropped parts, with
// default buffers, and with tiny buffers and parts shared with the objects of earlier inputs.
func fuzzReaders(t testing.TB) map[Format][]*reader[object.Object] {
	all := map[Format][]*reader[object.Object]{}
	for _, f := range allFormats {
		for _, newObject := range []func() object.Object{newPod, newUntyped} {
			for _, opts := range []Options{{Kind: "Pod"}, {Kind: "Pod", DropManagedFields: true, DropAnnotations: []string{"example.test/checksum"}}} {
				for _, sizes := range []bufferSizes{defaultSizes, tinySizes} {
					c := mustCodec(t, opts, newObject)
					c.sizes = sizes
					if c.Has(f) { // untyped has no protobuf
						body := func() io.ReadCloser { return io.NopCloser(bytes.NewReader(fuzzBody)) }
						all[f] = append(all[f], &reader[object.Object]{codec: c, format: f, body: body, readOnly: sizes == tinySizes})
					}
				}
			}
		}
	}
	return all
}

// checkObject verifies the properties of every delivered object.
func checkObject(t *testing.T, obj object.Object) {
	t.Helper()
	gvk := obj.GetObjectKind().GroupVersionKind()
	if obj.GetName() == "" || obj.GetResourceVersion() == "" || gvk.Kind != "Pod" || gvk.GroupVersion() != pods.GroupVersion() {
		t.Errorf("delivered %v %q at resourceVersion %q", gvk, obj.GetName(), obj.GetResourceVersion())
	}
}

// FuzzList feeds any bytes to the list decoder of each format.
func FuzzList(f *testing.F) {
	for _, text := range []string{
		podtest.List("7", podtest.Pod("a", "1"), podtest.KindPod("b", "2")),
		podtest.List("7", podtest.Large(1)),
		`{"items":[` + podtest.Pod("a", "1") + `],"metadata":{"continue":"x","resourceVersion":"7"},"apiVersion":"v1","kind":"PodList"}`,
		podtest.List("7"),
	} {
		for i, format := range allFormats {
			body := podtest.Transcode(f, []byte(text), format)
			f.Add(uint8(i), body)
			f.Add(uint8(i), body[:len(body)*3/4])
		}
		f.Add(uint8(0), []byte(text))
	}
	f.Add(uint8(0), []byte(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":null}`))
	f.Add(uint8(0), []byte(`{"kind":"Table","apiVersion":"meta.k8s.io/v1"}`))
	f.Add(uint8(2), []byte("\xd9\xd9\xf7\xa4DkindGPodLvstEitems\x80Hmetadata\xa1OresourceVersionA7JapiVersionBv1"))
	readers := fuzzReaders(f)
	f.Fuzz(func(t *testing.T, format uint8, body []byte) {
		fuzzBody = body
		form := allFormats[int(format)%len(allFormats)]
		for i, s := range readers[form] {
			got, result, err := listAll(s)
			for _, obj := range got {
				checkObject(t, obj)
			}
			var failed *Error
			switch {
			case err == nil && result.ResourceVersion == "":
				t.Error("List returns no resourceVersion")
			case err != nil && !errors.As(err, &failed):
				t.Errorf("List fails with %T %v, want an *Error", err, err)
			case err != nil && (failed.Item < 0 || failed.Item > len(got)+1 || failed.Err == nil || failed.Offset > int64(len(body))):
				t.Errorf("List fails at item %d after %d items, offset %d of %d: %v", failed.Item, len(got), failed.Offset, len(body), err)
			}
			if err != nil {
				continue
			}
			if i < 2 {
				checkAgainstApimachinery(t, form, body, got)
			}
		}
	})
}

// checkAgainstApimachinery compares an accepted list of Pods with the result of apimachinery's
// decoder.
func checkAgainstApimachinery(t *testing.T, f Format, body []byte, got []object.Object) {
	var want corev1.PodList
	var err error
	if f == JSON {
		err = sigsjson.UnmarshalCaseSensitivePreserveInts(body, &want)
	} else {
		_, _, err = podtest.ProtobufSerializer.Decode(body, nil, &want)
	}
	if len(got) == 0 && runtime.IsNotRegisteredError(err) {
		return // an empty list may have any name
	}
	if err != nil || len(want.Items) != len(got) {
		t.Fatalf("apimachinery decodes %d items, %v; List %d", len(want.Items), err, len(got))
	}
	for i := range got {
		first := got[i].(*corev1.Pod)
		want.Items[i].TypeMeta = first.TypeMeta
		if !equality.Semantic.DeepEqual(&want.Items[i], first) {
			t.Errorf("item %d differs\nwant %+v\ngot  %+v", i, &want.Items[i], first)
		}
	}
}

// FuzzWatch feeds any bytes to the watch decoder of each format.
func FuzzWatch(f *testing.F) {
	p := podtest.LargeObject(f, 1)
	for i, format := range allFormats {
		body := append(podtest.EncodeEvent(f, format, "ADDED", p), podtest.EncodeEvent(f, format, "BOOKMARK", p)...)
		f.Add(uint8(i), body)
		f.Add(uint8(i), body[:len(body)-100])
		f.Add(uint8(i), podtest.EncodeEvent(f, format, "ERROR", &metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Code: 410}))
		f.Add(uint8(i), podtest.EncodeEvent(f, format, "X", p))
	}
	f.Add(uint8(0), []byte(podtest.Event("ADDED", podtest.KindPod("a", "1"))+"\n"+podtest.Bookmark+"\n"+podtest.EndBookmark))
	f.Add(uint8(0), []byte(`{"object":`+podtest.KindPod("b", "3")+`,"type":"DELETED"}`+podtest.Gone))
	f.Add(uint8(0), []byte(podtest.Throttled))
	readers := fuzzReaders(f)
	f.Fuzz(func(t *testing.T, format uint8, body []byte) {
		fuzzBody = body
		for _, s := range readers[allFormats[int(format)%len(allFormats)]] {
			n := 0
			err := s.Watch(context.Background(), Promises{ReadOnly: s.readOnly}, func(e Event[object.Object]) error {
				n++
				if e.ResourceVersion == "" || strings.HasPrefix(e.Type.String(), "UNKNOWN") || (e.Object == nil) != (e.Type == deltafifo.Bookmark) {
					t.Errorf("delivered %+v as event %d", e, n)
				}
				if e.Object != nil {
					checkObject(t, e.Object)
				}
				return nil
			})
			var failed *Error
			var status *apierrors.StatusError
			if err != nil && !errors.As(err, &status) && (!errors.As(err, &failed) || failed.Item != n+1) {
				t.Errorf("Watch fails after %d events with %T %v", n, err, err)
			}
		}
	})
}

// FuzzTyped compares the decoders with sigs.k8s.io/json: they accept the same input, with the same
// result. The types are one with all usual fields, an API type, one with unusual fields, and an
// untyped one.
func FuzzTyped(f *testing.F) {
	types := []func() object.Object{
		func() object.Object { return &kitchenSink{} }, newPod, func() object.Object { return &exotic{} },
	}
	for i := range len(types) + 1 {
		f.Add(uint8(i), podtest.Large(1))
	}
	// Each text is a seed for one type only: a fuzz target runs its seeds first, and a short run
	// has no time for more.
	names := []string{"unknown", "INT", "x", "z"}
	for field := range reflect.TypeFor[kitchenSink]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names = append(names, name)
	}
	for i, value := range trickyValues {
		key, _ := json.Marshal(names[i%len(names)])
		other, _ := json.Marshal(names[(i+5)%len(names)])
		f.Add(uint8(i), `{"kind":"A",`+string(key)+`:`+value+`,`+string(other)+`:`+value+`}`)
		f.Add(uint8(i+1), `{`+string(key)+`:`+value+`,`+string(key)+`:`+trickyValues[(i+7)%len(trickyValues)]+`}`)
	}
	f.Fuzz(func(t *testing.T, kind uint8, text string) {
		if n := int(kind) % (len(types) + 1); n < len(types) {
			decodeBoth(t, text, types[n])
			return
		}
		var want map[string]any
		wantErr := sigsjson.UnmarshalCaseSensitivePreserveInts([]byte(text), &want)
		got, n, ok := jsondec.NewUntyped(false).Decode([]byte(text))
		if ok = ok && isSpace([]byte(text[n:])); ok && (wantErr != nil || !reflect.DeepEqual(want, got)) {
			t.Errorf("%q decoded untyped\nwant %#v, %v\ngot  %#v", text, want, wantErr, got)
		}
	})
}

// FuzzFormats encodes a Pod by apimachinery in all formats, and compares apimachinery's decoder
// with ours, with and without dropped parts.
func FuzzFormats(f *testing.F) {
	f.Add(podtest.WithKind(podtest.Large(1)), "example.test/checksum")
	f.Add(podtest.KindPod("a", "1"), "")
	for i, value := range trickyValues {
		f.Add(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"n","resourceVersion":"1","annotations":{"a":"b","c":"d"},"managedFields":[{"manager":"m","fieldsV1":{"f:a":{}}}],"`+
			[]string{"labels", "finalizers", "ownerReferences", "generation"}[i%4]+`":`+value+`},"spec":{"containers":[{"name":"n","env":`+value+`}]}}`, "a")
	}
	f.Fuzz(func(t *testing.T, text, annotation string) {
		var pod corev1.Pod
		if sigsjson.UnmarshalCaseSensitivePreserveInts([]byte(text), &pod) != nil || pod.Name == "" || pod.ResourceVersion == "" || !json.Valid([]byte(text)) {
			return
		}
		pod.TypeMeta = metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}
		for _, format := range allFormats {
			body, ok := tryEncode(format, &corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}, ListMeta: metav1.ListMeta{ResourceVersion: "1"}, Items: []corev1.Pod{pod}})
			if !ok {
				continue
			}
			var list corev1.PodList
			var err error
			if format == JSON {
				err = sigsjson.UnmarshalCaseSensitivePreserveInts(body, &list)
			} else {
				_, _, err = podtest.ProtobufSerializer.Decode(body, nil, &list)
			}
			if err != nil {
				continue
			}
			want := list.Items[0]
			want.TypeMeta = pod.TypeMeta
			whole := newReader(t, format, body, newPod, Options{})
			for _, readOnly := range []bool{false, true, true, true} {
				whole.readOnly = readOnly
				got, _, err := listAll(whole)
				if err != nil || !equality.Semantic.DeepEqual(&want, got[0]) {
					t.Fatalf("%v: %v\nwant %+v\ngot  %+v", format, err, &want, got)
				}
			}
			slim, _, err := listAll(newReader(t, format, body, newPod, Options{DropManagedFields: true, DropAnnotations: []string{annotation}}))
			want.ManagedFields = nil
			delete(want.Annotations, annotation)
			if err != nil || !equality.Semantic.DeepEqual(&want, slim[0]) {
				t.Fatalf("%v without %q: %v\nwant %+v\ngot  %+v", format, annotation, err, &want, slim)
			}
		}
	})
}

// tryEncode encodes an object, or returns false if it can't be encoded.
func tryEncode(f Format, obj runtime.Object) ([]byte, bool) {
	var buf bytes.Buffer
	if f == JSON {
		err := json.NewEncoder(&buf).Encode(obj)
		return buf.Bytes(), err == nil
	}
	err := podtest.ProtobufSerializer.Encode(obj, &buf)
	return buf.Bytes(), err == nil
}
