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

// fenced returns a candidate's HTTP client with do as its transport.
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

func TestRequestsAreRefusedUnlessLeading(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		c := r.candidate("a")
		sent := 0
		client := c.fenced(t, func(*http.Request) (*http.Response, error) {
			sent++
			return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
		})
		_, err := client.Do(post(t, "{}"))
		if want := `Post "http://api.test/api/v1/pods": POST /api/v1/pods was not sent: this process does not lead`; err == nil || err.Error() != want {
			t.Errorf("Do() = %v\nwant   %s", err, want)
		}
		r.start(c)
		resp, err := client.Do(post(t, "{}"))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		_ = c.End()
		if _, err = client.Do(post(t, "{}")); !errors.Is(err, election.ErrNotLeading) {
			t.Errorf("Do() after Run = %v, want ErrNotLeading", err)
		}
		same(t, "sent", sent, 1)
	})
}

// TestPendingRequestsAreCutOff: one waits for a response, one for the rest of a body.
func TestPendingRequestsAreCutOff(t *testing.T) {
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
			t.Errorf("the errors are %v and %v, want ErrNotLeading", first, second)
		}
	})
}

// TestBodyIsNotSentAfterTerm: connecting takes longer than the lease, and ignores the context.
func TestBodyIsNotSentAfterTerm(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		c := r.run("a")[0]
		pass(time.Second)
		c.on(hang)
		var body []byte
		client := c.fenced(t, func(req *http.Request) (_ *http.Response, err error) {
			time.Sleep(lease)
			body, err = io.ReadAll(req.Body)
			if err == nil {
				t.Error("the transport could read the body after the term")
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
			t.Errorf("Do() = %v, want ErrNotLeading", err)
		}
		same(t, "sent", string(body), "")
	})
}

// TestConnectionIsClosedAfterTerm: a response that switches protocols is a connection, closed by
// the caller or at the end of the term.
func TestConnectionIsClosedAfterTerm(t *testing.T) {
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
		_, closed := switched()
		same(t, "its context while it is open", sent.Context().Err(), nil)
		_ = closed.Body.Close()
		same(t, "its context", sent.Context().Err(), context.Canceled)

		open, resp := switched()
		if _, ok := resp.Body.(io.Writer); !ok {
			t.Error("the body is not a Writer")
		}
		_ = c.End() // must not close the first one again
		synctest.Wait()
		select {
		case <-open.closed:
		default:
			t.Error("the connection is open after the term")
		}
	})
}

type connection struct{ closed chan struct{} }

func (c *connection) Read([]byte) (int, error)    { <-c.closed; return 0, io.EOF }
func (c *connection) Write(p []byte) (int, error) { return len(p), nil }
func (c *connection) Close() error                { close(c.closed); return nil }
