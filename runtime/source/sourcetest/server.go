// SPDX-License-Identifier: Apache-2.0

package sourcetest

import (
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// Server is an API server in memory. Make one with [New]. Its methods, and those of its
// collections, may be called by any goroutine at any time, also from the functions of a Fault.
//
//	Collection.Create ─▶ objects, by key
//	                     changes ─ ● ─▶ ● ─▶ ● ─▶ ●   linked list; Compact forgets its beginning
//	                                    ▲         ▲
//	                              watch ┘   watch ┘   a cursor each; reading the body moves it
type Server struct {
	// BookmarkInterval is the time between two bookmarks of a watch. 0 means a minute, as in API
	// servers; a negative value means that bookmarks come from Server.Bookmark only (and at the end
	// of initial events). Set it before the first request.
	BookmarkInterval time.Duration
	// MediaTypes are the formats that the server offers, of JSON, Protobuf and CBOR. nil means all
	// of them. Set it before the first request.
	MediaTypes []string

	mu          sync.Mutex // mu guards what follows, and the content of all collections
	version     int64      // of the last write to any collection
	uids        int64
	collections map[schema.GroupVersionResource]*collection
	requests    []Request
	faults      []*Fault
	// closed at the next write, bookmark or end of watches; nil if no watch waits
	changed   chan struct{}
	bookmarks int // calls of Bookmark
	ends      int // calls of EndWatches
}

// The formats of Server.MediaTypes.
const (
	JSON     = "application/json"
	Protobuf = "application/vnd.kubernetes.protobuf"
	CBOR     = "application/cbor"
)

// New returns a server without resources. It starts nothing.
func New() *Server {
	return &Server{version: 1, collections: map[schema.GroupVersionResource]*collection{}}
}

// Config returns a configuration whose clients reach the server in memory, without a socket.
func (s *Server) Config() *rest.Config {
	return &rest.Config{Host: "http://sourcetest.invalid", Transport: s}
}

// Requests returns all requests in the order of their arrival, also those that were answered by a
// fault.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// ResourceVersion returns the version of the last write to any collection.
func (s *Server) ResourceVersion() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return format(s.version)
}

// Compact makes the server forget its history, all versions before the present one: watches and
// lists that ask for them are answered with 410, open watches go on.
func (s *Server) Compact() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.collections {
		c.oldest, c.compacted = c.newest, s.version
	}
}

// Bookmark sends a bookmark of the present version in every open watch that has asked for
// bookmarks.
func (s *Server) Bookmark() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bookmarks++
	s.wakeLocked()
}

// EndWatches ends every open watch normally, after the events up to now.
func (s *Server) EndWatches() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endWatchesLocked()
}

// Restore puts the server back to an earlier version, as an API server whose backup is restored:
// the writes since then are undone, their versions will be used again, and open watches end. It
// panics if the version is not in the history.
func (s *Server) Restore(resourceVersion string) {
	version, err := strconv.ParseInt(resourceVersion, 10, 64)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || version > s.version {
		panic("sourcetest: Restore: no version " + resourceVersion + "; the present one is " + format(s.version))
	}
	for _, c := range s.collections {
		if version < c.compacted {
			panic("sourcetest: Restore: version " + resourceVersion + " was compacted")
		}
		c.objects = c.at(version)
		c.newest = c.find(version)
		// watches of undone versions keep the old nodes
		c.newest = &change{version: c.newest.version}
		c.oldest, c.compacted = c.newest, version
	}
	s.version = version
	s.endWatchesLocked()
}

// RoundTrip implements http.RoundTripper. Reading the response's body reads the server's memory
// directly.
func (s *Server) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
	a, body := s.answer(req)
	if err := body.begin(); err != nil {
		return nil, err
	}
	resp := &http.Response{
		StatusCode: a.code, Status: strconv.Itoa(a.code) + " " + http.StatusText(a.code),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        a.Header,
		ContentLength: -1,
		Request:       req,
		Body:          body,
	}
	return resp, nil
}

// ServeHTTP implements http.Handler. If a fault makes the connection fail, it is reset.
func (s *Server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	a, body := s.answer(req)
	defer body.Close()
	if err := body.begin(); err != nil {
		abort(w, err)
	}
	for name, values := range a.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.code)
	out := http.NewResponseController(w)
	_ = out.Flush()
	buf := make([]byte, 32<<10)
	for {
		n, err := body.Read(buf)
		if n > 0 {
			if _, err := w.Write(buf[:n]); err != nil {
				return
			}
			_ = out.Flush()
		}
		switch {
		case err == io.EOF:
			return
		case err != nil:
			abort(w, err)
		}
	}
}

// abort ends a connection before its time: with a reset if the fault asks for that, else by closing
// it.
func abort(w http.ResponseWriter, err error) {
	if errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.ECONNREFUSED) {
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			if tcp, ok := conn.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0)
			}
			_ = conn.Close()
		}
	}
	panic(http.ErrAbortHandler)
}

var (
	_ http.RoundTripper = (*Server)(nil)
	_ http.Handler      = (*Server)(nil)
)

// --- private from here ---

// wakeLocked wakes all watches.
func (s *Server) wakeLocked() {
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// waitLocked returns a channel that is closed when watches may have something to do.
func (s *Server) waitLocked() <-chan struct{} {
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	return s.changed
}

// freshness is how long a list or a watch-list waits for a version that the server has not reached.
const freshness = 3 * time.Second

// await waits until the server has reached version, or until the time for that is over.
func (s *Server) await(version int64, done <-chan struct{}) {
	var timer *time.Timer
	for {
		s.mu.Lock()
		if s.version >= version {
			s.mu.Unlock()
			return
		}
		changed := s.waitLocked()
		s.mu.Unlock()
		if timer == nil {
			timer = time.NewTimer(freshness)
			defer timer.Stop()
		}
		select {
		case <-changed:
		case <-timer.C:
			return
		case <-done:
			return
		}
	}
}

func (s *Server) endWatchesLocked() {
	s.ends++
	s.wakeLocked()
}

func (s *Server) bookmarkInterval() time.Duration {
	if s.BookmarkInterval == 0 {
		return time.Minute
	}
	return s.BookmarkInterval
}

func format(version int64) string { return strconv.FormatInt(version, 10) }
