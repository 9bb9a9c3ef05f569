// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// proxy stands between informers and a server, counts their requests, and injects faults.
type proxy struct {
	target *url.URL
	url    string
	http   *http.Transport

	mu      sync.Mutex // mu guards the fields below
	fault   func(*request) fault
	seen    []*request
	streams map[*request]context.CancelCauseFunc // open ones
}

// request is one list or watch. They are numbered in the order of their arrival.
type request struct {
	number int
	path   string
	query  url.Values
}

func (r *request) watch() bool     { return r.query.Get("watch") == "true" }
func (r *request) watchList() bool { return r.watch() && r.query.Get("sendInitialEvents") == "true" }
func (r *request) list() bool      { return !r.watch() }

// of reports whether the request is for the namespace of ns.
func (r *request) of(ns collection) bool {
	return strings.Contains(r.path, "/namespaces/"+ns.namespace+"/")
}

// fault decides about a request. The zero fault lets it pass.
type fault struct {
	refuse *apierrors.StatusError // the answer, if not nil
	hold   chan struct{}          // if not nil: closed once the proxy holds the request back
	cut    int                    // if not 0, the connection breaks after so many bytes
}

var (
	expired  = apierrors.NewResourceExpired("the proxy has forgotten that version")
	internal = apierrors.NewInternalError(errors.New("the proxy has its problems"))
)

// newProxy starts a proxy, which is closed when the test ends.
func newProxy(t *testing.T, target string, faults func(*request) fault) *proxy {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{target: u, http: &http.Transport{DisableCompression: true}, fault: faults, streams: map[*request]context.CancelCauseFunc{}}
	server := httptest.NewServer(p)
	p.url = server.URL
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		p.http.CloseIdleConnections()
	})
	return p
}

// setFaults sets the function that chooses the fault of each later request; nil lets all pass.
func (p *proxy) setFaults(f func(*request) fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = f
}

// requests returns the requests so far for which f returns true.
func (p *proxy) requests(f func(*request) bool) []*request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.seen), func(r *request) bool { return !f(r) })
}

var (
	errCut = errors.New("the connection breaks")
	errEnd = errors.New("the stream ends")
)

// cut breaks the connections of all open responses; end ends the responses normally.
func (p *proxy) cut() { p.finish(errCut) }
func (p *proxy) end() { p.finish(errEnd) }

func (p *proxy) finish(why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finishLocked(why)
}

func (p *proxy) finishLocked(why error) {
	for _, cancel := range p.streams {
		cancel(why)
	}
}

// disconnect ends all open responses, and returns when the informer's next request is held back;
// cut releases it. Both happen under the lock, so no request comes between.
func (p *proxy) disconnect(t *testing.T) {
	t.Helper()
	held := make(chan struct{})
	p.mu.Lock()
	p.fault = func(*request) fault {
		select {
		case <-held:
			return fault{}
		default:
			return fault{hold: held} // ServeHTTP closes held
		}
	}
	p.finishLocked(errEnd)
	p.mu.Unlock()
	await(t, "request to hold back", held)
}

// ServeHTTP implements http.Handler.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	req := &request{path: r.URL.Path, query: r.URL.Query()}
	p.mu.Lock()
	req.number = len(p.seen)
	p.seen = append(p.seen, req)
	p.streams[req] = cancel
	decide := p.fault
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.streams, req)
	}()
	var f fault
	if decide != nil {
		f = decide(req)
	}
	switch {
	case f.refuse != nil:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(int(f.refuse.ErrStatus.Code))
		_ = json.NewEncoder(w).Encode(f.refuse.ErrStatus)
		return
	case f.hold != nil:
		close(f.hold)
		<-ctx.Done()
	default:
		p.pass(ctx, w, r, f.cut)
	}
	if errors.Is(context.Cause(ctx), errCut) || f.cut > 0 {
		panic(http.ErrAbortHandler) // closes the connection at once
	}
}

func (p *proxy) pass(ctx context.Context, w http.ResponseWriter, r *http.Request, cut int) {
	out := r.Clone(ctx)
	out.URL.Scheme, out.URL.Host, out.RequestURI = p.target.Scheme, p.target.Host, ""
	out.Header.Del("Accept-Encoding") // the proxy counts uncompressed bytes
	resp, err := p.http.RoundTrip(out)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer resp.Body.Close()
	maps.Copy(w.Header(), resp.Header)
	body := io.Reader(resp.Body)
	if cut > 0 {
		w.Header().Del("Content-Length")
		body = io.LimitReader(body, int64(cut))
	}
	w.WriteHeader(resp.StatusCode)
	flusher := http.NewResponseController(w)
	_ = flusher.Flush()
	buf := make([]byte, 4096)
	for {
		n, err := body.Read(buf)
		if ctx.Err() != nil {
			break // later data must not be in the ended response
		}
		if _, err := w.Write(buf[:n]); err != nil {
			return
		}
		_ = flusher.Flush()
		if err != nil {
			break
		}
	}
}

// next applies f to the next request and lets later ones pass.
func next(p *proxy, f fault) func(*request) fault {
	n := len(p.requests(anyRequest))
	return func(r *request) fault {
		if r.number == n {
			return f
		}
		return fault{}
	}
}

func anyRequest(*request) bool { return true }
