// SPDX-License-Identifier: Apache-2.0

package writer_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/writer"
)

// TestInvalidArgumentsOfWriter: the error names the call, and no request is sent.
func TestInvalidArgumentsOfWriter(t *testing.T) {
	ctx := context.Background()
	var none context.Context
	s, w := widgetWriter(t, writer.Options{})
	for want, call := range map[string]func() error{
		"Create: the object is nil":                            func() error { _, _, err := w.Create(ctx, nil); return err },
		"Update: the object is nil":                            func() error { _, _, err := w.UpdateStatus(ctx, nil); return err },
		"Apply: the object is nil":                             func() error { _, _, err := w.Apply(ctx, nil); return err },
		"Delete: the object is nil":                            func() error { _, err := w.Delete(ctx, nil, metav1.DeleteOptions{}); return err },
		"Mutate: the object is nil":                            func() error { _, _, err := w.Mutate(ctx, nil, grow); return err },
		"Mutate: the function is nil":                          func() error { _, _, err := w.Mutate(ctx, blue(), nil); return err },
		"AddFinalizer: the object is nil":                      func() error { _, _, err := w.AddFinalizer(ctx, nil, "f"); return err },
		"RemoveFinalizer of shop/blue: the finalizer is empty": func() error { _, _, err := w.RemoveFinalizer(ctx, blue(), ""); return err },
		"Apply of shop/blue: an apply needs a field manager":   func() error { _, _, err := w.Apply(ctx, blue()); return err },
		"Patch of shop/blue: an apply needs a field manager":   func() error { _, _, err := w.Patch(ctx, blueKey, types.ApplyPatchType, nil); return err },
		"Patch of shop/blue: the patch type is empty":          func() error { _, _, err := w.PatchStatus(ctx, blueKey, "", nil); return err },
		"Delete of shop/blue: the object has no UID or no resourceVersion": func() error {
			_, err := w.Delete(ctx, blue(func(w *Widget) { w.UID = "" }), metav1.DeleteOptions{})
			return err
		},
		"Mutate of shop/blue: the object has no resourceVersion": func() error {
			_, _, err := w.Mutate(ctx, blue(func(w *Widget) { w.ResourceVersion = "" }), grow)
			return err
		},
		"the key has no name": func() error { _, err := w.Get(ctx, object.Key{Namespace: "shop"}); return err },
		`the name "a/b" can't be part of a path`: func() error {
			_, err := w.Get(ctx, object.Key{Namespace: "shop", Name: "a/b"})
			return err
		},
		"the context is nil": func() error { _, err := w.Get(none, blueKey); return err },
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "widgets.samples.io/v1") {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
	s.wantRequests(t)
}

// TestZeroWriter: all methods of a Writer not made by New return errors.
func TestZeroWriter(t *testing.T) {
	ctx := context.Background()
	for _, w := range []*writer.Writer[*Widget]{nil, {}} {
		_, getErr := w.Get(ctx, blueKey)
		_, _, createErr := w.Create(ctx, blue())
		_, _, updateErr := w.Update(ctx, blue())
		_, _, mutateErr := w.Mutate(ctx, blue(), func(*Widget) error { return nil })
		_, _, patchErr := w.Patch(ctx, blueKey, types.MergePatchType, nil)
		_, _, applyErr := w.Apply(ctx, blue())
		_, deleteErr := w.Delete(ctx, blue(), metav1.DeleteOptions{})
		_, _, addErr := w.AddFinalizer(ctx, blue(), "f")
		for _, err := range []error{getErr, createErr, updateErr, mutateErr, patchErr, applyErr, deleteErr, addErr} {
			if err == nil || !strings.HasPrefix(err.Error(), "writer of nothing: ") {
				t.Errorf("got %v", err)
			}
		}
	}
}

func TestNewRefuses(t *testing.T) {
	_, client := serve(t)
	for name, tc := range map[string]struct {
		call func() error
		want string
	}{
		"no client": {func() error { _, err := writer.New[*Widget](nil, widgets, writer.Options{}); return err }, "the client is nil"},
		"no version": {func() error {
			_, err := writer.New[*Widget](client, schema.GroupVersionResource{Resource: "widgets"}, writer.Options{})
			return err
		}, "is incomplete"},
		"an interface without NewObject": {func() error {
			_, err := writer.New[object.Object](client, widgets, writer.Options{})
			return err
		}, "set Options.NewObject"},
		"a NewObject of another type": {func() error {
			_, err := writer.New[*Widget](client, widgets, writer.Options{NewObject: func() object.Object { return &unstructured.Unstructured{} }})
			return err
		}, "is not a *writer_test.Widget"},
		"a NewObject that makes nothing": {func() error {
			_, err := writer.New[*Widget](client, widgets, writer.Options{NewObject: func() object.Object { return nil }})
			return err
		}, "NewObject returns"},
	} {
		if err := tc.call(); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %q", name, err, tc.want)
		}
	}
}

func TestString(t *testing.T) {
	_, w := widgetWriter(t, writer.Options{FieldManager: "shop", DryRun: true})
	if got, want := w.String(), `widgets.samples.io/v1 as "shop" (dry run)`; got != want {
		t.Errorf("String() = %q, want %q", got, want)
	}
}

// TestUnusableResponses: the server may have done the write, but there is no object to return.
func TestUnusableResponses(t *testing.T) {
	ctx := context.Background()
	for name, tc := range map[string]struct {
		answer answer
		is     error
	}{
		"HTML":         {answer{status: 200, body: "<html>", contentType: "text/html"}, source.ErrWrongFormat},
		"another kind": {answer{status: 200, body: `{"kind":"Gadget","apiVersion":"samples.io/v1","metadata":{"name":"blue"}}`}, source.ErrWrongKind},
		"no name":      {answer{status: 201, body: `{"kind":"Widget","apiVersion":"samples.io/v1"}`}, source.ErrMalformed},
		"cut off":      {answer{status: 200, body: `{"kind":"Widget","apiVersion":`}, source.ErrMalformed},
	} {
		_, w := widgetWriter(t, writer.Options{}, tc.answer)
		obj, token, err := w.Update(ctx, blue())
		var decode *source.DecodeError
		if !errors.As(err, &decode) || !errors.Is(err, tc.is) || decode.Verb != "update" || decode.Key != blueKey || obj != nil || token != (object.Token{}) {
			t.Errorf("%s: Update() = %+v, %+v, %v", name, obj, token, err)
		}
		if want := "update widgets.samples.io/v1: (shop/blue) at byte"; err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: the error is %q, want %q…", name, err, want)
		}
	}
	_, w := widgetWriter(t, writer.Options{}, answer{status: 200, body: `{"kind":"Status","apiVersion":"v1","status":"Success"}`})
	if obj, err := w.Get(ctx, blueKey); err == nil || obj != nil {
		t.Errorf("Get() with a Status instead of the object = %+v, %v", obj, err)
	}
}

// TestDoneContext: the error is the context's cause.
func TestDoneContext(t *testing.T) {
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(why)
	s, w := widgetWriter(t, writer.Options{})
	if _, _, err := w.Create(ctx, blue()); err != why {
		t.Errorf("Create() = %v, want %v", err, why)
	}
	s.wantRequests(t)
}
