// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/informer-gen/informer-gen/runtime/internal/podtest"
)

func TestListAccepts(t *testing.T) {
	for name, tc := range map[string]struct {
		body string
		want string // names
		meta ListResult
	}{
		"metadata before items": {podtest.List("7", podtest.Pod("a", "1"), podtest.Pod("b", "2")), "a b", ListResult{ResourceVersion: "7"}},
		"metadata after items": {
			`{"items":[` + podtest.Pod("a", "1") + `],"metadata":{"continue":"more","resourceVersion":"7"},"apiVersion":"v1","kind":"PodList"}`,
			"a", ListResult{ResourceVersion: "7", Continue: "more"},
		},
		"items with kind":  {podtest.List("7", podtest.KindPod("a", "1")), "a", ListResult{ResourceVersion: "7"}},
		"items null":       {`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":null}`, "", ListResult{ResourceVersion: "7"}},
		"items missing":    {`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"}}`, "", ListResult{ResourceVersion: "7"}},
		"items empty":      {podtest.List("7"), "", ListResult{ResourceVersion: "7"}},
		"unknown members":  {`{"x":{"y":[1,{}]},"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7","z":1},"items":[{"q":1,` + podtest.Pod("a", "1")[1:] + `]}`, "a", ListResult{ResourceVersion: "7"}},
		"white space":      {"\n" + podtest.List("7", podtest.Pod("a", "1")) + "\n ", "a", ListResult{ResourceVersion: "7"}},
		"list of own name": {`{"kind":"Pods","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[` + podtest.KindPod("a", "1") + `]}`, "a", ListResult{ResourceVersion: "7"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, meta, err := listAll(serve(t, tc.body))
			noError(t, err)
			var names []string
			for _, p := range got {
				names = append(names, p.Name)
				if want := (metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}); p.TypeMeta != want {
					t.Errorf("TypeMeta of %s = %v, want %v", p.Name, p.TypeMeta, want)
				}
			}
			if got := strings.Join(names, " "); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if meta != tc.meta {
				t.Errorf("got %+v, want %+v", meta, tc.meta)
			}
		})
	}
}

func TestListRejects(t *testing.T) {
	good := podtest.Pod("good", "1")
	for name, tc := range map[string]struct {
		body string
		item int // the wrong item, or 0 for the list
		is   error
		text string
	}{
		"empty":                      {``, 0, io.ErrUnexpectedEOF, "cut off"},
		"not JSON":                   {`<html>`, 0, nil, "invalid character"},
		"not an object":              {`[]`, 0, ErrMalformed, "want {"},
		"null":                       {`null`, 0, ErrMalformed, "want {"},
		"nothing":                    {`{}`, 0, ErrWrongKind, "does not say"},
		"kind is a number":           {`{"kind":1}`, 0, ErrMalformed, "kind"},
		"metadata is a number":       {`{"metadata":1}`, 0, nil, ""},
		"items is an object":         {`{"kind":"PodList","apiVersion":"v1","items":{}}`, 0, ErrMalformed, "items"},
		"two of items":               {`{"items":[],"items":[]}`, 0, ErrMalformed, "two"},
		"table":                      {`{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"1"},"rows":[]}`, 0, ErrWrongKind, "tables"},
		"status":                     {`{"kind":"Status","apiVersion":"v1","status":"Success"}`, 0, ErrWrongKind, "Status"},
		"other version":              {`{"kind":"PodList","apiVersion":"v2","metadata":{"resourceVersion":"1"},"items":[]}`, 0, ErrWrongKind, "got v2 PodList, want v1 Pod"},
		"other list":                 {`{"kind":"APIResourceList","apiVersion":"v1","metadata":{"resourceVersion":"1"}}`, 0, ErrWrongKind, "APIResourceList"},
		"items of another kind":      {podtest.List("7", good, `{"kind":"Node",`+good[1:]), 2, ErrWrongKind, "got ? Node, want v1 Pod"},
		"items of another group":     {podtest.List("7", `{"apiVersion":"x/v1","kind":"Pod",`+good[1:]), 1, ErrWrongKind, "x/v1"},
		"list of another kind":       {`{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[` + good + `]}`, 1, ErrWrongKind, "Node"},
		"another kind said too late": {`{"items":[` + good + `],"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"1"}}`, 0, ErrWrongKind, "NodeList"},
		"no version":                 {`{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[]}`, 0, ErrMalformed, ""},
		"item without name":          {podtest.List("7", good, good, `{"metadata":{"namespace":"x","resourceVersion":"1"}}`), 3, ErrMalformed, "item 3"},
		"item without metadata":      {podtest.List("7", `{}`), 1, ErrMalformed, ""},
		"item null":                  {podtest.List("7", `null`), 1, ErrMalformed, ""},
		"item without version":       {podtest.List("7", good, `{"metadata":{"name":"b","namespace":"x"}}`), 2, ErrMalformed, "(x/b)"},
		"item is a number":           {podtest.List("7", good, `1`), 2, nil, "item 2"},
		"field of the wrong type":    {podtest.List("7", `{"metadata":{"name":"b","namespace":"x","resourceVersion":"1"},"spec":{"nodeName":[]}}`), 1, nil, "(x/b)"},
		"cut off between items":      {podtest.List("7", good)[:len(podtest.List("7", good))-2] + ",", 2, io.ErrUnexpectedEOF, "cut off"},
		"cut off in an item":         {podtest.List("7", good, good)[:len(podtest.List("7", good, good))-10], 2, io.ErrUnexpectedEOF, "item 2"},
		"cut off at the end":         {strings.TrimSuffix(podtest.List("7", good), "}"), 0, io.ErrUnexpectedEOF, "cut off"},
		"more after the end":         {podtest.List("7", good) + podtest.List("7", good), 0, ErrMalformed, "after the end"},
		"comma after the last item":  {podtest.List("7", good, ""), 2, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, meta, err := listAll(serve(t, tc.body))
			var decode *DecodeError
			if !errors.As(err, &decode) {
				t.Fatalf("got %v, want a *DecodeError", err)
			}
			if decode.Item != tc.item {
				t.Errorf("DecodeError.Item = %d, want %d: %v", decode.Item, tc.item, err)
			}
			if tc.is != nil && !errors.Is(err, tc.is) {
				t.Errorf("got %v, want %v", err, tc.is)
			}
			if !strings.Contains(err.Error(), tc.text) || !strings.HasPrefix(err.Error(), "list pods/v1: ") {
				t.Errorf("got %q, want list pods/v1: …%s…", err, tc.text)
			}
			if decode.Offset < 0 || decode.Offset > int64(len(tc.body)) || decode.Verb != "list" || decode.Resource != pods {
				t.Errorf("wrong position: %+v", decode)
			}
			if meta != (ListResult{}) {
				t.Errorf("List() = %+v with an error, want no result", meta)
			}
			for _, p := range got {
				if p.Name != "good" || p.Kind != "Pod" {
					t.Errorf("handed over %s %s/%s", p.Kind, p.Namespace, p.Name)
				}
			}
		})
	}
}

func TestListUntyped(t *testing.T) {
	body := podtest.List("7", `{"metadata":{"name":"a","resourceVersion":"1"},"spec":{"big":9007199254740993,"e":1e3,"f":1.0,"n":-3,"huge":18446744073709551616,"nothing":null,"list":[1,"x",{}],"empty":[]}}`)
	got, _, err := listAll(serveIn[*unstructured.Unstructured](t, JSON, []byte(body), Options{}))
	noError(t, err)
	want := map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"name": "a", "resourceVersion": "1"},
		"spec": map[string]any{
			"big": int64(9007199254740993), "e": 1000.0, "f": 1.0, "n": int64(-3), "huge": 18446744073709551616.0, "nothing": nil,
			"list": []any{int64(1), "x", map[string]any{}}, "empty": []any{},
		},
	}
	if diff := cmp.Diff(want, got[0].Object); diff != "" {
		t.Error(diff)
	}

	_, _, err = listAll(serveIn[*unstructured.Unstructured](t, JSON, []byte(`{"items":[{"metadata":{"name":"a","resourceVersion":"1"}}],"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"}}`), Options{}))
	if !errors.Is(err, ErrWrongKind) {
		t.Errorf("an untyped item without a kind before the list's: got %v, want ErrWrongKind", err)
	}
	_, _, err = listAll(serveIn[*unstructured.Unstructured](t, JSON, []byte(podtest.List("7", podtest.KindPod("a", "1"), `{"apiVersion":"v1","kind":"Node","metadata":{"name":"a","resourceVersion":"1"}}`)), Options{}))
	if !errors.Is(err, ErrWrongKind) {
		t.Errorf("untyped items of two kinds: got %v, want ErrWrongKind", err)
	}
}
