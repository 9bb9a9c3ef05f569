// SPDX-License-Identifier: Apache-2.0

package inspect_test

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/inspect"
	"github.com/informer-gen/informer-gen/runtime/internal/partition"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	same         = informertest.SameText
	podResource  = informertest.PodResource
	nodeResource = corev1.SchemeGroupVersion.WithResource("nodes")
	discard      = logr.Discard()
)

// shop is an API server in memory, with pods.
type shop struct{ *informertest.Shop }

func newShop(pods ...*corev1.Pod) *shop { return &shop{informertest.NewShop(pods...)} }

func pod(namespace, name string) *corev1.Pod { return informertest.Pod(namespace, name, "") }

func (s *shop) factory(t *testing.T, opts ...informer.Option) *factories.Factory {
	t.Helper()
	return s.Factory(t, append([]informer.Option{informer.WithLogger(discard)}, opts...)...)
}

// refuse answers the requests for one resource with a status.
func (s *shop) refuse(resource string, code int) (end func()) {
	return s.Inject(sourcetest.Fault{Times: sourcetest.Always, Do: func(a *sourcetest.Answer) {
		if a.Request.Resource.Resource == resource {
			a.Status = sourcetest.Status(code)
		}
	}})
}

// start starts a factory; end shuts it down.
func start(t *testing.T, f *factories.Factory) (end func()) {
	t.Helper()
	if err := f.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	return func() {
		t.Helper()
		if err := f.Shutdown(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}
}

// onAdd calls add for each added pod.
func onAdd(t *testing.T, i *informer.SharedIndexInformer[*corev1.Pod], name string, add func(*corev1.Pod)) {
	t.Helper()
	h := informer.HandlerFuncs[*corev1.Pod]{AddFunc: func(pod *corev1.Pod, _ bool) { add(pod) }}
	if _, err := i.AddEventHandler(h, informer.WithHandlerName(name)); err != nil {
		t.Fatal(err)
	}
}

// get makes a request from this machine.
func get(h http.Handler, target string, accept string) *httptest.ResponseRecorder {
	req := httptest.NewRequest(http.MethodGet, target, nil)
	req.RemoteAddr, req.Host = "127.0.0.1:4711", "localhost:8080"
	req.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	return w
}

const browser = "text/html,application/xhtml+xml,*/*;q=0.8"

// page returns the text of the HTML page without tags, and checks that it is well-formed.
func page(t *testing.T, h http.Handler, target string) (text string) {
	t.Helper()
	w := get(h, target, browser)
	if got := w.Header().Get("Content-Type"); got != "text/html; charset=utf-8" {
		t.Errorf("content type %q", got)
	}
	var b strings.Builder
	decoder := xml.NewDecoder(w.Body)
	for style := false; ; {
		token, err := decoder.Token()
		switch token := token.(type) {
		case xml.StartElement:
			style = token.Name.Local == "style"
			b.WriteByte(' ')
		case xml.CharData:
			if !style {
				b.Write(token)
			}
		}
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("the page is not well-formed: %v", err)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// report has the fields of the JSON for tests.
type report struct {
	Condition string
	Problems  []struct{ Condition, Name, Text, Advice string }
	Informers []struct {
		Name, Condition, Why, Advice, ResourceVersion string
		Running, Synced                               bool
		Objects                                       int
		Reflector                                     struct {
			State, Reason, LastError string
			RelistsBy                map[string]int
		}
		Streams  []struct{ Namespace string }
		Handlers []struct {
			Name, Condition, Lag, Callback, Key, For string
			Backlog                                  int
		}
	}
	Leadership  *inspect.Leadership
	Controllers []struct {
		Name, Condition, Why, LastError, LastErrorKey, RunError string
		Missing                                                 []string
		LastMinute                                              controller.Recent
		Totals                                                  map[string]int
		Queue                                                   struct{ Normal, Failing int }
		Failing                                                 []failingKey
	}
	Ring *struct {
		Condition, Why, Advice, Name, Identity, State string
		Unowned                                       []ringUnowned
		Buckets                                       []ringBucket
		Members                                       []ringMember
		Informers                                     []partition.Mode
	}
	Key *struct {
		Key       string
		Informers []struct {
			Informer, ResourceVersion, Why string
			Stored                         bool
			Handlers                       []struct {
				Name, Callback, Lag string
				Backlog             int
			}
		}
		Controllers []struct{ Controller, Where, Error string }
	}
}

type ringUnowned struct{ Buckets, LastOwner, UnownedFor string }

type ringBucket struct {
	Owner, Next, Spare, State, UnownedFor string
	Bucket, Epoch, Keys                   int
}

type ringMember struct {
	Identity, State, UnchangedFor string
	Owned                         int
}

type failingKey struct {
	Key, Error string
	Failures   int
	Due        time.Time
}

func reported(t *testing.T, h http.Handler, target string) (r report) {
	t.Helper()
	w := get(h, target, "*/*")
	if got := w.Header().Get("Content-Type"); got != "application/json" || w.Code != http.StatusOK {
		t.Errorf("%d, content type %q: %s", w.Code, got, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// contains checks that a text has the parts, in any order.
func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("the text lacks %q:\n%s", part, text)
		}
	}
}
