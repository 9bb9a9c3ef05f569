// SPDX-License-Identifier: Apache-2.0

package serve_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/runtime/watchcache/serve"
)

// TestABodyThatNeverComes: the connection of a request that announces a body, and sends none, ends:
// at once if it is a read, and in 30 seconds if it is a write, whatever the answer is.
func TestABodyThatNeverComes(t *testing.T) {
	for name, test := range map[string]struct {
		request string
		denied  bool
		code    int
		after   time.Duration
	}{
		"a read":          {"GET " + widgets + " HTTP/1.1\r\nContent-Length: 5", false, http.StatusBadRequest, 0},
		"a read, in bits": {"GET " + widgets + " HTTP/1.1\r\nTransfer-Encoding: chunked", false, http.StatusBadRequest, 0},
		"a watch":         {"GET " + widgets + "?watch=true HTTP/1.1\r\nContent-Length: 5", false, http.StatusBadRequest, 0},
		"discovery":       {"GET /apis HTTP/1.1\r\nContent-Length: 5", false, http.StatusBadRequest, 0},
		"a write":         {"POST " + inA + " HTTP/1.1\r\nContent-Length: 5", false, http.StatusInternalServerError, 30 * time.Second},
		"a denied write":  {"POST " + inA + " HTTP/1.1\r\nContent-Length: 5", true, http.StatusInternalServerError, 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, handler, run := newBubbleRig(t, func(c *serve.Config) {
					c.Authorize = func(context.Context, serve.Attributes) error {
						if test.denied {
							return errors.New("denied")
						}
						return nil
					}
				})
				run()
				at := make(pipes)
				server := serve.NewServer(handler)
				served := make(chan struct{})
				go func() {
					defer close(served)
					_ = server.Serve(at) // it is closed
				}()
				defer func() {
					server.Close()
					<-served
				}()
				conn, err := at.dial(t.Context(), "", "")
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				fmt.Fprintf(conn, "%s\r\nHost: api\r\n\r\n", test.request)
				answer := bufio.NewReader(conn)
				resp, err := http.ReadResponse(answer, nil)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, resp.Body); err != nil {
					t.Error(err)
				}
				if _, err := answer.ReadByte(); err != io.EOF {
					t.Errorf("after the answer: %v, want the end of the connection", err)
				}
				// net/http closes a connection half a second after such an answer
				if took := time.Since(began).Truncate(time.Second); resp.StatusCode != test.code || took != test.after {
					t.Errorf("got %s, and the end after %v; want %d after %v", resp.Status, took, test.code, test.after)
				}
			})
		})
	}
}
