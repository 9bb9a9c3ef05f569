// SPDX-License-Identifier: Apache-2.0

package devserver_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-gen/informer-gen/devserver"
)

type crds = []*apiextensionsv1.CustomResourceDefinition

func TestStopTwice(t *testing.T) {
	t.Parallel()
	s := start(t, devserver.Options{})
	if body := get(t, s.URL()+"/readyz", ""); string(body) != "ok" {
		t.Fatalf("readyz: %s", body)
	}
	if err := s.Err(); err != nil {
		t.Errorf("Err of a running server: %v", err)
	}
	for range 2 {
		if err := s.Stop(t.Context()); err != nil {
			t.Fatalf("Stop: %v", err)
		}
	}
	select {
	case <-s.Done():
	default:
		t.Error("Done is open after Stop")
	}
	if _, err := http.Get(s.URL() + "/readyz"); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a request to a stopped server returns %v, want connection refused", err)
	}
	if _, err := os.Stat(s.Dir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the temporary folder is still there: %v", err)
	}
	if _, err := s.Compact(t.Context()); err == nil {
		t.Error("Compact of a stopped server returns no error")
	}
}

func TestContextEndsServer(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s, err := devserver.Start(ctx, devserver.Options{CRDs: crds{boatCRD()}})
	if err != nil {
		t.Fatal(err)
	}
	w := openWatch(t, s, metav1.ListOptions{})
	cancel()
	<-s.Done()
	if err := s.Err(); err != nil {
		t.Errorf("Err: %v", err)
	}
	if e, ok := next(t, w); ok {
		t.Errorf("got event %v, want the end of the watch", e)
	}
}

func TestStartInEndedContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("changed my mind")
	cancel(reason)
	if _, err := devserver.Start(ctx, devserver.Options{}); !errors.Is(err, reason) {
		t.Fatalf("Start returns %v, want the reason", err)
	}
}

func TestStartErrors(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { taken.Close() })
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	running := start(t, devserver.Options{Dir: t.TempDir()})
	badScope := boatCRD()
	badScope.Spec.Scope = "Everywhere"

	for name, test := range map[string]struct {
		opts devserver.Options
		want string
		is   error
	}{
		"address without port":     {opts: devserver.Options{Addr: "127.0.0.1"}, want: `Addr "127.0.0.1" is not host:port`},
		"address with empty port":  {opts: devserver.Options{Addr: "127.0.0.1:"}, want: "has no port"},
		"port in use":              {opts: devserver.Options{Addr: taken.Addr().String()}, want: "listen", is: syscall.EADDRINUSE},
		"folder is a file":         {opts: devserver.Options{Dir: file}, want: "is not a folder"},
		"folder below a file":      {opts: devserver.Options{Dir: filepath.Join(file, "sub")}, want: "make the folder"},
		"folder in use":            {opts: devserver.Options{Dir: running.Dir()}, want: running.Dir(), is: devserver.ErrDirInUse},
		"negative timeout":         {opts: devserver.Options{MinRequestTimeout: -time.Second}, want: "MinRequestTimeout -1s is negative"},
		"CRDs without controllers": {opts: devserver.Options{CRDs: crds{boatCRD()}, DisableCRDControllers: true}, want: "together with DisableCRDControllers"},
		"nil CRD":                  {opts: devserver.Options{CRDs: crds{boatCRD(), nil}}, want: "CRD number 2 is nil"},
		"CRD without name":         {opts: devserver.Options{CRDs: crds{{}}}, want: "CRD number 1"},
		"CRD twice":                {opts: devserver.Options{CRDs: crds{boatCRD(), boatCRD()}}, want: "boats.harbour.example.com is given twice"},
		"two mistakes":             {opts: devserver.Options{Addr: "x", MinRequestTimeout: -1}, want: "MinRequestTimeout -1ns is negative"},
		"CRD that is refused":      {opts: devserver.Options{CRDs: crds{badScope}}, want: `install CRD boats.harbour.example.com: CustomResourceDefinition.apiextensions.k8s.io "boats.harbour.example.com" is invalid`},
		"handler nil":              {opts: devserver.Options{WrapHandler: func(http.Handler) http.Handler { return nil }}, want: "WrapHandler returned nil"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := devserver.Start(t.Context(), test.opts)
			if err == nil {
				s.Close()
				t.Fatal("Start returns no error")
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is\n%v\nwhich doesn't contain\n%s", err, test.want)
			}
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("the error %v doesn't wrap %v", err, test.is)
			}
		})
	}
}

// startAgain is start at an address at which a server has ended. Another test may have got the port
// for a moment.
func startAgain(t *testing.T, opts devserver.Options) *devserver.Server {
	t.Helper()
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		s, err := devserver.Start(context.Background(), opts)
		if err == nil {
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
			})
			return s
		}
		if !errors.Is(err, syscall.EADDRINUSE) || time.Since(began) > patience {
			t.Fatal(err)
		}
	}
}

func TestRestartKeepsObjects(t *testing.T) {
	t.Parallel()
	for _, cache := range []bool{true, false} {
		t.Run(fmt.Sprintf("watchCache=%v", cache), func(t *testing.T) {
			t.Parallel()
			opts := devserver.Options{Dir: t.TempDir(), CRDs: crds{boatCRD()}, DisableWatchCache: !cache}
			first := start(t, opts)
			early := create(t, first, "early", "a")
			late := create(t, first, "late", "a")
			if err := first.Close(); err != nil {
				t.Fatal(err)
			}

			opts.Addr = strings.TrimPrefix(first.URL(), "http://")
			opts.CRDs = nil
			second := startAgain(t, opts)
			if first.URL() != second.URL() {
				t.Fatalf("the URL was %s and is %s", first.URL(), second.URL())
			}
			resumed := openWatch(t, second, metav1.ListOptions{ResourceVersion: late.GetResourceVersion()})
			behind := openWatch(t, second, metav1.ListOptions{ResourceVersion: early.GetResourceVersion()})
			create(t, second, "new", "a")
			wantEvent(t, resumed, watch.Added, "new")
			if cache {
				// The watch cache began with the restart and knows nothing of the changes before.
				wantExpired(t, behind)
			} else {
				wantEvent(t, behind, watch.Added, "late")
				wantEvent(t, behind, watch.Added, "new")
			}

			if err := list(t, second, exactly(early.GetResourceVersion())); err != nil {
				t.Errorf("an exact list of the time before the restart: %v", err)
			}
			list, err := client(t, second).Resource(boats).List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if n := len(list.Items); n != 3 {
				t.Errorf("there are %d objects after the restart, want 3", n)
			}
			for _, b := range list.Items {
				if b.GetName() == "early" && (b.GetUID() != early.GetUID() || b.GetResourceVersion() != early.GetResourceVersion()) {
					t.Errorf("the restart changed the object to\n%v", b)
				}
			}
		})
	}
}

func TestWrapHandler(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	var refuse atomic.Bool
	s := start(t, devserver.Options{
		CRDs: crds{boatCRD()},
		WrapHandler: func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				requests.Add(1)
				if refuse.Load() {
					http.Error(w, "no", http.StatusTeapot)
					return
				}
				next.ServeHTTP(w, r)
			})
		},
	})
	if err := s.InstallCRDs(t.Context(), boatCRD("name")); err != nil {
		t.Fatal(err)
	}
	if n := requests.Load(); n != 0 {
		t.Errorf("the start and InstallCRDs passed through WrapHandler %d times", n)
	}
	create(t, s, "one", "a")
	if n := requests.Load(); n != 1 {
		t.Errorf("one create was counted as %d requests", n)
	}
	refuse.Store(true)
	_, err := client(t, s).Resource(boats).List(t.Context(), metav1.ListOptions{})
	if status := apierrors.APIStatus(nil); !errors.As(err, &status) || status.Status().Code != http.StatusTeapot {
		t.Errorf("got %v, want the status of WrapHandler", err)
	}
}

func TestMinRequestTimeout(t *testing.T) {
	t.Parallel()
	s := start(t, devserver.Options{CRDs: crds{boatCRD()}, MinRequestTimeout: time.Second})
	began := time.Now()
	w := openWatch(t, s, metav1.ListOptions{})
	if e, ok := next(t, w); ok {
		t.Fatalf("got event %v, want the end of the watch", e)
	}
	if took := time.Since(began); took < time.Second {
		t.Errorf("the watch ended after %v", took)
	}
}

func TestLogOutput(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var log bytes.Buffer
	s := start(t, devserver.Options{LogOutput: writerFunc(func(p []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return log.Write(p)
	})})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"closed etcd server", "Starting DiscoveryController"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log has no line with %q:\n%s", want, log.String())
		}
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// BenchmarkStart starts and stops servers. live-MB is what the heap has more while one runs, and
// collects-ms how long after its start the garbage collector has deleted its first object.
func BenchmarkStart(b *testing.B) {
	for name, opts := range map[string]devserver.Options{
		"CRDs":         {},
		"BuiltInKinds": {BuiltInKinds: true},
		"Garbage":      {BuiltInKinds: true, CollectGarbage: true},
	} {
		b.Run(name, func(b *testing.B) {
			var starting, collecting, stopping time.Duration
			var grown int64
			for b.Loop() {
				before := liveHeap()
				began := time.Now()
				s, err := devserver.Start(b.Context(), opts)
				if err != nil {
					b.Fatal(err)
				}
				ready := time.Now()
				starting += ready.Sub(began)
				if opts.CollectGarbage {
					newFamily(b, s).add("orphan", "", &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "gone", UID: "gone"}})
					newFamily(b, s).await("")
					collecting += time.Since(ready)
				}
				grown += liveHeap() - before
				began = time.Now()
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
				stopping += time.Since(began)
			}
			b.ReportMetric(starting.Seconds()*1000/float64(b.N), "start-ms/op")
			if opts.CollectGarbage {
				b.ReportMetric(collecting.Seconds()*1000/float64(b.N), "collects-ms/op")
			}
			b.ReportMetric(stopping.Seconds()*1000/float64(b.N), "stop-ms/op")
			b.ReportMetric(float64(grown)/float64(b.N)/1e6, "live-MB/op")
		})
	}
}

func liveHeap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
