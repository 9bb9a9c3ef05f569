// SPDX-License-Identifier: Apache-2.0

package informertest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
)

// WithRig returns a function that runs a test in a bubble, with its own rig. Such a test can't
// flake: time moves only while all goroutines wait.
func WithRig[R any](rig func(*testing.T) R) func(*testing.T, func(*testing.T, R)) {
	return func(t *testing.T, test func(*testing.T, R)) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) { test(t, rig(t)) })
	}
}

// ErrStop is the cause of the end of Go's context.
var ErrStop = errors.New("stopped by the test")

// Running is a function run by Go.
type Running struct {
	End  func() error  // ends it, and returns its error
	Done chan struct{} // closed when it has returned
	Err  error         // its error; read it after Done
}

// Go calls run in a goroutine until End is called, or the test ends. It drops the logs.
func Go(t *testing.T, run func(context.Context) error) *Running {
	ctx, cancel := context.WithCancelCause(klog.NewContext(t.Context(), logr.Discard()))
	r := &Running{Done: make(chan struct{})}
	go func() {
		defer close(r.Done)
		r.Err = run(ctx)
	}()
	r.End = func() error {
		cancel(ErrStop)
		<-r.Done
		return r.Err
	}
	t.Cleanup(func() { _ = r.End() })
	return r
}

// SameText expects got and want to print the same text.
func SameText(t *testing.T, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s:\ngot  %v\nwant %v", what, got, want)
	}
}

// LogTo returns a logger of a verbosity. b may be read while all goroutines wait.
func LogTo(b *strings.Builder, verbosity int) logr.Logger {
	var mu sync.Mutex
	return funcr.New(func(prefix, args string) {
		mu.Lock()
		defer mu.Unlock()
		b.WriteString(prefix + args + "\n")
	}, funcr.Options{Verbosity: verbosity})
}

// ConfigMap returns a ConfigMap in the namespace "shop".
func ConfigMap(name string, edits ...func(*corev1.ConfigMap)) *corev1.ConfigMap {
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
	for _, edit := range edits {
		edit(m)
	}
	return m
}

// Edited returns a pod in the namespace "shop".
func Edited(name string, edits ...func(*corev1.Pod)) *corev1.Pod {
	p := Pod("shop", name, "")
	for _, edit := range edits {
		edit(p)
	}
	return p
}
