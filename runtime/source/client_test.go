// SPDX-License-Identifier: Apache-2.0

package source

import (
	"compress/gzip"
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/internal/podtest"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// warnings collects the warnings of a server.
type warnings struct{ got []string }

func (w *warnings) HandleWarningHeader(code int, agent, text string) {
	w.got = append(w.got, fmt.Sprint(code, agent, text))
}

type warningsWithContext struct{ warnings }

type contextKey struct{}

func (w *warningsWithContext) HandleWarningHeaderWithContext(ctx context.Context, code int, agent, text string) {
	w.got = append(w.got, fmt.Sprint(ctx.Value(contextKey{}), code, agent, text))
}

func TestWarningsReachTheHandler(t *testing.T) {
	serve := roundTrip(func(req *http.Request) (*http.Response, error) {
		resp := answer(200, podtest.List("7"))
		switch {
		case req.URL.Query().Has("watch"):
			resp = answer(403, "")
		case req.Method == "PATCH":
			resp = answer(200, podtest.KindPod("blue", "7"))
		}
		resp.Header["Warning"] = []string{`299 - "v1 Pods are old"`, `garbage`, `299 kube "a \"b\"", 299 - "c"`}
		return resp, nil
	})
	var plain warnings
	var with warningsWithContext
	for name, tc := range map[string]struct {
		config *rest.Config
		got    *[]string
		want   string
	}{
		"plain":        {&rest.Config{WarningHandler: &plain}, &plain.got, `[299-v1 Pods are old 299kubea "b" 299-c]`},
		"with context": {&rest.Config{WarningHandler: &plain, WarningHandlerWithContext: &with}, &with.got, `[ctx299-v1 Pods are old ctx299kubea "b" ctx299-c]`},
		"none":         {&rest.Config{}, &[]string{}, `[]`},
	} {
		tc.config.Host, tc.config.Transport = "http://api.test", serve
		c := clientOf(t, tc.config)
		s := sourceOf[*corev1.Pod](t, c, pods, Options{})
		ctx := context.WithValue(context.Background(), contextKey{}, "ctx")
		for verb, call := range map[string]func(){
			"list":  func() { s.List(ctx, ListOptions{}, func(*corev1.Pod) error { return nil }) },
			"patch": func() { s.Do(ctx, Request{Method: "PATCH", Key: object.Key{Name: "blue"}}) },
			"watch": func() { s.Watch(ctx, WatchOptions{}, nil, func(Event[*corev1.Pod]) error { return nil }) },
		} {
			*tc.got = nil
			call()
			if got := fmt.Sprint(*tc.got); got != tc.want {
				t.Errorf("%s, %s: the handler got\n%s, want\n%s", name, verb, got, tc.want)
			}
		}
	}
}

// TestEveryFormatIsCompressed: responses in every format are compressed, unless an option turns it
// off.
func TestEveryFormatIsCompressed(t *testing.T) {
	text := []byte(podtest.List("7", podtest.Large(1), podtest.Large(2)))
	var zipped bool
	var f Format
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", f.mediaType())
		body := podtest.Transcode(t, text, f)
		if zipped = strings.Contains(req.Header.Get("Accept-Encoding"), "gzip"); !zipped {
			w.Write(body)
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		z.Write(body)
		z.Close()
	}))
	defer server.Close()
	for _, disable := range []bool{false, true} {
		transport := &http.Transport{DisableCompression: disable, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
		defer transport.CloseIdleConnections()
		c := clientOf(t, &rest.Config{Host: server.URL, Transport: transport})
		s := sourceOf[*corev1.Pod](t, c, pods, Options{Formats: everyFormat})
		for _, f = range everyFormat {
			if got, _, err := listAll(s); err != nil || len(got) != 2 || zipped == disable {
				t.Errorf("%v: got %d Pods, %v; zipped %v", f, len(got), err, zipped)
			}
		}
	}
	// rest.Config has an option for it, too.
	for _, disable := range []bool{false, true} {
		c := clientOf(t, &rest.Config{Host: server.URL, DisableCompression: disable, TLSClientConfig: rest.TLSClientConfig{Insecure: true}})
		s := sourceOf[*corev1.Pod](t, c, pods, Options{Formats: everyFormat})
		if got, _, err := listAll(s); err != nil || len(got) != 2 || zipped == disable {
			t.Errorf("got %d Pods, %v; zipped %v", len(got), err, zipped)
		}
		c.http.CloseIdleConnections()
	}
}
