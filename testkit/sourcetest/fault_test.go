// SPDX-License-Identifier: Apache-2.0

package sourcetest_test

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

func TestFaultsAreAScript(t *testing.T) {
	server, _ := history(t)
	refuse := sourcetest.Refuse
	server.Inject(sourcetest.Fault{On: sourcetest.List, Skip: 1, Times: 2, Do: refuse(500)})
	server.Inject(sourcetest.Fault{On: sourcetest.List, Do: refuse(503)})
	server.Inject(sourcetest.Fault{On: sourcetest.Continue | sourcetest.Watch, Do: refuse(403)})
	server.Inject(sourcetest.Fault{Resource: widgetResource, Do: refuse(409)})
	end := server.Inject(sourcetest.Fault{On: sourcetest.List, Skip: 1, Times: sourcetest.Always, Do: refuse(401)})
	var got []int
	for i := range 9 {
		if i == 8 {
			end()
			end()
		}
		got = append(got, get(t, server, "/api/v1/pods").code)
	}
	// The second fault gets requests that pass the first. The last counts only requests without
	// another fault.
	if diff := cmp.Diff([]int{503, 500, 500, 200, 401, 401, 401, 401, 200}, got); diff != "" {
		t.Error(diff)
	}
	if code := get(t, server, "/api/v1/pods?continue=x").code; code != 403 {
		t.Errorf("a list with a continue token: code %d", code)
	}
	if code := get(t, server, "/apis/samples.io/v1/widgets").code; code != 409 {
		t.Errorf("a list of another resource: code %d", code)
	}
	requests := server.Requests()
	last := requests[len(requests)-1]
	if len(requests) != 11 || last.Resource != widgetResource || last.Verb != sourcetest.List || last.Time.IsZero() {
		t.Errorf("%d requests, the last %+v", len(requests), last)
	}
	if text := fmt.Sprint(requests[9], sourcetest.Watch|sourcetest.Write, sourcetest.Verb(0)); text != "continue /api/v1/pods?continue=x watch|write other" {
		t.Error(text)
	}
}

// TestAnswers checks every field of Answer, in a bubble.
func TestAnswers(t *testing.T) {
	const list, watching = "/api/v1/pods", "/api/v1/pods?watch=1&resourceVersion=4&timeoutSeconds=60"
	// and two Pods
	content := `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"6"},"items":[`
	for name, tc := range map[string]struct {
		path string
		do   func(*sourcetest.Answer)
		want string // "code, body, end, time"; the body is shortened
	}{
		"nothing":       {list, func(*sourcetest.Answer) {}, "200, " + content + "…, EOF, 0s"},
		"delay":         {list, func(a *sourcetest.Answer) { a.Delay = time.Minute }, "200, " + content + "…, EOF, 1m0s"},
		"failure":       {list, sourcetest.Fail(syscall.ECONNREFUSED), "connection refused, 0s"},
		"hanging":       {list, sourcetest.Fail(sourcetest.ErrHang), "context deadline exceeded, 1h0m0s"},
		"long delay":    {list, func(a *sourcetest.Answer) { a.Delay = 2 * time.Hour }, "context deadline exceeded, 1h0m0s"},
		"status":        {list, sourcetest.Refuse(403), `403, {"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Forbidden","reason":"…, EOF, 0s`},
		"code":          {list, func(a *sourcetest.Answer) { a.Code, a.Body = 418, []byte("tea") }, "418, tea, EOF, 0s"},
		"empty body":    {list, func(a *sourcetest.Answer) { a.Body = []byte{} }, "200, , EOF, 0s"},
		"body of watch": {watching, func(a *sourcetest.Answer) { a.Body = []byte("x") }, "200, x, EOF, 0s"},
		"page": {list, func(a *sourcetest.Answer) { a.Page.Items, a.Page.Kind, a.Page.ResourceVersion = nil, "NoList", "9" },
			`200, {"kind":"NoList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[]}` + "\n, EOF, 0s"},
		"edit of a list": {list, sourcetest.Edit(func(sourcetest.Event) []sourcetest.Event { return nil }),
			`200, {"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"6"},"items":[]}` + "\n, EOF, 0s"},
		"edit of a watch": {watching, sourcetest.Edit(func(e sourcetest.Event) []sourcetest.Event {
			return []sourcetest.Event{{Type: e.Type}, {Type: "X"}}
		}), `200, {"type":"MODIFIED","object":null}` + "\n" + `{"type":"X","object":null}` + "\n" + `{"type":"DELETED","object":null}` + "\n" + `{"type…, EOF, 1m0s`},
		"wire of a list":  {list, func(a *sourcetest.Answer) { a.Wire = func(raw []byte) []byte { return raw[:5] } }, `200, {"kin, EOF, 0s`},
		"wire of a watch": {watching, func(a *sourcetest.Answer) { a.Wire = func([]byte) []byte { return []byte("!") } }, "200, !!, EOF, 1m0s"},
		"cut":             {list, func(a *sourcetest.Answer) { a.Cut = 3 }, `200, {"k, EOF, 0s`},
		"cut short":       {list, func(a *sourcetest.Answer) { a.Body, a.Cut = []byte("12345"), -2 }, "200, 123, EOF, 0s"},
		"reset":           {list, func(a *sourcetest.Answer) { a.Cut, a.CutErr = 3, syscall.ECONNRESET }, `200, {"k, connection reset by peer, 0s`},
		"half-open":       {watching, func(a *sourcetest.Answer) { a.Cut, a.CutErr = 3, sourcetest.ErrHang }, `200, {"t, context deadline exceeded, 1h0m0s`},
		"slow":            {list, func(a *sourcetest.Answer) { a.Body, a.Chunk, a.Pause = []byte("12345"), 2, time.Second }, "200, 12345, EOF, 3s"},
		"slow for ever":   {list, func(a *sourcetest.Answer) { a.Body, a.Chunk, a.Pause = []byte("12345"), 2, 40*time.Minute }, "200, 12, context deadline exceeded, 1h0m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, _ := history(t)
				server.Inject(sourcetest.Fault{Do: tc.do})
				start := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://server"+tc.path, nil)
				if err != nil {
					t.Fatal(err)
				}
				var got string
				resp, err := server.RoundTrip(req)
				if err != nil {
					got = err.Error()
				} else {
					body, err := io.ReadAll(resp.Body)
					if err == nil {
						err = io.EOF
					}
					text := string(body)
					if len(text) > 100 {
						text = text[:min(len(text), max(len(content), 100))]
						if strings.HasPrefix(text, content) {
							text = content
						}
						text += "…"
					}
					got = fmt.Sprintf("%d, %s, %v", resp.StatusCode, text, err)
					resp.Body.Close()
				}
				got += ", " + time.Since(start).String()
				if !strings.HasPrefix(got, strings.Split(tc.want, "…")[0]) || !strings.HasSuffix(got, tc.want[strings.LastIndex(tc.want, "…")+1:]) {
					t.Errorf("got  %q\nwant %q", got, tc.want)
				}
			})
		})
	}
}

// TestRefusalIsNoStream: a fault's refusal has the Content-Type of one object, even if the request
// asked for a stream.
func TestRefusalIsNoStream(t *testing.T) {
	for _, accept := range []string{sourcetest.JSON, sourcetest.Protobuf + ";stream=watch"} {
		server, _ := history(t)
		server.Inject(sourcetest.Fault{Do: sourcetest.Refuse(403)})
		server.Inject(sourcetest.Fault{Do: func(a *sourcetest.Answer) {
			sourcetest.Refuse(403)(a)
			a.Header.Set("Content-Type", "text/plain")
		}})
		media, _, _ := strings.Cut(accept, ";")
		for _, want := range []string{media, "text/plain"} {
			resp := send(t.Context(), t, server, "/api/v1/pods?watch=1", accept)
			if got := resp.Header.Get("Content-Type"); got != want {
				t.Errorf("Accept %s: got %s, want %s", accept, got, want)
			}
			resp.Body.Close()
		}
	}
}

// TestNullInAList: Edit replaces an object by nil, in each format.
func TestNullInAList(t *testing.T) {
	for _, accept := range []string{sourcetest.JSON, sourcetest.Protobuf} {
		server, _ := history(t)
		server.Inject(sourcetest.Fault{Do: sourcetest.Edit(func(e sourcetest.Event) []sourcetest.Event { return []sourcetest.Event{{Type: e.Type}} })})
		resp := send(t.Context(), t, server, "/api/v1/pods", accept)
		raw, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != 200 || accept == sourcetest.JSON && !strings.Contains(string(raw), `"items":[null,null]`) {
			t.Errorf("%s: %d, %q, %v", accept, resp.StatusCode, raw, err)
		}
	}
}

func TestGzip(t *testing.T) {
	server, pods := history(t)
	server.Inject(sourcetest.Fault{Times: 2, Do: func(a *sourcetest.Answer) { a.Gzip = true }})
	for path, want := range map[string]string{"/api/v1/pods": `{"kind":"PodList"`, "/api/v1/pods?watch=1&resourceVersion=6": `{"type":"ADDED"`} {
		resp := send(t.Context(), t, server, path, "")
		pods.Create(pod("shop", "", func(p *corev1.Pod) { p.GenerateName = "z" }))
		z, err := gzip.NewReader(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(want))
		if _, err := io.ReadFull(z, got); err != nil || string(got) != want || resp.Header.Get("Content-Encoding") != "gzip" {
			t.Errorf("%s: %q, %v", path, got, err)
		}
		resp.Body.Close()
	}
}

// TestWorksOverSocket goes through a socket.
func TestWorksOverSocket(t *testing.T) {
	server, pods := history(t)
	loopback := httptest.NewServer(server)
	defer loopback.Close()
	client := loopback.Client()
	defer client.CloseIdleConnections()
	open := func(path string) (io.ReadCloser, error) {
		resp, err := client.Get(loopback.URL + path)
		if err != nil {
			return nil, err
		}
		return resp.Body, nil
	}
	read := func(path string) error {
		body, err := open(path)
		if err != nil {
			return err
		}
		defer body.Close()
		_, err = io.ReadAll(body)
		return err
	}
	if err := read("/api/v1/pods"); err != nil {
		t.Error(err)
	}
	body, err := open("/api/v1/pods?watch=1&resourceVersion=6")
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 1000)
	for range 3 { // each event arrives on its own, while the watch goes on
		pods.Update(pod("shop", "b"))
		if n, err := body.Read(buf); err != nil || !strings.HasSuffix(string(buf[:n]), "}}\n") {
			t.Errorf("%q, %v", buf[:n], err)
		}
	}
	body.Close()

	for name, tc := range map[string]struct {
		do   func(*sourcetest.Answer)
		want error
	}{
		"reset":          {sourcetest.Fail(syscall.ECONNRESET), syscall.ECONNRESET},
		"closed":         {sourcetest.Fail(io.ErrUnexpectedEOF), io.EOF},
		"reset midway":   {func(a *sourcetest.Answer) { a.Cut, a.CutErr = 10, syscall.ECONNRESET }, syscall.ECONNRESET},
		"closed midway":  {func(a *sourcetest.Answer) { a.Cut, a.CutErr = 10, io.ErrClosedPipe }, io.ErrUnexpectedEOF},
		"too few bytes":  {func(a *sourcetest.Answer) { a.Header.Set("Content-Length", "99999") }, io.ErrUnexpectedEOF},
		"nothing at all": {func(*sourcetest.Answer) {}, nil},
	} {
		// net/http repeats a failed request on a reused connection
		client.CloseIdleConnections()
		server.Inject(sourcetest.Fault{Do: tc.do})
		if err := read("/api/v1/pods"); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", name, err, tc.want)
		}
	}
}

// TestConcurrentUse has watches follow while others write, compact and inject faults.
func TestConcurrentUse(t *testing.T) {
	server := sourcetest.New()
	pods := sourcetest.Serve[*corev1.Pod](server, podResource, "Pod")
	var all sync.WaitGroup
	var watches []*events
	for range 4 {
		watches = append(watches, watch(t.Context(), t, server, "/api/v1/namespaces/shop/pods?watch=1&resourceVersion=1"))
	}
	for n, w := range watches {
		all.Go(func() {
			for range 400 {
				if event := w.next(); strings.HasPrefix(event, "ERROR") || !strings.Contains(event, " ") {
					t.Errorf("watch %d: %q", n, event)
					return
				}
			}
		})
		all.Go(func() {
			for i := range 50 {
				name := fmt.Sprintf("p-%d-%d", n, i)
				pods.Create(pod("shop", name))
				pods.Delete("shop", name)
				server.Compact()
				server.Bookmark()
				server.Inject(sourcetest.Fault{On: sourcetest.Continue, Do: sourcetest.Refuse(500)})()
				get(t, server, "/api/v1/pods?limit=1")
			}
		})
	}
	all.Wait()
}
