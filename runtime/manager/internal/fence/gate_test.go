// SPDX-License-Identifier: Apache-2.0

package fence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/internal/partition"
)

var errShut = fmt.Errorf("%w: the bucket is shut", errClosed)

// doors is a gate with an open term, for tests.
type doors struct {
	*Gate
	t    testing.TB
	term *Term
}

func newDoors(t testing.TB) *doors {
	g := NewGate(newHub(), errClosed, errExpired)
	term := g.Begin(context.Background(), "web-0")
	term.Extend(time.Now(), time.Hour)
	t.Cleanup(func() { term.Close(errEnded) })
	return &doors{g, t, term}
}

func newHub() *partition.Hub { return partition.NewHub(partition.Partition{Buckets: 4}) }

// claiming returns a context with a claim of a hub.
func claiming(ctx context.Context, hub *partition.Hub, bucket int, epoch uint64) context.Context {
	return context.WithValue(ctx, partition.ClaimKey{}, &partition.Claim{Hub: hub, Bucket: bucket, Epoch: epoch})
}

// do sends a request with a claim by client; GET if body is nil.
func (d *doors) do(client *http.Client, url string, bucket int, epoch uint64, body io.Reader) (*http.Response, error) {
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(claiming(d.t.Context(), d.hub, bucket, epoch), method, url, body)
	if err != nil {
		return nil, err
	}
	return client.Do(req)
}

const inMemory = "http://api.test/api/v1/pods"

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// client returns a fenced client with a transport in memory.
func (d *doors) client(next roundTrip) *http.Client {
	d.t.Helper()
	client, err := rest.HTTPClientFor(d.Wrap(&rest.Config{Transport: next, UserAgent: "widgets/v1"}))
	if err != nil {
		d.t.Fatal(err)
	}
	return client
}

func TestGateChecksClaims(t *testing.T) {
	d := newDoors(t)
	var agents []string
	client := d.client(func(req *http.Request) (*http.Response, error) {
		agents = append(agents, req.Header.Get("User-Agent"))
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	})
	check := func(hub *partition.Hub, bucket int, epoch uint64, want string) {
		t.Helper()
		ctx := t.Context()
		if hub != nil {
			ctx = claiming(ctx, hub, bucket, epoch)
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, inMemory, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		agents = nil
		resp, err := client.Do(req)
		var got string
		if err != nil {
			_, got, _ = strings.Cut(err.Error(), `pods": `)
		} else {
			_ = resp.Body.Close()
			got = strings.Join(agents, "")
		}
		if got != want || err != nil && !errors.Is(err, errClosed) {
			t.Errorf("bucket %d at epoch %d: %q (%v), want %q", bucket, epoch, got, err, want)
		}
	}
	check(d.hub, 1, 5, "POST /api/v1/pods for bucket 1 at epoch 5 was not sent: no term")
	d.Open(1, 5)
	check(d.hub, 1, 5, "widgets/v1 (shard web-0 1@5)")
	check(d.hub, 1, 4, "POST /api/v1/pods for bucket 1 at epoch 4 was not sent: no term at epoch 4, but at epoch 5")
	check(d.hub, 1, 6, "POST /api/v1/pods for bucket 1 at epoch 6 was not sent: no term at epoch 6, but at epoch 5")
	check(d.hub, 1, 0, "POST /api/v1/pods for bucket 1 at epoch 0 was not sent: no term at epoch 0, but at epoch 5")
	check(d.hub, 2, 5, "POST /api/v1/pods for bucket 2 at epoch 5 was not sent: no term")
	check(d.hub, 2, 0, "POST /api/v1/pods for bucket 2 at epoch 0 was not sent: no term")
	if n := d.Unclaimed(); n != 0 {
		t.Errorf("%d requests without a claim, want none", n)
	}
	check(newHub(), 2, 7, "widgets/v1") // another ring's gate decides about it
	check(nil, 0, 0, "widgets/v1")
	if n := d.Unclaimed(); n != 2 {
		t.Errorf("%d requests without a claim, want 2", n)
	}

	<-d.Shut(1, errShut)
	<-d.Shut(1, errors.New("again")) // does nothing
	check(d.hub, 1, 5, "POST /api/v1/pods for bucket 1 at epoch 5 was not sent: no term: the bucket is shut")
	d.Open(1, 7)
	d.Open(1, 7)
	check(d.hub, 1, 5, "POST /api/v1/pods for bucket 1 at epoch 5 was not sent: no term at epoch 5, but at epoch 7")
	check(d.hub, 1, 7, "widgets/v1 (shard web-0 1@7)")
	d.Open(1, 9) // without Shut
	check(d.hub, 1, 7, "POST /api/v1/pods for bucket 1 at epoch 7 was not sent: no term at epoch 7, but at epoch 9")

	d.term.Close(errEnded)
	check(d.hub, 1, 9, "POST /api/v1/pods for bucket 1 at epoch 9 was not sent: no term: the test has ended")
	check(nil, 0, 0, "POST /api/v1/pods was not sent: no term: the test has ended")
	if n := d.Unclaimed(); n != 2 {
		t.Errorf("%d requests without a claim, want 2: refused ones don't count", n)
	}
	term := d.Begin(t.Context(), "web-0-again")
	term.Extend(time.Now(), time.Hour)
	defer term.Close(errEnded)
	check(d.hub, 1, 9, "POST /api/v1/pods for bucket 1 at epoch 9 was not sent: no term")
	d.Open(1, 10)
	check(d.hub, 1, 10, "widgets/v1 (shard web-0-again 1@10)")
}

// TestShutCutsOffInMemory: the transport has no connections. One request waits for a response, two
// for the rest of it, which the server may end, one has not sent its body, and one is a connection.
func TestShutCutsOffInMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoors(t)
		d.Open(1, 5)
		d.Open(2, 5)
		errs := make(chan error, 10)
		linger := make(chan struct{}) // the transport returns late
		waits := d.client(func(req *http.Request) (*http.Response, error) {
			<-req.Context().Done()
			<-linger
			return nil, context.Cause(req.Context())
		})
		sends := d.client(func(req *http.Request) (*http.Response, error) {
			_, err := io.ReadAll(req.Body)
			return nil, err
		})
		receiving := func(end error) *http.Client {
			return d.client(func(req *http.Request) (*http.Response, error) {
				read, write := io.Pipe()
				context.AfterFunc(req.Context(), func() { write.CloseWithError(end) })
				return &http.Response{StatusCode: http.StatusOK, Body: read}, nil
			})
		}
		receives, ends := receiving(io.ErrUnexpectedEOF), receiving(io.EOF)
		conn := &upgraded{closed: make(chan struct{})}
		switches := d.client(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusSwitchingProtocols, Body: conn}, nil
		})
		body, more := io.Pipe()
		for _, send := range []func() (*http.Response, error){
			func() (*http.Response, error) { return d.do(waits, inMemory, 1, 5, nil) },
			func() (*http.Response, error) { return d.do(sends, inMemory, 1, 5, body) },
			func() (*http.Response, error) { return d.do(receives, inMemory, 1, 5, nil) },
			func() (*http.Response, error) { return d.do(ends, inMemory, 1, 5, nil) },
			func() (*http.Response, error) { return d.do(switches, inMemory, 1, 5, nil) },
			func() (*http.Response, error) { return d.do(receives, inMemory, 2, 5, nil) },
		} {
			go func() {
				resp, err := send()
				if err == nil {
					_, err = io.ReadAll(resp.Body)
					if w, ok := resp.Body.(io.Writer); ok {
						_, err = w.Write([]byte("x"))
					}
					_ = resp.Body.Close()
				}
				errs <- err
			}()
		}
		if _, err := more.Write([]byte("begins")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		idle := d.Shut(1, errShut)
		again := d.Shut(1, errShut)
		_, _ = more.Write([]byte("goes on"))
		_ = more.Close()
		synctest.Wait()
		for range 4 {
			select {
			case err := <-errs:
				if !errors.Is(err, errShut) {
					t.Errorf("a request returns %v, want that the bucket is shut", err)
				}
			default:
				t.Fatal("a request is still pending")
			}
		}
		for _, idle := range []<-chan struct{}{idle, again} {
			select {
			case <-idle:
				t.Error("it is idle before the transport has returned")
			default:
			}
		}
		close(linger)
		<-idle
		<-again
		if err := <-errs; !errors.Is(err, errShut) {
			t.Errorf("a request returns %v, want that the bucket is shut", err)
		}
		synctest.Wait()
		if len(errs) > 0 {
			t.Errorf("a request of another bucket returns %v", <-errs)
		}
		d.term.Close(errEnded)
		if err := <-errs; !errors.Is(err, errEnded) {
			t.Errorf("a request returns %v, want that the term has ended", err)
		}
		for b := range d.buckets {
			if n := len(d.buckets[b].calls); n > 0 {
				t.Errorf("bucket %d still has %d calls", b, n)
			}
		}
	})
}

// upgraded is a connection that is the body of a response.
type upgraded struct {
	closed chan struct{}
	once   sync.Once
}

func (c *upgraded) Read([]byte) (int, error)    { <-c.closed; return 0, io.EOF }
func (c *upgraded) Write(p []byte) (int, error) { return len(p), nil }
func (c *upgraded) Close() error                { c.once.Do(func() { close(c.closed) }); return nil }
