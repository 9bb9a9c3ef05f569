// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

var projectionsSeen int

// Project makes projections of random objects, and compares them with their copies. It encodes the
// objects in JSON, and compares the runtime's projection of that with the projection of the whole
// object. Objects without JSON are encoded without the fields outside the projection; if that
// fails, too, they are only copied.
func Project[T, P object.Object](seed uint64, newObject func() T, project func(T) P, deepCopy func(P) P) {
	random := rand.New(rand.NewPCG(seed, 1))
	server := &served{kind: reflect.TypeFor[T]().Elem().Name()}
	whole, part := reader[T](server), reader[P](server)
	for range 20 {
		obj := newObject()
		fill(random, reflect.ValueOf(obj).Elem(), 0)
		obj.SetName("blue")
		obj.SetResourceVersion("1")
		obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: server.kind})
		made := project(obj)
		copied := deepCopy(made)
		if made.GetName() != "blue" || !reflect.DeepEqual(made, copied) {
			failProjection(made, "%s has the copy\n%+v\nof\n%+v", made.GetName(), copied, made)
		}
		shared := map[uintptr]bool{}
		addresses(reflect.ValueOf(made), func(at uintptr) { shared[at] = true })
		addresses(reflect.ValueOf(copied), func(at uintptr) {
			if shared[at] {
				failProjection(made, "the copy shares memory with it")
			}
		})
		text, err := json.Marshal(obj)
		if err != nil { // a map has keys that JSON doesn't know
			if text, err = json.Marshal(made); err != nil {
				continue
			}
		}
		server.object = text
		want, err := whole()
		if err != nil {
			continue // JSON has no such maps
		}
		got, err := part()
		if err != nil || !reflect.DeepEqual(project(want), got) {
			failProjection(made, "the object\n%s\nis read as a projection as\n%+v (%v)\nand as a whole as\n%+v", text, got, err, project(want))
		}
		projectionsSeen++
		if left, right := mustEncode(made), mustEncode(got); left != right {
			failProjection(made, "the object\n%s\nhas\n%s\nwant\n%s", text, right, left)
		}
	}
}

// Narrow makes projections of random objects through wider projections, and compares them with
// projections of the objects themselves.
func Narrow[T, P, W object.Object](seed uint64, newObject func() T, project func(T) P, narrow func(W) P, wide func(T) W) {
	random := rand.New(rand.NewPCG(seed, 2))
	for range 20 {
		obj := newObject()
		fill(random, reflect.ValueOf(obj).Elem(), 0)
		if want, got := project(obj), narrow(wide(obj)); !reflect.DeepEqual(want, got) {
			failProjection(got, "of %T it is\n%+v\nand of the object\n%+v", wide(obj), got, want)
		}
	}
}

type served struct {
	kind   string
	object []byte // in JSON
}

// RoundTrip implements http.RoundTripper.
func (s *served) RoundTrip(r *http.Request) (*http.Response, error) {
	body := slices.Concat([]byte(`{"kind":"`+s.kind+`List","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[`), s.object, []byte("]}"))
	return &http.Response{
		StatusCode: http.StatusOK, Status: "200 OK", Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader(body)), Request: r,
	}, nil
}

func reader[T object.Object](s *served) func() (T, error) {
	client, err := source.NewClient(&rest.Config{Host: "http://oracle", Transport: s})
	must(err)
	src, err := source.New[T](client, schema.GroupVersionResource{Version: "v1", Resource: "objects"}, source.Options{Kind: s.kind, Formats: []source.Format{source.JSON}})
	must(err)
	return func() (obj T, err error) {
		_, err = src.List(context.Background(), source.ListOptions{}, func(item T) error {
			obj = item
			return nil
		})
		return obj, err
	}
}

func mustEncode(v any) string {
	text, err := json.Marshal(v)
	must(err)
	return string(text)
}

func failProjection(p any, format string, args ...any) {
	failed++
	fmt.Fprintf(os.Stderr, "%T: %s\n", p, fmt.Sprintf(format, args...))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// addresses calls yield with the address of all mutable memory that v refers to.
func addresses(v reflect.Value, yield func(uintptr)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			if v.Elem().Type().Size() > 0 {
				yield(v.Pointer())
			}
			addresses(v.Elem(), yield)
		}
	case reflect.Slice:
		if v.Cap() > 0 {
			yield(v.Pointer())
		}
		for i := range v.Len() {
			addresses(v.Index(i), yield)
		}
	case reflect.Array:
		for i := range v.Len() {
			addresses(v.Index(i), yield)
		}
	case reflect.Map:
		if !v.IsNil() {
			yield(v.Pointer())
		}
		for _, value := range v.Seq2() {
			addresses(value, yield)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			addresses(v.Field(i), yield)
		}
	}
}
