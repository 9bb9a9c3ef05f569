// SPDX-License-Identifier: Apache-2.0

package election_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/manager/election"
)

// fenced returns an HTTP client of a candidate over a transport of the test's.
func (c *candidate) fenced(t *testing.T, do roundTrip) *http.Client {
	t.Helper()
	config := rest.CopyConfig(c.config)
	config.Transport, config.WrapTransport = do, nil
	client, err := rest.HTTPClientFor(c.Fence(config))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func post(t *testing.T, body string) *http.Request {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, "http://api.test/api/v1/pods", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return req
}

func TestRequestsAreRefusedUnlessItLeads(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		c := r.candidate("a")
		sent := 0
		client := c.fenced(t, func(*http.Request) (*http.Response, error) {
			sent++
			return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
		})
		_, err := client.Do(post(t, "{}"))
		if want := `Post "http://api.test/api/v1/pods": POST /api/v1/pods was not sent: this process does not lead`; err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
		r.start(c)
		resp, err := client.Do(post(t, "{}"))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		_ = c.End()
		if _, err = client.Do(post(t, "{}")); !errors.Is(err, election.ErrNotLeading) {
			t.Errorf("after the end: %v", err)
		}
		same(t, "sent", sent, 1)
	})
}

// TestRequestsUnderWayAreCutOff: one waits for its answer, one for more of its answer.
func TestRequestsUnderWayAreCutOff(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		c := r.run("a")[0]
		pass(time.Second)
		c.on(hang)
		_, renewed := c.last()
		answers := make(chan error, 2)
		go func() {
			_, err := c.fenced(t, func(req *http.Request) (*http.Response, error) { return hang(req, nil) }).Do(post(t, "{}"))
			answers <- err
		}()
		go func() {
			resp, err := c.fenced(t, func(req *http.Request) (*http.Response, error) {
				read, write := io.Pipe()
				go func() {
					<-req.Context().Done()
					write.CloseWithError(req.Context().Err())
				}()
				return &http.Response{StatusCode: http.StatusOK, Body: read}, nil
			}).Do(post(t, "{}"))
			if err == nil {
				_, err = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
			answers <- err
		}()
		first, second := <-answers, <-answers
		within(t, "the end after the renewal", time.Since(renewed), lease-margin, lease-margin)
		if first == nil || second == nil || !errors.Is(errors.Join(first, second), election.ErrNotLeading) {
			t.Errorf("got %v and %v", first, second)
		}
	})
}

// TestABodyIsNotSentAfterTheEnd: connecting takes longer than the lease, and heeds no context.
func TestABodyIsNotSentAfterTheEnd(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		c := r.run("a")[0]
		pass(time.Second)
		c.on(hang)
		var body []byte
		client := c.fenced(t, func(req *http.Request) (_ *http.Response, err error) {
			time.Sleep(lease)
			body, err = io.ReadAll(req.Body)
			if err == nil {
				t.Error("the body can be read")
			}
			again, err := req.GetBody()
			if err != nil {
				return nil, err
			}
			_, err = again.Read(make([]byte, 1))
			return nil, err
		})
		_, err := client.Do(post(t, "{}"))
		if !errors.Is(err, election.ErrNotLeading) {
			t.Errorf("got %v", err)
		}
		same(t, "sent", string(body), "")
	})
}

// TestAConnectionIsClosedAtTheEnd: it was switched to another protocol, and can be written to.
// Nothing of one that is closed before waits for the end of the term.
func TestAConnectionIsClosedAtTheEnd(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		c := r.run("a")[0]
		var sent *http.Request
		switched := func() (*connection, *http.Response) {
			conn := &connection{closed: make(chan struct{})}
			resp, err := c.fenced(t, func(req *http.Request) (*http.Response, error) {
				sent = req
				return &http.Response{StatusCode: http.StatusSwitchingProtocols, Body: conn}, nil
			}).Do(post(t, "{}"))
			if err != nil {
				t.Fatal(err)
			}
			return conn, resp
		}
		_, early := switched()
		same(t, "its context while it is open", sent.Context().Err(), nil)
		_ = early.Body.Close()
		same(t, "its context", sent.Context().Err(), context.Canceled)

		open, resp := switched()
		if _, ok := resp.Body.(io.Writer); !ok {
			t.Error("it can't be written to")
		}
		_ = c.End() // must not close the first one again
		synctest.Wait()
		select {
		case <-open.closed:
		default:
			t.Error("it is open")
		}
	})
}

type connection struct{ closed chan struct{} }

func (c *connection) Read([]byte) (int, error)    { <-c.closed; return 0, io.EOF }
func (c *connection) Write(p []byte) (int, error) { return len(p), nil }
func (c *connection) Close() error                { close(c.closed); return nil }
