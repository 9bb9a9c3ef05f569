// SPDX-License-Identifier: Apache-2.0

// Package etcdlog catches what the API server's etcd client logs, which would go to the standard
// error of the process.
//
// The API server builds that client's logger while its packages are initialised, from a
// configuration that is a variable of etcd. Go initialises packages in the order of their import
// paths, each after those that it imports (The Go Programming Language Specification, Program
// initialization). This package imports etcd's configuration and little else, and its path comes
// before k8s.io/apiserver: so the logger is built from what init puts there.
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

// ours is where the logger writes to, and theirs where it would have.
var ours, theirs = []string{scheme + ":"}, logutil.DefaultZapLoggerConfig.OutputPaths

func init() {
	if err := zap.RegisterSink(scheme, func(*url.URL) (zap.Sink, error) { return sink{}, nil }); err != nil {
		panic(fmt.Sprintf("etcdlog: register %q with zap: %v", scheme, err))
	}
	logutil.DefaultZapLoggerConfig.OutputPaths = ours
}

var output atomic.Pointer[io.Writer]

// Redirect makes w the place that the API server's etcd client logs to; it must be safe for
// concurrent use. Other clients of etcd that the process makes from now on log where they would
// without this package.
func Redirect(w io.Writer) {
	output.Store(&w)
	if slices.Equal(logutil.DefaultZapLoggerConfig.OutputPaths, ours) {
		logutil.DefaultZapLoggerConfig.OutputPaths = theirs
	}
}

// sink writes to output, if there is one.
type sink struct{}

func (sink) Write(p []byte) (int, error) {
	if w := output.Load(); w != nil {
		return (*w).Write(p)
	}
	return len(p), nil
}

func (sink) Sync() error  { return nil }
func (sink) Close() error { return nil }
