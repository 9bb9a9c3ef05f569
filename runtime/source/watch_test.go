// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/internal/podtest"
)

func TestWatchAccepts(t *testing.T) {
	body := strings.Join([]string{
		podtest.Event("ADDED", podtest.KindPod("a", "2")),
		`{"object":` + podtest.KindPod("b", "3") + `,"type":"ADDED"}`, // object first
		`{"x":[],"type":"MODIFIED","y":{},"object":` + podtest.KindPod("a", "4") + `}`,
		podtest.Event("DELETED", podtest.KindPod("b", "5")),
		podtest.Bookmark,
		podtest.EndBookmark,
		podtest.Event("ADDED", podtest.Pod("c", "10")), // without a kind
	}, "\n") + "\n"
	got, err := watchAll(serve(t, body))
	noError(t, err)
	want := []struct {
		typ     EventType
		name    string
		version string
		end     bool
	}{
		{Added, "a", "2", false}, {Added, "b", "3", false}, {Modified, "a", "4", false}, {Deleted, "b", "5", false},
		{Bookmark, "", "9", false}, {Bookmark, "", "9", true}, {Added, "c", "10", false},
	}
	if len(got) != len(want) {
		t.Fatalf("got %d events, want %d", len(got), len(want))
	}
	for i, w := range want {
		g := got[i]
		if g.Type != w.typ || g.ResourceVersion != w.version || g.InitialEventsEnd != w.end {
			t.Errorf("event %d: got %+v, want %+v", i+1, g, w)
		}
		if (g.Object == nil) != (w.typ == Bookmark) {
			t.Errorf("event %d: object %v", i+1, g.Object)
		}
		if g.Object != nil && (g.Object.Name != w.name || g.Object.TypeMeta != metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}) {
			t.Errorf("event %d: got %s, %v", i+1, g.Object.Name, g.Object.TypeMeta)
		}
	}
}

func TestWatchRejects(t *testing.T) {
	good := podtest.Event("ADDED", podtest.KindPod("good", "2")) + "\n"
	for name, tc := range map[string]struct {
		body string
		item int
		is   error
		text string
	}{
		"not JSON":                {`<html>`, 1, nil, "invalid character"},
		"garbage later":           {good + `}`, 2, nil, ""},
		"not an object":           {good + `[]`, 2, ErrMalformed, "event 2"},
		"no type":                 {good + `{"object":{}}`, 2, ErrMalformed, "no type"},
		"type null":               {`{"type":null,"object":{}}`, 1, ErrMalformed, ""},
		"type is a number":        {`{"type":1,"object":{}}`, 1, ErrMalformed, ""},
		"unknown type":            {good + podtest.Event("SPLICED", podtest.KindPod("b", "3")), 2, ErrMalformed, `"SPLICED"`},
		"unknown type, later":     {good + `{"object":` + podtest.KindPod("b", "3") + `,"type":"SPLICED"}`, 2, ErrMalformed, ""},
		"huge type":               {podtest.Event(strings.Repeat("X", 1<<20), `{}`), 1, ErrMalformed, "XX…"},
		"huge kind":               {podtest.Event("ADDED", `{"apiVersion":"v1","kind":"`+strings.Repeat("X", 1<<20)+`"}`), 1, ErrWrongKind, "XX…"},
		"no object":               {good + `{"type":"ADDED"}`, 2, ErrMalformed, "no object"},
		"object null":             {podtest.Event("ADDED", `null`), 1, ErrMalformed, ""},
		"two objects":             {`{"object":{},"object":{},"type":"ADDED"}`, 1, ErrMalformed, "two"},
		"two types":               {`{"type":"ADDED","type":"DELETED","object":{}}`, 1, ErrMalformed, "two"},
		"wrong kind":              {good + podtest.Event("ADDED", `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n","resourceVersion":"3"}}`), 2, ErrWrongKind, "(n)"},
		"table":                   {podtest.Event("ADDED", `{"apiVersion":"meta.k8s.io/v1","kind":"Table","rows":[]}`), 1, ErrWrongKind, "tables"},
		"no name":                 {podtest.Event("MODIFIED", `{"apiVersion":"v1","kind":"Pod","metadata":{"resourceVersion":"3"}}`), 1, ErrMalformed, ""},
		"no version":              {podtest.Event("DELETED", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"n","namespace":"x"}}`), 1, ErrMalformed, "(x/n)"},
		"bookmark of another":     {good + strings.Replace(podtest.Bookmark, "Pod", "Node", 1), 2, ErrWrongKind, ""},
		"bookmark without":        {podtest.Event("BOOKMARK", `{"apiVersion":"v1","kind":"Pod","metadata":{}}`), 1, ErrMalformed, ""},
		"bookmark is a string":    {podtest.Event("BOOKMARK", `"x"`), 1, nil, ""},
		"error without status":    {podtest.Event("ERROR", `{"kind":"Pod"}`), 1, ErrWrongKind, "want a Status"},
		"cut off in an event":     {good + good[:20], 2, io.ErrUnexpectedEOF, "cut off"},
		"cut off before the type": {`{"object":{"metadata":`, 1, io.ErrUnexpectedEOF, "cut off"},
		"cut off at the end":      {strings.TrimSuffix(good, "}\n"), 1, io.ErrUnexpectedEOF, "cut off"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := watchAll(serve(t, tc.body))
			var decode *DecodeError
			if !errors.As(err, &decode) {
				t.Fatalf("got %v, want a *DecodeError", err)
			}
			if decode.Item != tc.item || decode.Verb != "watch" {
				t.Errorf("DecodeError.Item = %d, want %d: %v", decode.Item, tc.item, err)
			}
			if tc.is != nil && !errors.Is(err, tc.is) {
				t.Errorf("got %v, want %v", err, tc.is)
			}
			if text := err.Error(); len(text) > 5000 || !strings.Contains(text, tc.text) {
				t.Errorf("got %d bytes: %.500q, want …%s…", len(text), text, tc.text)
			}
			if len(got) != tc.item-1 {
				t.Errorf("%d events before the wrong one, want %d", len(got), tc.item-1)
			}
		})
	}
}

func TestWatchErrorEvents(t *testing.T) {
	got, err := watchAll(serve(t, podtest.Event("ADDED", podtest.KindPod("a", "2"))+podtest.Gone+podtest.Event("ADDED", podtest.KindPod("b", "3"))))
	if _, plain := err.(*apierrors.StatusError); !plain || !apierrors.IsResourceExpired(err) || len(got) != 1 {
		t.Errorf("got %d events and %v, want 1 and an expiry", len(got), err)
	}
	_, err = watchAll(serve(t, podtest.Throttled))
	if seconds, ok := apierrors.SuggestsClientDelay(err); !ok || seconds != 7 {
		t.Errorf("got %v, which suggests %d s, %v; want 7 s", err, seconds, ok)
	}
}

// TestWatchStreams: events arrive while the stream is open, and a cancellation ends a silent
// stream.
func TestWatchStreams(t *testing.T) {
	r, w := io.Pipe()
	s := sourceOf[*corev1.Pod](t, newTestClient(t, func(req *http.Request) (*http.Response, error) {
		resp := answer(200, "")
		resp.Body = r
		context.AfterFunc(req.Context(), func() { r.CloseWithError(req.Context().Err()) })
		return resp, nil
	}), pods, Options{})
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	opened, seen, done := make(chan bool, 1), make(chan string), make(chan error)
	go func() {
		done <- s.Watch(ctx, WatchOptions{}, func() { opened <- true }, func(e Event[*corev1.Pod]) error {
			seen <- e.ResourceVersion
			return nil
		})
	}()
	<-opened
	for _, version := range []string{"2", "3"} {
		go io.WriteString(w, podtest.Event("ADDED", podtest.KindPod("a", version))+"\n")
		if got := <-seen; got != version {
			t.Fatalf("got %s, want %s", got, version)
		}
	}
	cancel(why)
	select {
	case err := <-done:
		if err != why {
			t.Errorf("got %v, want the cause of the cancellation", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("Watch outlives its context")
	}
}

func TestBrokenConnection(t *testing.T) {
	for name, body := range map[string]string{"between events": podtest.Bookmark + "\n", "within an event": podtest.Bookmark + podtest.Bookmark[:9]} {
		for _, reset := range []error{errors.New("connection reset by peer"), io.ErrUnexpectedEOF} {
			s := sourceOf[*corev1.Pod](t, newTestClient(t, func(*http.Request) (*http.Response, error) {
				resp := answer(200, "")
				resp.Body = podtest.BrokenBody(body, reset)
				return resp, nil
			}), pods, Options{})
			got, err := watchAll(s)
			var decode *DecodeError
			if len(got) != 1 || !errors.Is(err, reset) || errors.As(err, &decode) {
				t.Errorf("%s, %v: got %d events and %v, want 1 and an error of the connection", name, reset, len(got), err)
			}
			if err != nil && !strings.HasPrefix(err.Error(), "watch pods/v1: reading the response: ") {
				t.Errorf("%s, %v: Watch() = %v, want the step in the error", name, reset, err)
			}
		}
	}
}
