// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// server answers requests without a socket, so it works in a bubble. A body ends when its request
// is canceled.
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

// open returns a body that stays open after its text.
func open(req *http.Request, s string) io.ReadCloser {
	r, w := io.Pipe()
	go func() {
		io.WriteString(w, s)
		<-req.Context().Done()
		w.CloseWithError(req.Context().Err())
	}()
	return r
}

// httpSource returns an HTTP source of things.
func httpSource(t *testing.T, serve server) source.Source[thing] {
	t.Helper()
	client, err := source.NewClient(&rest.Config{Host: "http://api.test", Transport: &transport{server: serve}})
	if err != nil {
		t.Fatal(err)
	}
	src, err := source.New[thing](client, schema.GroupVersionResource{Group: "test.io", Version: "v1", Resource: "things"}, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// The wire format of an object, a list and events.
func wireThing(name string, version int) string {
	return fmt.Sprintf(`{"kind":"Thing","apiVersion":"test.io/v1","metadata":{"name":%q,"resourceVersion":"%d"}}`, name, version)
}

func wireList(version int, items ...string) string {
	return fmt.Sprintf(`{"kind":"ThingList","apiVersion":"test.io/v1","metadata":{"resourceVersion":"%d"},"items":[%s]}`, version, strings.Join(items, ","))
}

func wireEvent(typ, obj string) string { return `{"type":"` + typ + `","object":` + obj + "}\n" }

func wireBookmark(version int, end string) string {
	return wireEvent("BOOKMARK", fmt.Sprintf(`{"kind":"Thing","apiVersion":"test.io/v1","metadata":{"resourceVersion":"%d","annotations":{"k8s.io/initial-events-end":%q}}}`, version, end))
}

// TestFailuresOverHTTP has a sequence of failures with an HTTP source: refused, throttled, bad
// data, expired, an unsupported watch-list, silence.
func TestFailuresOverHTTP(t *testing.T) {
	obj, event, end := wireThing, wireEvent, wireBookmark(5, "true")
	gone := event("ERROR", `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}`)
	var queries []string
	serve := func(n int, req *http.Request) (int, http.Header, io.ReadCloser) {
		q := req.URL.Query()
		q.Del("timeoutSeconds")
		q.Del("allowWatchBookmarks")
		queries = append(queries, q.Encode())
		switch n {
		case 1:
			return 401, nil, text("no")
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
			return 200, nil, text(wireList(9, obj("c", 9)))
		case 9:
			return 200, nil, text(wireList(9))
		}
		return 200, nil, open(req, "")
	}
	inBubble(t, Config[thing]{Source: httpSource(t, serve)}, func(g *rig) {
		g.pass(4*time.Minute + 30*time.Second)
		if got, want := strings.Join(queries, "\n"), strings.Join([]string{
			"resourceVersionMatch=NotOlderThan&sendInitialEvents=true&watch=true",
			"resourceVersionMatch=NotOlderThan&sendInitialEvents=true&watch=true",
			"resourceVersionMatch=NotOlderThan&sendInitialEvents=true&watch=true",
			"resourceVersion=6&watch=true",
			"resourceVersion=7&watch=true",
			"resourceVersion=8&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&watch=true",
			"resourceVersion=8&resourceVersionMatch=NotOlderThan",
			"resourceVersion=9&watch=true",
			"limit=1",
			"resourceVersion=9&watch=true",
		}, "\n"); got != want {
			t.Errorf("queries\n%s\nwant\n%s", got, want)
		}
		g.wantSinkCalls("begin, abort, begin, abort, begin, replace a, end 5, add b, update b, delete a, begin, abort, begin, replace c, end 9")
		var reasons []string
		for _, err := range g.errs {
			reasons = append(reasons, reason.Of(err).String())
		}
		if got, want := strings.Join(reasons, ", "), "unauthorized, throttled, bad data, bad data, expired, refused, silent"; got != want {
			t.Errorf("reasons %s\nwant    %s", got, want)
		}
		if s := g.Status(); s.State != StateWatching || s.BadData != 2 || s.Relists != 1 || s.ResourceVersion != "9" {
			t.Errorf("Status() = %+v", s)
		}
		if want := "things.test.io/v1"; g.config.Name != want {
			t.Errorf("config.Name = %q, want %q", g.config.Name, want)
		}
	})
}
