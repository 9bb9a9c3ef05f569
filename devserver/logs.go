// SPDX-License-Identifier: Apache-2.0

package devserver

import (
	"io"
	"os"
	"runtime"
	"strings"
	"sync"

	"github.com/go-logr/logr"
	"go.uber.org/zap/zapcore"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

	"github.com/informer-gen/informer-gen/devserver/internal/etcdlog"
)

// The API server logs through klog's process-wide logger, which must be set before the first line
// is logged, so while packages are initialised. Lines of the server's packages go to
// Options.LogOutput; all others go to stderr, as without this package. The API server's etcd client
// has its own logger.
func init() {
	klog.SetLogger(logr.New(&splitSink{
		server: newTextSink(&serverLog),
		others: newTextSink(os.Stderr),
	}))
	etcdlog.Redirect(&serverLog)
}

// serverPackages are the packages whose klog lines belong to the server. A line's whole call stack
// counts, so helper packages are silent when the server uses them, and only then.
var serverPackages = []string{
	"k8s.io/apiserver/",
	"k8s.io/apiextensions-apiserver/pkg/apiserver",
	"k8s.io/apiextensions-apiserver/pkg/controller/",
	"k8s.io/apiextensions-apiserver/pkg/registry/",
	"go.etcd.io/etcd/",
	"google.golang.org/grpc",
}

func newTextSink(out io.Writer) logr.LogSink {
	// klog has already compared the verbosity of each line. The call depth is splitSink's own
	// method.
	return withCallDepth(textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(out), textlogger.Verbosity(99))).GetSink(), 1)
}

type splitSink struct{ server, others logr.LogSink }

var _ logr.CallDepthLogSink = (*splitSink)(nil)

func (s *splitSink) Init(logr.RuntimeInfo)  {}
func (s *splitSink) Enabled(level int) bool { return true }
func (s *splitSink) pick() (logr.LogSink, bool) {
	if fromServer() {
		return s.server, serverLog.wanted()
	}
	return s.others, true
}

func (s *splitSink) Info(level int, msg string, kv ...any) {
	if sink, ok := s.pick(); ok {
		sink.Info(level, msg, kv...)
	}
}

func (s *splitSink) Error(err error, msg string, kv ...any) {
	if sink, ok := s.pick(); ok {
		sink.Error(err, msg, kv...)
	}
}

func (s *splitSink) WithValues(kv ...any) logr.LogSink {
	return &splitSink{s.server.WithValues(kv...), s.others.WithValues(kv...)}
}

func (s *splitSink) WithName(name string) logr.LogSink {
	return &splitSink{s.server.WithName(name), s.others.WithName(name)}
}

func (s *splitSink) WithCallDepth(depth int) logr.LogSink {
	return &splitSink{withCallDepth(s.server, depth), withCallDepth(s.others, depth)}
}

func withCallDepth(sink logr.LogSink, depth int) logr.LogSink {
	if d, ok := sink.(logr.CallDepthLogSink); ok {
		return d.WithCallDepth(depth)
	}
	return sink
}

// fromServer reports whether the goroutine's call stack passes through the server.
func fromServer() bool {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		frame, more := frames.Next()
		for _, prefix := range serverPackages {
			if strings.HasPrefix(frame.Function, prefix) {
				return true
			}
		}
		if !more {
			return false
		}
	}
}

// serverLog writes klog lines of all servers to the LogOutput of every running server.
var serverLog fanOut

type fanOut struct {
	mu  sync.Mutex
	out map[*logOutput]struct{} // mu guards it
}

func (f *fanOut) wanted() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.out) > 0
}

func (f *fanOut) add(o *logOutput) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.out == nil {
		f.out = map[*logOutput]struct{}{}
	}
	f.out[o] = struct{}{}
}

func (f *fanOut) remove(o *logOutput) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.out, o)
}

func (f *fanOut) Write(p []byte) (int, error) {
	f.mu.Lock()
	outs := make([]*logOutput, 0, len(f.out))
	for o := range f.out {
		outs = append(outs, o)
	}
	f.mu.Unlock()
	for _, o := range outs {
		_, _ = o.Write(p) // one that fails doesn't keep the line from the others
	}
	return len(p), nil
}

// logOutput serialises the writes of etcd and of the API server to one LogOutput.
type logOutput struct {
	mu  sync.Mutex
	out io.Writer // mu guards it
}

var _ zapcore.WriteSyncer = (*logOutput)(nil)

func (o *logOutput) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.out.Write(p)
}

// Sync does nothing: a LogOutput is any io.Writer.
func (o *logOutput) Sync() error { return nil }

func (o *logOutput) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.out = io.Discard
}

var serverLogger = logr.New(textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(&serverLog))).GetSink())
