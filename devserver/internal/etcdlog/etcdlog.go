// SPDX-License-Identifier: Apache-2.0

// Package etcdlog catches the log of the API server's etcd client, which would go to the process's
// standard error.
//
// The API server builds that client's logger while its packages are initialised, from a
// configuration variable of etcd. Go initialises packages in the order of their import paths, each
// after its imports (Go specification, Program initialization). This package imports etcd's
// configuration and little else, and its path sorts before k8s.io/apiserver, so init can change the
// configuration in time.
package etcdlog

import (
	"fmt"
	"io"
	"net/url"
	"slices"
	"sync/atomic"

	"go.etcd.io/etcd/client/pkg/v3/logutil"
	"go.uber.org/zap"
)

const scheme = "devserver-etcd-log"

// redirected is the logger's output, and original its output without this package.
var redirected, original = []string{scheme + ":"}, logutil.DefaultZapLoggerConfig.OutputPaths

func init() {
	if err := zap.RegisterSink(scheme, func(*url.URL) (zap.Sink, error) { return sink{}, nil }); err != nil {
		panic(fmt.Sprintf("etcdlog: register %q with zap: %v", scheme, err))
	}
	logutil.DefaultZapLoggerConfig.OutputPaths = redirected
}

var output atomic.Pointer[io.Writer]

// Redirect sends the log of the API server's etcd client to w, which must be safe for concurrent
// use. Other etcd clients made by the process from now on log as they would without this package.
func Redirect(w io.Writer) {
	output.Store(&w)
	if slices.Equal(logutil.DefaultZapLoggerConfig.OutputPaths, redirected) {
		logutil.DefaultZapLoggerConfig.OutputPaths = original
	}
}

type sink struct{}

func (sink) Write(p []byte) (int, error) {
	if w := output.Load(); w != nil {
		return (*w).Write(p)
	}
	return len(p), nil
}

func (sink) Sync() error  { return nil }
func (sink) Close() error { return nil }
