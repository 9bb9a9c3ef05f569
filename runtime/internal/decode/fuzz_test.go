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

// fuzzBody is what the readers of the list and watch targets get. A process runs one input at a
// time.
var fuzzBody []byte

// fuzzReaders read it in one format as a typed and as an untyped collection, whole and without what
// can be dropped; each with the usual buffers, and with tiny ones and parts of objects shared
// with all objects of inputs before.
func fuzzReaders(t testing.TB) map[Format][]*reader[object.Object] {
	all := map[Format][]*reader[object.Object]{}
	for _, f := range everyFormat {
		for _, newObject := range []func() object.Object{newPod, newUntyped} {
			for _, opts := range []Options{{Kind: "Pod"}, {Kind: "Pod", DropManagedFields: true, DropAnnotations: []string{"example.test/checksum"}}} {
				for _, how := range []sizes{defaultSizes, tiny} {
					c := mustCodec(t, opts, newObject)
					c.sizes = how
					if c.Has(f) { // untyped has no protobuf
						body := func() io.ReadCloser { return io.NopCloser(bytes.NewReader(fuzzBody)) }
						all[f] = append(all[f], &reader[object.Object]{codec: c, format: f, body: body, readOnly: how == tiny})
					}
				}
			}
		}
	}
	return all
}

// checkObject is what every object that is handed over has to be.
func checkObject(t *testing.T, obj object.Object) {
	t.Helper()
	gvk := obj.GetObjectKind().GroupVersionKind()
	if obj.GetName() == "" || obj.GetResourceVersion() == "" || gvk.Kind != "Pod" || gvk.GroupVersion() != pods.GroupVersion() {
		t.Errorf("handed over %v %q at %q", gvk, obj.GetName(), obj.GetResourceVersion())
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
		for i, format := range everyFormat {
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
		form := everyFormat[int(format)%len(everyFormat)]
		for i, s := range readers[form] {
			got, result, err := listAll(s)
			for _, obj := range got {
				checkObject(t, obj)
			}
			var failed *Error
			switch {
			case err == nil && result.ResourceVersion == "":
				t.Error("a list without a version")
			case err != nil && !errors.As(err, &failed):
				t.Errorf("got %T %v, want a *DecodeError", err, err)
			case err != nil && (failed.Item < 0 || failed.Item > len(got)+1 || failed.Err == nil || failed.Offset > int64(len(body))):
				t.Errorf("item %d after %d, offset %d of %d: %v", failed.Item, len(got), failed.Offset, len(body), err)
			}
			if err != nil {
				continue
			}
			if i < 2 {
				checkAgainstTheirs(t, form, body, got)
			}
		}
	})
}

// checkAgainstTheirs: what we take as a list of Pods is one for apimachinery's decoder, too, with
// the same Pods.
func checkAgainstTheirs(t *testing.T, f Format, body []byte, got []object.Object) {
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
		t.Fatalf("apimachinery has %d items and %v, we have %d", len(want.Items), err, len(got))
	}
	for i := range got {
		first := got[i].(*corev1.Pod)
		want.Items[i].TypeMeta = first.TypeMeta
		if !equality.Semantic.DeepEqual(&want.Items[i], first) {
			t.Errorf("apimachinery has %+v\nwe have %+v", &want.Items[i], first)
		}
	}
}

// FuzzWatch feeds any bytes to the watch decoder of each format.
func FuzzWatch(f *testing.F) {
	p := podtest.LargeObject(f, 1)
	for i, format := range everyFormat {
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
		for _, s := range readers[everyFormat[int(format)%len(everyFormat)]] {
			n := 0
			err := s.Watch(context.Background(), Promises{ReadOnly: s.readOnly}, func(e Event[object.Object]) error {
				n++
				if e.ResourceVersion == "" || strings.HasPrefix(e.Type.String(), "UNKNOWN") || (e.Object == nil) != (e.Type == deltafifo.Bookmark) {
					t.Errorf("event %d is %+v", n, e)
				}
				if e.Object != nil {
					checkObject(t, e.Object)
				}
				return nil
			})
			var failed *Error
			var status *apierrors.StatusError
			if err != nil && !errors.As(err, &status) && (!errors.As(err, &failed) || failed.Item != n+1) {
				t.Errorf("after %d events: got %T %v", n, err, err)
			}
		}
	})
}

// FuzzTyped compares with sigs.k8s.io/json: what it accepts for a typed object, we accept with the
// same result; what it rejects, we reject. One type has a field of everything that APIs are made
// of, one is of the API, one has what APIs avoid, and one is not typed at all.
func FuzzTyped(f *testing.F) {
	types := []func() object.Object{
		func() object.Object { return &kitchen{} }, newPod, func() object.Object { return &exotic{} },
	}
	for i := range len(types) + 1 {
		f.Add(uint8(i), podtest.Large(1))
	}
	// Each text is a seed for one type, not for all. A fuzz target runs its seeds first, which
	// would take longer than a short run has.
	names := []string{"unknown", "INT", "x", "z"}
	for field := range reflect.TypeFor[kitchen]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names = append(names, name)
	}
	for i, value := range tricky {
		key, _ := json.Marshal(names[i%len(names)])
		other, _ := json.Marshal(names[(i+5)%len(names)])
		f.Add(uint8(i), `{"kind":"A",`+string(key)+`:`+value+`,`+string(other)+`:`+value+`}`)
		f.Add(uint8(i+1), `{`+string(key)+`:`+value+`,`+string(key)+`:`+tricky[(i+7)%len(tricky)]+`}`)
	}
	f.Fuzz(func(t *testing.T, kind uint8, text string) {
		if n := int(kind) % (len(types) + 1); n < len(types) {
			decodeBoth(t, text, types[n])
			return
		}
		var want map[string]any
		wantErr := sigsjson.UnmarshalCaseSensitivePreserveInts([]byte(text), &want)
		got, n, ok := jsondec.NewUntyped(false).Decode([]byte(text))
		if ok = ok && blank([]byte(text[n:])); ok && (wantErr != nil || !reflect.DeepEqual(want, got)) {
			t.Errorf("%q\nsigs.k8s.io/json has %#v, %v\nwe have %#v", text, want, wantErr, got)
		}
	})
}

// FuzzFormats takes a Pod through all formats: encoded and decoded by apimachinery, or encoded by
// it and decoded by us, it is the same, and what is dropped is all that is missing.
func FuzzFormats(f *testing.F) {
	f.Add(podtest.WithKind(podtest.Large(1)), "example.test/checksum")
	f.Add(podtest.KindPod("a", "1"), "")
	for i, value := range tricky {
		f.Add(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"n","resourceVersion":"1","annotations":{"a":"b","c":"d"},"managedFields":[{"manager":"m","fieldsV1":{"f:a":{}}}],"`+
			[]string{"labels", "finalizers", "ownerReferences", "generation"}[i%4]+`":`+value+`},"spec":{"containers":[{"name":"n","env":`+value+`}]}}`, "a")
	}
	f.Fuzz(func(t *testing.T, text, annotation string) {
		var pod corev1.Pod
		if sigsjson.UnmarshalCaseSensitivePreserveInts([]byte(text), &pod) != nil || pod.Name == "" || pod.ResourceVersion == "" || !json.Valid([]byte(text)) {
			return
		}
		pod.TypeMeta = metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}
		for _, format := range everyFormat {
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
			whole := serveIn(t, format, body, newPod, Options{})
			for _, readOnly := range []bool{false, true, true, true} {
				whole.readOnly = readOnly
				got, _, err := listAll(whole)
				if err != nil || !equality.Semantic.DeepEqual(&want, got[0]) {
					t.Fatalf("%v: %v\nwant %+v\ngot  %+v", format, err, &want, got)
				}
			}
			slim, _, err := listAll(serveIn(t, format, body, newPod, Options{DropManagedFields: true, DropAnnotations: []string{annotation}}))
			want.ManagedFields = nil
			delete(want.Annotations, annotation)
			if err != nil || !equality.Semantic.DeepEqual(&want, slim[0]) {
				t.Fatalf("%v without %q: %v\nwant %+v\ngot  %+v", format, annotation, err, &want, slim)
			}
		}
	})
}

// tryEncode is encode of an object that may not have an encoding.
func tryEncode(f Format, obj runtime.Object) ([]byte, bool) {
	var buf bytes.Buffer
	if f == JSON {
		err := json.NewEncoder(&buf).Encode(obj)
		return buf.Bytes(), err == nil
	}
	err := podtest.ProtobufSerializer.Encode(obj, &buf)
	return buf.Bytes(), err == nil
}
