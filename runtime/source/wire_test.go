// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	runtimeobject "k8s.io/apimachinery/pkg/runtime"

	"github.com/informer-gen/informer-gen/runtime/internal/podtest"
)

func TestEveryFormatListsTheSame(t *testing.T) {
	text := []byte(podtest.List("7", podtest.Large(1), podtest.WithKind(podtest.Large(2)), podtest.Pod("c", "3")))
	for _, f := range everyFormat {
		t.Run(f.String(), func(t *testing.T) {
			body := podtest.Transcode(t, text, f)
			got, result, err := listAll(serveIn[*corev1.Pod](t, f, body, Options{}))
			if err != nil || result.ResourceVersion != "7" {
				t.Fatal(result, err)
			}
			want := podtest.DecodeList(t, f, body)
			if len(got) != len(want) {
				t.Fatalf("got %d Pods, want %d", len(got), len(want))
			}
			for i := range got {
				if want := (metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}); got[i].TypeMeta != want {
					t.Errorf("TypeMeta of item %d = %v, want %v", i, got[i].TypeMeta, want)
				}
				want[i].TypeMeta = got[i].TypeMeta
				if diff := cmp.Diff(&want[i], got[i]); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

func TestEveryFormatWatches(t *testing.T) {
	added := podtest.LargeObject(t, 1)
	bookmark := &corev1.Pod{TypeMeta: added.TypeMeta, ObjectMeta: metav1.ObjectMeta{ResourceVersion: "9"}}
	end := bookmark.DeepCopy()
	end.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	gone := &metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Reason: metav1.StatusReasonExpired, Code: 410}
	for _, f := range everyFormat {
		t.Run(f.String(), func(t *testing.T) {
			var body []byte
			for _, e := range []struct {
				typ string
				obj runtimeobject.Object
			}{{"ADDED", added}, {"BOOKMARK", bookmark}, {"BOOKMARK", end}, {"MODIFIED", added}, {"DELETED", added}, {"ERROR", gone}, {"ADDED", added}} {
				body = append(body, podtest.EncodeEvent(t, f, e.typ, e.obj)...)
			}
			got, err := watchAll(serveIn[*corev1.Pod](t, f, body, Options{}))
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
				if !got[i].More { // package decode tests when it is false
					t.Errorf("More of event %d is false", i+1)
				}
				got[i].More = false
			}
			if !equality.Semantic.DeepEqual(want, got) {
				t.Error(cmp.Diff(want, got))
			}
			// A stream that ends within an event is an error.
			one := podtest.EncodeEvent(t, f, "ADDED", added)
			for cut := 1; cut < len(one); cut += 7 {
				got, err := watchAll(serveIn[*corev1.Pod](t, f, append(bytes.Clone(one), one[:cut]...), Options{}))
				var decode *DecodeError
				if len(got) != 1 || !errors.Is(err, io.ErrUnexpectedEOF) || !errors.As(err, &decode) || decode.Item != 2 {
					t.Fatalf("cut off after %d of %d bytes: got %d events and %v", cut, len(one), len(got), err)
				}
			}
			if _, err := watchAll(serveIn[*corev1.Pod](t, f, one, Options{})); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestEveryFormatRejects has the same errors in each format.
func TestEveryFormatRejects(t *testing.T) {
	good := podtest.LargeObject(t, 1)
	list := func(kind, apiVersion, version string, items ...corev1.Pod) *corev1.PodList {
		return &corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: kind, APIVersion: apiVersion}, ListMeta: metav1.ListMeta{ResourceVersion: version}, Items: items}
	}
	noName, noVersion := *good.DeepCopy(), *good.DeepCopy()
	noName.Name, noVersion.ResourceVersion = "", ""
	otherKind := good.DeepCopy()
	otherKind.Kind = "Node"
	bookmarkWithoutVersion := &corev1.Pod{TypeMeta: good.TypeMeta}
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
			_, _, err := listAll(serveIn[*corev1.Pod](t, f, tc.body, Options{}))
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
			"empty mark":   {podtest.EncodeEvent(t, f, "BOOKMARK", bookmarkWithoutVersion), ErrMalformed, ""},
			"no status":    {podtest.EncodeEvent(t, f, "ERROR", &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{Kind: "ConfigMap", APIVersion: "v1"}}), ErrWrongKind, ""},
		} {
			got, err := watchAll(serveIn[*corev1.Pod](t, f, append(bytes.Clone(one), tc.body...), Options{}))
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

// pointerMeta's accessors panic without metadata.
type pointerMeta struct {
	metav1.TypeMeta    `json:",inline"`
	*metav1.ObjectMeta `json:"metadata"`
}

func (p *pointerMeta) DeepCopyObject() runtimeobject.Object { return p }

// TestNoMetadata: the type's accessors panic without metadata.
func TestNoMetadata(t *testing.T) {
	body := []byte(strings.Replace(podtest.List("7", podtest.Pod("a", "1"), `{}`), "PodList", "ThingList", 1))
	for _, drop := range []Options{{Kind: "Thing"}, {Kind: "Thing", DropManagedFields: true, DropAnnotations: []string{"a"}}} {
		got, _, err := listAll(serveIn[*pointerMeta](t, JSON, body, drop))
		if len(got) != 1 || got[0].Name != "a" || !errors.Is(err, ErrMalformed) {
			t.Errorf("got %v, %v", got, err)
		}
	}
}

func cutAfter(b []byte, part float64) []byte { return b[:int(float64(len(b))*part)] }
