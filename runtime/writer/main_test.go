// SPDX-License-Identifier: Apache-2.0

package writer_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/writer"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	widgets = schema.GroupVersionResource{Group: "samples.io", Version: "v1", Resource: "widgets"}
	blueKey = object.Key{Namespace: "shop", Name: "blue"}
)

// Widget is a custom resource.
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              WidgetSpec   `json:"spec"`
	Status            WidgetStatus `json:"status"`
}

type WidgetSpec struct {
	Size  int            `json:"size"`
	Count *int           `json:"count,omitempty"`
	Empty *struct{}      `json:"empty,omitempty"`
	Parts map[string]int `json:"parts"`
}

type WidgetStatus struct {
	Phase string `json:"phase"`
}

// DeepCopyObject implements runtime.Object.
func (w *Widget) DeepCopyObject() runtime.Object {
	clone := *w
	w.ObjectMeta.DeepCopyInto(&clone.ObjectMeta)
	clone.Spec.Parts = maps.Clone(w.Spec.Parts)
	return &clone
}

// blue returns a Widget as in a cache.
func blue(change ...func(*Widget)) *Widget {
	w := &Widget{
		TypeMeta:   metav1.TypeMeta{APIVersion: "samples.io/v1", Kind: "Widget"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "blue", UID: "u1", ResourceVersion: "7"},
	}
	for _, f := range change {
		f(w)
	}
	return w
}

// token returns the token of blue at a resourceVersion.
func token(resourceVersion string) object.Token {
	return object.Token{Resource: widgets, Key: blueKey, UID: "u1", ResourceVersion: resourceVersion}
}

// answer is a response; contentType "" is JSON.
type answer struct {
	status      int
	body        string
	contentType string
}

// state answers with blue at a resourceVersion, and more metadata.
func state(resourceVersion string, more ...string) answer {
	return answer{status: 200, body: fmt.Sprintf(
		`{"kind":"Widget","apiVersion":"samples.io/v1","metadata":{"name":"blue","namespace":"shop","uid":"u1","resourceVersion":%q%s},"spec":{"size":1}}`,
		resourceVersion, strings.Join(append([]string{""}, more...), ","))}
}

// refuse answers with a Status of failure.
func refuse(code int, reason metav1.StatusReason) answer {
	return answer{status: code, body: fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d,"message":"because"}`, reason, code)}
}

// server answers requests in turn, and records them.
type server struct {
	mu      sync.Mutex
	answers []answer
	got     []string // "METHOD path?query type\nbody"
	headers []http.Header
}

func (s *server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, _ := io.ReadAll(req.Body)
	line := req.Method + " " + req.URL.RequestURI()
	if t := req.Header.Get("Content-Type"); t != "" {
		// older apimachineries write a time that isn't set
		line += " " + t + "\n" + strings.ReplaceAll(string(body), `,"creationTimestamp":null`, "")
	}
	s.got, s.headers = append(s.got, line), append(s.headers, req.Header.Clone())
	next := answer{status: 500, body: "no more answers"}
	if len(s.answers) > 0 {
		next, s.answers = s.answers[0], s.answers[1:]
	}
	if next.contentType == "" {
		next.contentType = "application/json"
	}
	w.Header().Set("Content-Type", next.contentType)
	w.WriteHeader(next.status)
	io.WriteString(w, next.body)
}

// wantRequests compares the recorded requests.
func (s *server) wantRequests(t *testing.T, want ...string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.got, want) {
		t.Errorf("requests\n%s\nwant\n%s", strings.Join(s.got, "\n"), strings.Join(want, "\n"))
	}
}

// RoundTrip serves requests without a socket, for synctest bubbles.
func (s *server) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body == nil {
		req.Body = http.NoBody
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, req)
	return w.Result(), req.Context().Err()
}

// serve returns a server with a socket, and its client.
func serve(t *testing.T, answers ...answer) (*server, *source.Client) {
	t.Helper()
	s := &server{answers: answers}
	listener := httptest.NewServer(s)
	transport := &http.Transport{}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		listener.Close()
	})
	client, err := source.NewClient(&rest.Config{Host: listener.URL, Transport: transport, UserAgent: "shop/1"})
	if err != nil {
		t.Fatal(err)
	}
	return s, client
}

func newWriter[T object.Object](t *testing.T, client *source.Client, resource schema.GroupVersionResource, opts writer.Options) *writer.Writer[T] {
	t.Helper()
	w, err := writer.New[T](client, resource, opts)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// widgetWriter returns a Writer of Widgets with its server.
func widgetWriter(t *testing.T, opts writer.Options, answers ...answer) (*server, *writer.Writer[*Widget]) {
	t.Helper()
	s, client := serve(t, answers...)
	return s, newWriter[*Widget](t, client, widgets, opts)
}
