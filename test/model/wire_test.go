// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// overHTTP makes an informer of a factory. Its requests go to the clients, one for each namespace.
func overHTTP(clients []*client, opts []informer.Option) (*informer.SharedIndexInformer[*corev1.ConfigMap], error) {
	w := wire{}
	for _, c := range clients {
		w[c.scope.namespace] = c
	}
	client, err := source.NewClient(&rest.Config{Host: "http://server", Transport: w})
	if err != nil {
		return nil, err
	}
	return factories.For[*corev1.ConfigMap](factories.New(client), corev1.SchemeGroupVersion.WithResource("configmaps"), opts...), nil
}

// wire answers requests as an API server does, in JSON, without a socket.
type wire map[string]*client

var _ http.RoundTripper = wire(nil)

// RoundTrip implements http.RoundTripper.
func (w wire) RoundTrip(req *http.Request) (*http.Response, error) {
	namespace := ""
	if _, rest, ok := strings.Cut(req.URL.Path, "/namespaces/"); ok {
		namespace, _, _ = strings.Cut(rest, "/")
	}
	c, ok := w[namespace]
	if !ok {
		return nil, fmt.Errorf("unexpected request for %s", req.URL)
	}
	if req.URL.Query().Get("watch") == "true" {
		return serveWatch(c, req)
	}
	return serveList(c, req)
}

func serveList(c *client, req *http.Request) (*http.Response, error) {
	q := req.URL.Query()
	limit, _ := strconv.ParseInt(q.Get("limit"), 10, 64)
	var items [][]byte
	result, err := c.List(req.Context(), source.ListOptions{
		ResourceVersion: q.Get("resourceVersion"), ResourceVersionMatch: q.Get("resourceVersionMatch"),
		Limit: limit, Continue: q.Get("continue"), VersionOnly: limit == 1, // pageSizes has no 1
	}, func(obj *corev1.ConfigMap) error {
		items = append(items, encode(withKind(obj)))
		return nil
	})
	if err != nil && (len(items) == 0 || !errors.Is(err, errCut)) {
		return refusal(err)
	}
	head := fmt.Sprintf(`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":%q,"continue":%q},"items":[`, result.ResourceVersion, result.Continue)
	body := io.MultiReader(strings.NewReader(head), bytes.NewReader(bytes.Join(items, []byte(","))))
	if err != nil {
		body = io.MultiReader(body, brokenBody{err})
	} else {
		body = io.MultiReader(body, strings.NewReader("]}"))
	}
	return answer(http.StatusOK, io.NopCloser(body)), nil
}

// brokenBody is the missing rest of a body.
type brokenBody struct{ err error }

func (b brokenBody) Read([]byte) (int, error) { return 0, b.err }

func serveWatch(c *client, req *http.Request) (*http.Response, error) {
	q := req.URL.Query()
	seconds, _ := strconv.Atoi(q.Get("timeoutSeconds"))
	ctx, cancel := context.WithCancel(req.Context())
	r, w := io.Pipe()
	opened, refused := make(chan struct{}), make(chan error, 1)
	go func() {
		defer cancel()
		err := c.Watch(ctx, source.WatchOptions{
			ResourceVersion: q.Get("resourceVersion"), SendInitialEvents: q.Get("sendInitialEvents") == "true",
			Timeout: time.Duration(seconds) * time.Second,
		}, func() { close(opened) }, func(e source.Event[*corev1.ConfigMap]) error { return writeEvent(w, e) })
		select {
		case <-opened:
		default:
			refused <- err
			return
		}
		var status apierrors.APIStatus
		if errors.As(err, &status) {
			err = nil
			s := status.Status()
			_ = write(w, "ERROR", &s) // the client may be gone
		}
		w.CloseWithError(err)
	}()
	select {
	case <-opened:
		return answer(http.StatusOK, body{r, cancel}), nil
	case err := <-refused:
		return refusal(err)
	}
}

// body is the body of a watch. Close closes the connection.
type body struct {
	*io.PipeReader
	cancel context.CancelFunc
}

// Close implements io.Closer.
func (b body) Close() error {
	b.cancel()
	return b.PipeReader.Close()
}

func writeEvent(w io.Writer, e source.Event[*corev1.ConfigMap]) error {
	obj := e.Object
	if e.Type == source.Bookmark {
		obj = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ResourceVersion: e.ResourceVersion}}
		if e.InitialEventsEnd {
			obj.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
		}
	}
	return write(w, e.Type.String(), withKind(obj))
}

func write(w io.Writer, event string, obj runtime.Object) error {
	_, err := w.Write(encode(metav1.WatchEvent{Type: event, Object: runtime.RawExtension{Object: obj}}))
	return err
}

func withKind(obj *corev1.ConfigMap) *corev1.ConfigMap {
	obj = copyObject(obj)
	obj.Kind, obj.APIVersion = "ConfigMap", "v1"
	return obj
}

func encode[T any](v T) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // impossible for these types
	}
	return append(text, '\n')
}

// refusal returns the answer to a failed request: a status, or no answer at all.
func refusal(err error) (*http.Response, error) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return nil, err
	}
	s := status.Status()
	s.Kind, s.APIVersion = "Status", "v1"
	return answer(int(s.Code), io.NopCloser(bytes.NewReader(encode(&s)))), nil
}

func answer(code int, body io.ReadCloser) *http.Response {
	return &http.Response{
		StatusCode: code, Status: strconv.Itoa(code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: body, ContentLength: -1,
	}
}
