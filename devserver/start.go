// SPDX-License-Identifier: Apache-2.0

package devserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/klog/v2"
)

// start makes the parts of the server one after the other, and appends to s.cleanups a function
// that undoes each step.
func (s *Server) start(ctx context.Context, opts Options) error {
	addr := opts.Addr
	if addr == "" {
		addr = defaultAddr
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	// closed already after serving
	s.cleanups = append(s.cleanups, func() error { listener.Close(); return nil })
	s.addr = reachable(listener.Addr().(*net.TCPAddr))

	if err := s.takeDir(opts.Dir); err != nil {
		return err
	}
	var log *logOutput
	if opts.LogOutput != nil {
		log = &logOutput{out: opts.LogOutput}
		serverLog.add(log)
		s.cleanups = append(s.cleanups, func() error { serverLog.remove(log); log.close(); return nil })
	}
	if s.etcd, err = startEtcd(ctx, filepath.Join(s.dir, "etcd"), log); err != nil {
		return err
	}
	s.cleanups = append(s.cleanups, func() error { s.etcd.Close(); return nil })

	if err := s.startAPIServer(ctx, opts); err != nil {
		return err
	}
	if err := s.InstallCRDs(ctx, opts.CRDs...); err != nil {
		return err
	}

	handler := http.Handler(s.watches.wrap(s.awaitCRDs(s.api.GenericAPIServer.Handler)))
	if opts.WrapHandler != nil {
		if handler = opts.WrapHandler(handler); handler == nil {
			return errors.New("wrong options: WrapHandler returned nil")
		}
	}
	s.serve(handler, listener, "serve "+s.URL())
	return nil
}

// takeDir reserves dir, or a temporary folder, for this server.
func (s *Server) takeDir(dir string) (err error) {
	temporary := dir == ""
	if temporary {
		dir, err = os.MkdirTemp("", "devserver-")
	} else if dir, err = filepath.Abs(dir); err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return fmt.Errorf("make the folder of the server's data: %w", err)
	}
	s.dir = dir
	if temporary {
		s.cleanups = append(s.cleanups, func() error { return os.RemoveAll(dir) })
	}
	lock, err := fileutil.TryLockFile(filepath.Join(dir, "devserver.lock"), os.O_WRONLY|os.O_CREATE, 0o600)
	if errors.Is(err, fileutil.ErrLocked) {
		return fmt.Errorf("lock %s: %w", dir, ErrDirInUse)
	}
	if err != nil {
		return fmt.Errorf("lock %s: %w", dir, err)
	}
	s.cleanups = append(s.cleanups, lock.Close)
	return nil
}

func (s *Server) startAPIServer(ctx context.Context, opts Options) error {
	s.loop = newLoopback()
	api, err := newAPIServer(apiConfig{
		etcdURL:           "http://" + s.etcd.Clients[0].Addr().String(),
		publicAddr:        s.addr,
		loopback:          s.loop.config(),
		watchCache:        !opts.DisableWatchCache,
		minRequestSeconds: opts.minRequestSeconds(),
		builtInKinds:      opts.BuiltInKinds,
		rbac:              opts.RBAC,
	}, &s.storages)
	if err != nil {
		return err
	}
	s.api = api
	s.cleanups = append(s.cleanups, func() error { s.storages.destroy(); return nil })
	prepared := api.GenericAPIServer.PrepareRun()
	if api.builtIns != nil {
		api.builtIns.kinds.ServeOpenAPI(api.GenericAPIServer, *api.openAPI)
	}
	writeCRDs := establishEarlier
	if opts.DisableCRDControllers {
		writeCRDs = refuseStatusOfCRDs
	}
	s.serve(writeCRDs(s.awaitCRDs(api.GenericAPIServer.Handler)), s.loop, "serve the API server's own requests")
	s.cleanups = append(s.cleanups, func() error { s.loop.transport.CloseIdleConnections(); return nil })

	runCtx, cancel := context.WithCancel(klog.NewContext(context.Background(), serverLogger))
	running := false
	s.cleanups = append(s.cleanups, func() error {
		cancel()
		api.Informers.Shutdown()
		if !running {
			api.GenericAPIServer.Destroy()
		}
		return nil
	})

	// The API server's CRD informer is the first client of the CRDs' storage. Before that storage's
	// watch cache is ready, it would fail and retry after a second. After the API server's own
	// hooks, it would keep them waiting for a tenth of a second, until they check again.
	if err := s.awaitOK(ctx, crdPath+"?watch=true&timeoutSeconds=1"); err != nil {
		return err
	}
	crds := api.Informers.Apiextensions().V1().CustomResourceDefinitions()
	api.Informers.StartWithContext(runCtx)
	select {
	case <-crds.Informer().HasSyncedChecker().Done():
	case <-ctx.Done():
		return fmt.Errorf("read the CRDs that are there: %w", context.Cause(ctx))
	}

	if api.builtIns != nil {
		if err := api.builtIns.start(ctx); err != nil {
			return err
		}
		s.cleanups = append(s.cleanups, func() error { api.builtIns.stop(); return nil })
	}

	running = true
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := prepared.RunWithContext(runCtx); err != nil {
			s.failed <- fmt.Errorf("run the API server: %w", err)
		} else if runCtx.Err() == nil {
			s.failed <- errors.New("run the API server: it ended by itself")
		}
	}()
	s.cleanups = append(s.cleanups, func() error { cancel(); <-ended; return nil })
	if err := s.awaitOK(ctx, "/readyz"); err != nil {
		return err
	}

	if err := s.startDeletions(ctx, opts.CollectGarbage); err != nil {
		return err
	}

	found, err := crds.Lister().List(labels.Everything())
	if err != nil {
		return fmt.Errorf("read the CRDs that are there: %w", err)
	}
	if err := api.checkHidden(found); err != nil {
		return err
	}
	return awaitServed(ctx, s.loop.config(), slices.DeleteFunc(slices.Clone(found), func(crd *apiextensionsv1.CustomResourceDefinition) bool {
		return !isEstablished(crd) || crd.DeletionTimestamp != nil
	}))
}

// serve answers requests from listener with handler until it is cleaned up.
func (s *Server) serve(handler http.Handler, listener net.Listener, what string) {
	requests, cancel := context.WithCancel(context.Background())
	var unused unusedConns
	server := &http.Server{
		Handler:           handler,
		BaseContext:       func(net.Listener) context.Context { return requests },
		ConnState:         unused.note,
		ReadHeaderTimeout: 30 * time.Second,
		IdleTimeout:       90 * time.Second,
		ErrorLog:          discardLog,
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.failed <- fmt.Errorf("%s: %w", what, err)
		}
	}()
	s.cleanups = append(s.cleanups, func() error {
		cancel()
		unused.close()
		ctx, cancel := context.WithTimeout(context.Background(), stopGrace)
		defer cancel()
		if server.Shutdown(ctx) != nil {
			server.Close() // a handler that ignores its context is left behind
		}
		<-ended
		return nil
	})
}

func (s *Server) awaitOK(ctx context.Context, path string) error {
	return poll(ctx, func(ctx context.Context) error {
		return ask(ctx, &http.Client{Transport: s.loop.transport}, "http://loopback"+path)
	})
}

// supervise stops the server when ctx ends, when Stop is called, or when a part of it ends by
// itself.
func (s *Server) supervise(ctx context.Context) {
	var failure error
	select {
	case <-ctx.Done():
	case <-s.stopping:
	case failure = <-s.failed:
	case failure = <-s.etcd.Err():
		failure = fmt.Errorf("run etcd: %w", failure)
	}
	if err := errors.Join(failure, s.cleanUp()); err != nil {
		s.err = fmt.Errorf("devserver: %w", err)
	}
	close(s.done)
}

func (s *Server) cleanUp() error {
	var errs []error
	for _, f := range slices.Backward(s.cleanups) {
		errs = append(errs, f())
	}
	s.cleanups = nil
	return errors.Join(errs...)
}

// reachable returns an address of this machine at which a listener on addr can be reached.
func reachable(addr *net.TCPAddr) *net.TCPAddr {
	if !addr.IP.IsUnspecified() {
		return addr
	}
	return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: addr.Port}
}
