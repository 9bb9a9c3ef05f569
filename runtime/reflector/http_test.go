// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/source"
)

// server answers requests without a socket, so that it lives in a bubble. Bodies end when the request is canceled.
type server func(n int, req *http.Request) (status int, header http.Header, body io.ReadCloser)

type transport struct {
	server server
	n      int
}

func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	t.n++
	status, header, body := t.server(t.n, req)
	if header == nil {
		header = http.Header{}
	}
	return &http.Response{StatusCode: status, Header: header, Body: body, Request: req}, nil
}

func text(s string) io.ReadCloser { return io.NopCloser(strings.NewReader(s)) }

// open is a body that stays open after its text.
func open(req *http.Request, s string) io.ReadCloser {
	r, w := io.Pipe()
	go func() {
		io.WriteString(w, s)
		<-req.Context().Done()
		w.CloseWithError(req.Context().Err())
	}()
	return r
}

// TestOverHTTP goes through a life over the real source: refused, throttled, a watch-list, bad data, expiry, silence.
func TestOverHTTP(t *testing.T) {
	obj := func(name string, version int) string {
		return fmt.Sprintf(`{"kind":"Thing","apiVersion":"test.io/v1","metadata":{"name":%q,"resourceVersion":"%d"}}`, name, version)
	}
	event := func(typ, obj string) string { return `{"type":"` + typ + `","object":` + obj + "}\n" }
	end := event("BOOKMARK", `{"kind":"Thing","apiVersion":"test.io/v1","metadata":{"resourceVersion":"5","annotations":{"k8s.io/initial-events-end":"true"}}}`)
	gone := event("ERROR", `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}`)
	var asked []string
	serve := func(n int, req *http.Request) (int, http.Header, io.ReadCloser) {
		q := req.URL.Query()
		q.Del("timeoutSeconds")
		q.Del("allowWatchBookmarks")
		asked = append(asked, q.Encode())
		switch n {
		case 1:
			return 403, nil, text("no")
		case 2:
			return 429, http.Header{"Retry-After": {"20"}}, text("later")
		case 3:
			return 200, nil, open(req, event("ADDED", obj("a", 1))+end+event("ADDED", obj("b", 6))+event("MODIFIED", `{"kind":"Thing"}`))
		case 4:
			return 200, nil, text(event("MODIFIED", obj("b", 7)) + event("ADDED", "garbage"))
		case 5:
			return 200, nil, text(event("DELETED", obj("a", 8)) + gone)
		case 6:
			return 422, nil, text("what is a watch-list?")
		case 7:
			return 200, nil, text(`{"kind":"ThingList","apiVersion":"test.io/v1","metadata":{"resourceVersion":"9"},"items":[` + obj("c", 9) + `]}`)
		}
		return 200, nil, open(req, "")
	}
	synctest.Test(t, func(t *testing.T) {
		client, err := source.NewClient(&rest.Config{Host: "http://api.test", Transport: &transport{server: serve}})
		if err != nil {
			t.Fatal(err)
		}
		src, err := source.New[thing](client, schema.GroupVersionResource{Group: "test.io", Version: "v1", Resource: "things"}, source.Options{})
		if err != nil {
			t.Fatal(err)
		}
		sink := &record{}
		var reasons []string
		r, err := New(Config[thing]{Source: src, Sink: sink, OnError: func(err error) {
			reason, _ := classify(err)
			reasons = append(reasons, reason.String())
		}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(silent())
		done := make(chan error)
		go func() { done <- r.Run(ctx) }()
		time.Sleep(4*time.Minute + 30*time.Second)
		synctest.Wait()

		if got, want := strings.Join(asked, "\n"), strings.Join([]string{
			"resourceVersionMatch=NotOlderThan&sendInitialEvents=true&watch=true",
			"resourceVersionMatch=NotOlderThan&sendInitialEvents=true&watch=true",
			"resourceVersionMatch=NotOlderThan&sendInitialEvents=true&watch=true",
			"resourceVersion=6&watch=true",
			"resourceVersion=7&watch=true",
			"resourceVersion=8&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&watch=true",
			"resourceVersion=8&resourceVersionMatch=NotOlderThan",
			"resourceVersion=9&watch=true",
			"resourceVersion=9&watch=true",
		}, "\n"); got != want {
			t.Errorf("asked\n%s\nwant\n%s", got, want)
		}
		if got, want := sink.String(), "begin, abort, begin, abort, begin, replace a, end 5, add b, update b, delete a, begin, abort, begin, replace c, end 9"; got != want {
			t.Errorf("told %s\nwant %s", got, want)
		}
		if got, want := strings.Join(reasons, ", "), "forbidden, throttled, bad data, bad data, expired, refused, silent"; got != want {
			t.Errorf("failed %s\nwant   %s", got, want)
		}
		if s := r.Status(); s.State != StateWatching || s.BadData != 2 || s.Relists != 1 || s.ResourceVersion != "9" {
			t.Errorf("status %+v", s)
		}
		if want := "things.test.io/v1"; r.Name() != want {
			t.Errorf("name %q, want %q", r.Name(), want)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
