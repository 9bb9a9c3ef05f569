// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	sigsjson "sigs.k8s.io/json"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// fuzzBody is what the sources of the list and watch targets are answered with. A process runs one
// input at a time.
var fuzzBody []byte

// fuzzSources read it in one format as a typed and as an untyped collection, whole and without what
// can be dropped; each alone, and with several goroutines, small buffers, and parts of objects
// shared with all objects of inputs before.
func fuzzSources(t testing.TB) map[Format][]Source[object.Object] {
	slim := Options{Kind: "Pod", DropManagedFields: true, DropAnnotations: []string{"example.test/checksum"}}
	all := map[Format][]Source[object.Object]{}
	for _, f := range everyFormat {
		c := newTestClient(t, func(*http.Request) (*http.Response, error) {
			return answer(200, string(fuzzBody), "Content-Type", f.mediaType()), nil
		})
		for _, newObject := range []func() object.Object{newPod, newUntyped} {
			for _, opts := range []Options{{Kind: "Pod"}, slim} {
				opts.Formats = []Format{f}
				for _, how := range []tuning{defaultTuning, tiny} {
					// untyped has no protobuf
					if s, err := NewFunc(c, pods, newObject, opts); err == nil {
						s.c.codec.tuning = how
						all[f] = append(all[f], readOnly{s, how == tiny})
					}
				}
			}
		}
	}
	return all
}

// readOnly reports whether objects are.
type readOnly struct {
	Source[object.Object]
	yes bool
}

func (r readOnly) List(ctx context.Context, opts ListOptions, item func(object.Object) error) (ListResult, error) {
	opts.ReadOnly = r.yes
	return r.Source.List(ctx, opts, item)
}

func (r readOnly) Watch(ctx context.Context, opts WatchOptions, opened func(), event func(Event[object.Object]) error) error {
	opts.ReadOnly = r.yes
	return r.Source.Watch(ctx, opts, opened, event)
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
		podList("7", pod("a", "1"), kindPod("b", "2")),
		podList("7", benchPod(1)),
		`{"items":[` + pod("a", "1") + `],"metadata":{"continue":"x","resourceVersion":"7"},"apiVersion":"v1","kind":"PodList"}`,
		podList("7"),
	} {
		for i, format := range everyFormat {
			body := transcodeList(f, []byte(text), format)
			f.Add(uint8(i), body)
			f.Add(uint8(i), body[:len(body)*3/4])
		}
		f.Add(uint8(0), []byte(text))
	}
	f.Add(uint8(0), []byte(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":null}`))
	f.Add(uint8(0), []byte(`{"kind":"Table","apiVersion":"meta.k8s.io/v1"}`))
	f.Add(uint8(2), []byte("\xd9\xd9\xf7\xa4DkindGPodLvstEitems\x80Hmetadata\xa1OresourceVersionA7JapiVersionBv1"))
	sources := fuzzSources(f)
	f.Fuzz(func(t *testing.T, format uint8, body []byte) {
		fuzzBody = body
		form := everyFormat[int(format)%len(everyFormat)]
		for i, s := range sources[form] {
			got, result, err := listAll(s)
			for _, obj := range got {
				checkObject(t, obj)
			}
			var decode *DecodeError
			switch {
			case err == nil && result.ResourceVersion == "":
				t.Error("a list without a version")
			case err != nil && !errors.As(err, &decode):
				t.Errorf("got %T %v, want a *DecodeError", err, err)
			case err != nil && (decode.Item < 0 || decode.Item > len(got)+1 || decode.Err == nil || decode.Offset > int64(len(body))):
				t.Errorf("item %d after %d, offset %d of %d: %v", decode.Item, len(got), decode.Offset, len(body), err)
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
		_, _, err = serializer(f).Decode(body, nil, &want)
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
	p := benchPodObject(f, 1)
	for i, format := range everyFormat {
		body := append(encodeEvent(f, format, "ADDED", p), encodeEvent(f, format, "BOOKMARK", p)...)
		f.Add(uint8(i), body)
		f.Add(uint8(i), body[:len(body)-100])
		f.Add(uint8(i), encodeEvent(f, format, "ERROR", &metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Code: 410}))
		f.Add(uint8(i), encodeEvent(f, format, "X", p))
	}
	f.Add(uint8(0), []byte(event("ADDED", kindPod("a", "1"))+"\n"+bookmark+"\n"+endBookmark))
	f.Add(uint8(0), []byte(`{"object":`+kindPod("b", "3")+`,"type":"DELETED"}`+gone))
	f.Add(uint8(0), []byte(throttled))
	sources := fuzzSources(f)
	f.Fuzz(func(t *testing.T, format uint8, body []byte) {
		fuzzBody = body
		for _, s := range sources[everyFormat[int(format)%len(everyFormat)]] {
			n := 0
			err := s.Watch(context.Background(), WatchOptions{}, nil, func(e Event[object.Object]) error {
				n++
				if e.ResourceVersion == "" || strings.HasPrefix(e.Type.String(), "UNKNOWN") || (e.Object == nil) != (e.Type == Bookmark) {
					t.Errorf("event %d is %+v", n, e)
				}
				if e.Object != nil {
					checkObject(t, e.Object)
				}
				return nil
			})
			var decode *DecodeError
			var status *apierrors.StatusError
			if err != nil && !errors.As(err, &status) && (!errors.As(err, &decode) || decode.Item != n+1) {
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
	add := func(text string) {
		for i := range len(types) + 1 {
			f.Add(uint8(i), text)
		}
	}
	add(benchPod(1))
	names := []string{"unknown", "INT", "x", "z"}
	for field := range reflect.TypeFor[kitchen]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names = append(names, name)
	}
	for i, value := range tricky {
		key, _ := json.Marshal(names[i%len(names)])
		other, _ := json.Marshal(names[(i+5)%len(names)])
		add(`{"kind":"A",` + string(key) + `:` + value + `,` + string(other) + `:` + value + `}`)
		add(`{` + string(key) + `:` + value + `,` + string(key) + `:` + tricky[(i+7)%len(tricky)] + `}`)
	}
	f.Fuzz(func(t *testing.T, kind uint8, text string) {
		if n := int(kind) % (len(types) + 1); n < len(types) {
			decodeBoth(t, text, types[n])
			return
		}
		var want map[string]any
		wantErr := sigsjson.UnmarshalCaseSensitivePreserveInts([]byte(text), &want)
		r := contentReader{drop: &dropped{}, names: map[string]string{}}
		got, gotErr := r.decodeContent([]byte(text))
		if (wantErr == nil) != (gotErr == nil) {
			t.Errorf("%q\nsigs.k8s.io/json says %v\nwe say %v", text, wantErr, gotErr)
		} else if wantErr == nil && !reflect.DeepEqual(want, got) {
			t.Errorf("%q\nsigs.k8s.io/json has %#v\nwe have %#v", text, want, got)
		}
	})
}

// FuzzFormats takes a Pod through all formats: encoded and decoded by apimachinery, or encoded by
// it and decoded by us, it is the same, and what is dropped is all that is missing.
func FuzzFormats(f *testing.F) {
	f.Add(kindPodOf(benchPod(1)), "example.test/checksum")
	f.Add(kindPod("a", "1"), "")
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
				_, _, err = serializer(format).Decode(body, nil, &list)
			}
			if err != nil {
				continue
			}
			want := list.Items[0]
			want.TypeMeta = pod.TypeMeta
			whole := serveIn(t, format, body, newPod, Options{})
			for _, s := range []Source[object.Object]{whole, readOnly{whole, true}, readOnly{whole, true}, readOnly{whole, true}} {
				got, _, err := listAll(s)
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
	err := serializer(f).Encode(obj, &buf)
	return buf.Bytes(), err == nil
}
