// SPDX-License-Identifier: Apache-2.0

package devserver

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/rest"
)

// loopback connects the API server with its own controllers, which are its clients. Connections are
// in-memory pipes, so these requests neither need a port nor pass through Options.WrapHandler.
type loopback struct {
	conns     chan net.Conn
	closed    chan struct{}
	closeOnce sync.Once

	transport *http.Transport
}

func newLoopback() *loopback {
	l := &loopback{conns: make(chan net.Conn), closed: make(chan struct{})}
	l.transport = &http.Transport{
		DialContext:         l.dial,
		MaxIdleConnsPerHost: 100,
		DisableCompression:  true,
	}
	return l
}

func (l *loopback) config() *rest.Config {
	return &rest.Config{Host: "http://loopback", Transport: l.transport, QPS: -1, ContentConfig: jsonContent}
}

func (l *loopback) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Accept implements net.Listener: it is the server's end of dial.
func (l *loopback) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close makes Accept and dial fail from now on.
func (l *loopback) Close() error {
	l.closeOnce.Do(func() { close(l.closed) })
	return nil
}

// Addr names the listener; it is not an address to dial.
func (l *loopback) Addr() net.Addr { return loopbackAddr{} }

type loopbackAddr struct{}

func (loopbackAddr) Network() string { return "memory" }
func (loopbackAddr) String() string  { return "loopback" }

// establishEarlier wraps the loopback's handler. The API server delays creates of a custom resource
// by two seconds if its CRD was established less than two seconds ago, for the sake of other API
// servers. There are none here, so the time written by the establishing controller is moved into
// the past.
func establishEarlier(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !writesStatusOfCRD(r) {
			next.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if changed, ok := backdateEstablished(body, time.Now()); ok {
			body = changed
		}
		r = r.Clone(r.Context())
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		next.ServeHTTP(w, r)
	})
}

// refuseStatusOfCRDs wraps the loopback's handler so that the API server's own CRD controllers have
// no effect: each of their actions begins with a condition. They can't be left out: they are made
// in any case, and end only after they have run.
func refuseStatusOfCRDs(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if writesStatusOfCRD(r) {
			http.Error(w, "DisableCRDControllers leaves the status of CRDs to others", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func writesStatusOfCRD(r *http.Request) bool {
	return r.Method == http.MethodPut && strings.HasPrefix(r.URL.Path, crdPath+"/") && strings.HasSuffix(r.URL.Path, "/status")
}

// backdateEstablished rewrites a CRD in JSON; ok is false if there is nothing to rewrite.
func backdateEstablished(body []byte, now time.Time) (changed []byte, ok bool) {
	var crd apiextensionsv1.CustomResourceDefinition
	if err := json.Unmarshal(body, &crd); err != nil {
		return nil, false
	}
	past := now.Add(-time.Minute)
	for i := range crd.Status.Conditions {
		c := &crd.Status.Conditions[i]
		if c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue && c.LastTransitionTime.After(past) {
			c.LastTransitionTime = metav1.NewTime(past)
			ok = true
		}
	}
	if !ok {
		return nil, false
	}
	changed, err := json.Marshal(&crd)
	return changed, err == nil
}
