// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// fault is a network's fault of requests. The first field that is set counts.
type fault struct {
	err  error // of the connection
	code int   // of the answer
	cut  int   // delivered bytes of the answer's body
}

var (
	refused   = fault{err: syscall.ECONNREFUSED}
	reset     = fault{err: syscall.ECONNRESET}
	internal  = fault{code: http.StatusInternalServerError}
	busy      = fault{code: http.StatusTooManyRequests}
	outOfUse  = fault{code: http.StatusServiceUnavailable}
	gone      = fault{code: http.StatusGone}
	cutAtOnce = fault{cut: 1}
	cutLater  = fault{cut: 5000}
)

// network is a transport that fails on command.
type network struct {
	next *http.Transport // set once at construction

	mu     sync.Mutex // mu guards the fields below
	fault  *fault     // nil for none
	open   map[*answer]bool
	hits   int          // requests hit by a fault
	protos map[int]bool // used major versions of HTTP
}

// newNetwork returns a network without a fault. It trusts every server.
func newNetwork(t *testing.T) *network {
	n := &network{
		next:   &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
		open:   map[*answer]bool{},
		protos: map[int]bool{},
	}
	t.Cleanup(n.next.CloseIdleConnections)
	return n
}

// fail breaks open connections, and makes later requests fail.
func (n *network) fail(f fault) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.fault, n.hits = &f, 0
	for a := range n.open {
		a.cancel()
	}
}

// heal ends a fault.
func (n *network) heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.fault = nil
}

// hit returns the fault of a request, or nil.
func (n *network) hit() *fault {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.fault != nil {
		n.hits++
	}
	return n.fault
}

// RoundTrip implements [http.RoundTripper].
func (n *network) RoundTrip(req *http.Request) (*http.Response, error) {
	f := n.hit()
	switch {
	case f == nil:
	case f.err != nil:
		return nil, fmt.Errorf("dial tcp: %w", f.err)
	case f.code != 0:
		return refusal(req, f.code)
	}
	ctx, cancel := context.WithCancel(req.Context())
	resp, err := n.next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		cancel()
		return nil, err
	}
	a := &answer{ReadCloser: resp.Body, n: n, cancel: cancel, left: -1}
	if f != nil {
		a.left = f.cut
	}
	resp.Body = a
	n.mu.Lock()
	defer n.mu.Unlock()
	n.protos[resp.ProtoMajor] = true
	n.open[a] = true
	if n.fault != nil && f == nil { // the fault began meanwhile
		cancel()
	}
	return resp, nil
}

// refusal returns an answer with a status.
func refusal(req *http.Request, code int) (*http.Response, error) {
	status := metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Code: int32(code), Message: http.StatusText(code),
	}
	if code == http.StatusGone {
		status.Reason = metav1.StatusReasonExpired
	}
	body, err := json.Marshal(status)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: code, Status: strconv.Itoa(code) + " " + http.StatusText(code),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}},
		Body:   io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: req,
	}, nil
}

// answer is the body of an answer. It may break off. One goroutine reads it.
type answer struct {
	io.ReadCloser
	n      *network
	cancel context.CancelFunc
	left   int // bytes to deliver; negative for all
}

// Read reads until the body ends or breaks off.
func (a *answer) Read(p []byte) (int, error) {
	if a.left == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	if a.left > 0 {
		p = p[:min(len(p), a.left)]
	}
	read, err := a.ReadCloser.Read(p)
	if a.left > 0 {
		a.left -= read
	}
	if err != nil && err != io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return read, err
}

// Close closes the body.
func (a *answer) Close() error {
	a.n.mu.Lock()
	delete(a.n.open, a)
	a.n.mu.Unlock()
	defer a.cancel()
	return a.ReadCloser.Close()
}
