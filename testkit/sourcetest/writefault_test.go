// SPDX-License-Identifier: Apache-2.0

package sourcetest_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// TestFaultsStopAWriteOrItsAnswer: some faults prevent the write, others only its answer.
func TestFaultsStopAWriteOrItsAnswer(t *testing.T) {
	for name, tc := range map[string]struct {
		do     func(*sourcetest.Answer)
		done   bool
		answer string
		after  time.Duration
	}{
		"refused":       {sourcetest.Refuse(500), false, "500 Internal Server Error", 0},
		"reset":         {sourcetest.Fail(syscall.ECONNRESET), false, "connection reset by peer", 0},
		"hangs":         {sourcetest.Fail(sourcetest.ErrHang), false, "context deadline exceeded", time.Minute},
		"body":          {func(a *sourcetest.Answer) { a.Code, a.Body = 502, []byte("bad gateway") }, false, "502 Bad Gateway", 0},
		"another code":  {func(a *sourcetest.Answer) { a.Code = 202 }, true, "202 Accepted", 0},
		"late":          {func(a *sourcetest.Answer) { a.Delay = time.Second }, true, "201 Created", time.Second},
		"too late":      {func(a *sourcetest.Answer) { a.Delay = time.Hour }, true, "context deadline exceeded", time.Minute},
		"cut off":       {func(a *sourcetest.Answer) { a.Cut, a.CutErr = 1, syscall.ECONNRESET }, true, "connection reset by peer", 0},
		"no fault":      {func(*sourcetest.Answer) {}, true, "201 Created", 0},
		"slow":          {func(a *sourcetest.Answer) { a.Chunk, a.Pause = 1<<20, time.Second }, true, "201 Created", time.Second},
		"other content": {func(a *sourcetest.Answer) { a.Wire = func([]byte) []byte { return []byte("{") } }, true, "201 Created", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := sourcetest.New()
				pods := sourcetest.Serve[*corev1.Pod](server, podResource, "")
				server.Inject(sourcetest.Fault{On: sourcetest.Write, Do: tc.do})
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				req, err := http.NewRequestWithContext(ctx, "POST", "http://server"+inShop, strings.NewReader(`{"metadata":{"name":"a"}}`))
				if err != nil {
					t.Fatal(err)
				}
				start, answer := time.Now(), ""
				resp, err := server.RoundTrip(req)
				if err == nil {
					answer = resp.Status
					_, err = io.ReadAll(resp.Body)
					resp.Body.Close()
				}
				if err != nil {
					answer = err.Error()
				}
				if after := time.Since(start); answer != tc.answer || after != tc.after {
					t.Errorf("%s after %v, want %s after %v", answer, after, tc.answer, tc.after)
				}
				if _, done := pods.Get("shop", "a"); done != tc.done {
					t.Errorf("the write was done: %v", done)
				}
			})
		})
	}
}

// TestFaultsMayWriteFirst has a fault that writes before the request.
func TestFaultsMayWriteFirst(t *testing.T) {
	server := sourcetest.New()
	pods := sourcetest.Serve[*corev1.Pod](server, podResource, "")
	mine := pods.Create(pod("shop", "a"))
	server.Inject(sourcetest.Fault{On: sourcetest.Write, Do: func(*sourcetest.Answer) { pods.Update(pod("shop", "a", label("by", "another"))) }})
	if got := call(t, server, "PUT", inShop+"/a", mine); got.status.Reason != "Conflict" {
		t.Error(got.raw)
	}
	server.Inject(sourcetest.Fault{On: sourcetest.Get, Do: func(a *sourcetest.Answer) { a.Object = mine }})
	expect(t, "a stale get", call(t, server, "GET", inShop+"/a", nil), "200 a at 2")
	expect(t, "get", call(t, server, "GET", inShop+"/a", nil), "200 a at 3")
}

func TestFaultsMatchRequests(t *testing.T) {
	server := sourcetest.New()
	pods := sourcetest.Serve[*corev1.Pod](server, podResource, "")
	pods.Create(pod("shop", "a"))
	pods.Create(pod("shop", "b"))
	server.Inject(sourcetest.Fault{Times: 2, Do: sourcetest.Refuse(500), Match: func(r sourcetest.Request) bool {
		return r.Method == http.MethodPut && r.Name == "b" && r.Subresource == "status"
	}})
	var codes []int
	for _, path := range []string{"/a/status", "/b", "/b/status", "/b/status", "/b/status"} {
		codes = append(codes, call(t, server, "PUT", inShop+path, pod("", path[1:2])).code)
	}
	if fmt.Sprint(codes) != "[200 200 500 500 200]" {
		t.Error(codes)
	}
	requests := server.Requests()
	last := requests[len(requests)-1]
	if last.String() != "PUT "+inShop+"/b/status" || last.Verb != sourcetest.Write || last.ContentType != sourcetest.JSON || !strings.Contains(string(last.Body), `"name":"b"`) {
		t.Errorf("%+v", last)
	}
}
