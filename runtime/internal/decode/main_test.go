// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"bytes"
	"context"
	"io"
	"testing"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/object"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var pods = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

var allFormats = []Format{JSON, Protobuf}

func newPod() object.Object     { return &corev1.Pod{} }
func newUntyped() object.Object { return &unstructured.Unstructured{} }

// reader reads a new response at each call, as package source does.
type reader[T object.Object] struct {
	codec  *Codec
	format Format
	body   func() io.ReadCloser
	// readOnly is the promise of listAll and watchAll
	readOnly bool
}

// Event is an event of a reader.
type Event[T object.Object] struct {
	Type            deltafifo.Type
	Object          T
	ResourceVersion string
	More            bool
}

func (r *reader[T]) List(ctx context.Context, promises Promises, item func(T) error) (List, error) {
	s := r.codec.Open(ctx, r.body(), r.format, promises)
	defer s.Close()
	result, err := s.List(func(obj object.Object) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return item(obj.(T))
	})
	return result, callError(ctx, err)
}

func (r *reader[T]) Watch(ctx context.Context, promises Promises, event func(Event[T]) error) error {
	s := r.codec.Open(ctx, r.body(), r.format, promises)
	defer s.Close()
	return callError(ctx, s.Watch(func(i *Item) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		e := Event[T]{Type: i.Type, ResourceVersion: i.ResourceVersion(), More: i.More}
		if i.Object != nil {
			e.Object = i.Object.(T)
		}
		return event(e)
	}))
}

// callError returns the error that package source would return for err.
func callError(ctx context.Context, err error) error {
	if callback, ok := err.(CallbackError); ok {
		return callback.Err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// jsonReader returns a reader of Pods for one response in JSON, with buffers of these sizes.
func jsonReader(t testing.TB, body io.ReadCloser, sizes bufferSizes) *reader[*corev1.Pod] {
	t.Helper()
	r := &reader[*corev1.Pod]{codec: mustCodec(t, Options{}, newPod), format: JSON, body: func() io.ReadCloser { return body }}
	r.codec.sizes = sizes
	return r
}

// newReader returns a reader that gets body at each call.
func newReader[T object.Object](t testing.TB, f Format, body []byte, newObject func() T, opts Options) *reader[T] {
	t.Helper()
	return &reader[T]{
		codec:  mustCodec(t, opts, func() object.Object { return newObject() }),
		format: f,
		body:   func() io.ReadCloser { return io.NopCloser(bytes.NewReader(body)) },
	}
}

// listAll reads a list and returns the delivered objects, even with an error.
func listAll[T object.Object](r *reader[T]) ([]T, List, error) {
	var got []T
	result, err := r.List(context.Background(), Promises{ReadOnly: r.readOnly}, func(obj T) error {
		got = append(got, obj)
		return nil
	})
	return got, result, err
}

// watchAll reads a watch to its end and returns the delivered events, even with an error.
func watchAll[T object.Object](r *reader[T]) ([]Event[T], error) {
	var got []Event[T]
	err := r.Watch(context.Background(), Promises{ReadOnly: r.readOnly}, func(e Event[T]) error {
		got = append(got, e)
		return nil
	})
	return got, err
}

func mustCodec(t testing.TB, opts Options, newObject func() object.Object) *Codec {
	t.Helper()
	opts.Resource, opts.NewObject = pods, newObject
	c, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func bodyOf(response []byte) func() io.ReadCloser {
	return func() io.ReadCloser { return io.NopCloser(bytes.NewReader(response)) }
}
