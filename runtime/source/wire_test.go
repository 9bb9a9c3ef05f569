// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	runtimeobject "k8s.io/apimachinery/pkg/runtime"

	"github.com/informer-gen/informer-gen/runtime/internal/podtest"
)

func TestEveryFormatListsTheSame(t *testing.T) {
	text := []byte(podtest.List("7", podtest.Large(1), podtest.WithKind(podtest.Large(2)), podtest.Pod("c", "3")))
	for _, f := range everyFormat {
		t.Run(f.String(), func(t *testing.T) {
			body := podtest.Transcode(t, text, f)
			got, result, err := listAll(serveIn(t, f, body, func() *corev1.Pod { return &corev1.Pod{} }, Options{}))
			if err != nil || result.ResourceVersion != "7" {
				t.Fatal(result, err)
			}
			want := podtest.Theirs(t, f, body)
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

func TestUntypedObjects(t *testing.T) {
	list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "v1", "kind": "PodList", "metadata": map[string]any{"resourceVersion": "7", "continue": "more"}}}
	var want []*unstructured.Unstructured
	for i := range 3 {
		content, err := runtimeobject.DefaultUnstructuredConverter.ToUnstructured(podtest.LargeObject(t, i+1))
		if err != nil {
			t.Fatal(err)
		}
		content["big"], content["float"], content["none"] = int64(9007199254740993), 1.5, nil
		list.Items = append(list.Items, unstructured.Unstructured{Object: content})
		want = append(want, &list.Items[i])
	}
	got, result, err := listAll(serveIn(t, JSON, podtest.Encode(t, JSON, list), func() *unstructured.Unstructured { return &unstructured.Unstructured{} }, Options{}))
	if err != nil || result != (ListResult{ResourceVersion: "7", Continue: "more"}) {
		t.Fatal(result, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestEveryFormatWatches(t *testing.T) {
	added := podtest.LargeObject(t, 1)
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
				body = append(body, podtest.EncodeEvent(t, f, e.typ, e.obj)...)
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
			for i := range got {
				if !got[i].More { // a test of package decode shows when there is more
					t.Errorf("nothing comes after event %d", i+1)
				}
				got[i].More = false
			}
			if !equality.Semantic.DeepEqual(want, got) {
				t.Error(cmp.Diff(want, got))
			}
			// It ends without an error between events, and with one everywhere else.
			one := podtest.EncodeEvent(t, f, "ADDED", added)
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
	good := podtest.LargeObject(t, 1)
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
			"other version": {podtest.Encode(t, f, list("PodList", "v2", "7", *good)), 0, ErrWrongKind, ""},
			"other list":    {podtest.Encode(t, f, list("Nodes", "v2", "7")), 0, ErrWrongKind, ""},
			"no version":    {podtest.Encode(t, f, list("PodList", "v1", "", *good)), 0, ErrMalformed, ""},
			"status":        {podtest.Encode(t, f, &metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Success"}), 0, ErrWrongKind, ""},
			"no name":       {podtest.Encode(t, f, list("PodList", "v1", "7", *good, noName)), 2, ErrMalformed, ""},
			"unordered":     {podtest.Encode(t, f, list("PodList", "v1", "7", noVersion)), 1, ErrMalformed, "shop/web-1"},
			"empty":         {nil, 0, io.ErrUnexpectedEOF, ""},
			"cut off":       {cutAfter(podtest.Encode(t, f, list("PodList", "v1", "7", *good, *good)), 0.8), 2, io.ErrUnexpectedEOF, ""},
		} {
			_, _, err := listAll(serveIn(t, f, tc.body, func() *corev1.Pod { return &corev1.Pod{} }, Options{}))
			var decode *DecodeError
			if !errors.As(err, &decode) || !errors.Is(err, tc.is) || decode.Item != tc.item || tc.key != "" && decode.Key.String() != tc.key {
				t.Errorf("%v list, %s: got %v, want %v at item %d", f, name, err, tc.is, tc.item)
			}
		}
		one := podtest.EncodeEvent(t, f, "ADDED", good)
		for name, tc := range map[string]struct {
			body []byte
			is   error
			key  string
		}{
			"unknown type": {podtest.EncodeEvent(t, f, "SPLICED", good), ErrMalformed, ""},
			"no type":      {podtest.EncodeEvent(t, f, "", good), ErrMalformed, ""},
			"wrong kind":   {podtest.EncodeEvent(t, f, "ADDED", otherKind), ErrWrongKind, "shop/web-1"},
			"no name":      {podtest.EncodeEvent(t, f, "ADDED", &noName), ErrMalformed, ""},
			"unordered":    {podtest.EncodeEvent(t, f, "DELETED", &noVersion), ErrMalformed, "shop/web-1"},
			"empty mark":   {podtest.EncodeEvent(t, f, "BOOKMARK", markWithout), ErrMalformed, ""},
			"no status":    {podtest.EncodeEvent(t, f, "ERROR", &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{Kind: "ConfigMap", APIVersion: "v1"}}), ErrWrongKind, ""},
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

// TestNoMetadata: a type whose accessors panic.
func TestNoMetadata(t *testing.T) {
	for _, drop := range []Options{{Kind: "Pod"}, {Kind: "Pod", DropManagedFields: true, DropAnnotations: []string{"a"}}} {
		body := podtest.Encode(t, JSON, &unstructured.UnstructuredList{
			Object: map[string]any{"apiVersion": "v1", "kind": "PodList", "metadata": map[string]any{"resourceVersion": "1"}},
			Items:  []unstructured.Unstructured{{Object: map[string]any{"apiVersion": "v1", "kind": "Pod"}}},
		})
		_, _, err := listAll(serveIn(t, JSON, body, func() *pointerMeta { return &pointerMeta{} }, drop))
		if !errors.Is(err, ErrMalformed) {
			t.Errorf("got %v", err)
		}
	}
}

func cutAfter(b []byte, part float64) []byte { return b[:int(float64(len(b))*part)] }
