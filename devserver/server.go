// SPDX-License-Identifier: Apache-2.0

package devserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"go.etcd.io/etcd/server/v3/embed"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/rest"
)

// Server is a running API server with its etcd. [Start] makes one. Its methods are safe for
// concurrent use.
type Server struct {
	// set once in Start, before the Server is handed out
	addr     *net.TCPAddr
	dir      string
	loop     *loopback
	etcd     *embed.Etcd
	api      *apiServer
	watches  watchTracker
	storages storages
	failed   chan error // the errors of parts that ended by themselves; buffered for all parts

	compacting sync.Mutex // held from reading a revision until it is compacted

	stopOnce sync.Once
	stopping chan struct{} // closed by stopOnce

	done chan struct{} // closed when all has ended
	err  error         // written before done is closed

	// used by start, and after that by supervise only
	cleanups []func() error
}

// Start starts an API server and returns when it is ready: discovery answers, and the CRDs of opts,
// and those left in opts.Dir by an earlier run, can be listed and watched. The server runs until
// Stop or Close is called or ctx is cancelled.
//
// An error names the wrong option or the part of the start that failed; then nothing is left
// running. It wraps ErrDirInUse if another server has opts.Dir, the operating system's error if
// opts.Addr can't be listened on, and context.Cause(ctx) if ctx ended first.
func Start(ctx context.Context, opts Options) (*Server, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("devserver: start: %w", context.Cause(ctx))
	}
	s := &Server{
		stopping: make(chan struct{}),
		done:     make(chan struct{}),
		failed:   make(chan error, 4),
	}
	if err := s.start(ctx, opts); err != nil {
		return nil, fmt.Errorf("devserver: %w", errors.Join(err, s.cleanUp()))
	}
	go s.supervise(ctx)
	return s, nil
}

// ErrDirInUse means that the folder of Options.Dir belongs to a running server. [Start] wraps it.
var ErrDirInUse = errors.New("the folder is in use by another server")

// URL returns the server's base URL, such as http://127.0.0.1:41235.
func (s *Server) URL() string { return "http://" + s.addr.String() }

// Dir returns the folder of the server's data: Options.Dir, or a temporary one that is gone after
// the stop.
func (s *Server) Dir() string { return s.dir }

// Config returns a new REST config for clients of this server. It sets no rate limit, and the
// content type JSON, the only one for custom resources; clients of built-in kinds only may set it
// to protobuf. It sets no transport, so clients made from it share http.DefaultTransport.
func (s *Server) Config() *rest.Config {
	return &rest.Config{Host: s.URL(), QPS: -1, ContentConfig: jsonContent}
}

// InstallCRDs is like the function InstallCRDs, without passing through Options.WrapHandler.
func (s *Server) InstallCRDs(ctx context.Context, crds ...*apiextensionsv1.CustomResourceDefinition) error {
	return InstallCRDs(ctx, s.loop.config(), crds...)
}

// Done is closed when the server and everything started by it have ended.
func (s *Server) Done() <-chan struct{} { return s.done }

// Err returns nil while the server runs and after a clean stop. Otherwise, after Done is closed, it
// returns the error that ended the server or occurred while it stopped.
func (s *Server) Err() error {
	select {
	case <-s.done:
		return s.err
	default:
		return nil
	}
}

// Stop stops the server, waits until everything has ended, and returns Err. Watches end at once;
// other requests, and watches whose clients don't read, get five seconds. If ctx ends first Stop
// returns an error that wraps context.Cause(ctx), and the server goes on stopping. Stopping twice,
// or a server that has stopped by itself, is fine.
func (s *Server) Stop(ctx context.Context) error {
	s.stopOnce.Do(func() { close(s.stopping) })
	select {
	case <-s.done:
		return s.err
	case <-ctx.Done():
		return fmt.Errorf("devserver: still stopping: %w", context.Cause(ctx))
	}
}

// Close is Stop without a deadline.
func (s *Server) Close() error { return s.Stop(context.Background()) }
