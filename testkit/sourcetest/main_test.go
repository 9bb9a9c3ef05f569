// SPDX-License-Identifier: Apache-2.0

package sourcetest_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

var formats = map[string]string{"json": sourcetest.JSON, "protobuf": sourcetest.Protobuf}

// world is a server with Pods, and a client of client-go with one format.
type world struct {
	t      *testing.T
	server *sourcetest.Server
	pods   *sourcetest.Collection[*corev1.Pod]
	client *rest.RESTClient
	scheme *runtime.Scheme
}

func newWorld(t *testing.T, contentType string) *world {
	t.Helper()
	w := &world{t: t, server: sourcetest.New(), scheme: runtime.NewScheme()}
	w.pods = sourcetest.Serve[*corev1.Pod](w.server, podResource, "", "spec.nodeName")
	if err := corev1.AddToScheme(w.scheme); err != nil {
		t.Fatal(err)
	}
	if err := metav1.AddMetaToScheme(w.scheme); err != nil {
		t.Fatal(err)
	}
	config := w.server.Config()
	config.ContentConfig = rest.ContentConfig{
		GroupVersion: &corev1.SchemeGroupVersion, ContentType: contentType, AcceptContentTypes: contentType,
		NegotiatedSerializer: serializer.NewCodecFactory(w.scheme).WithoutConversion(),
	}
	config.APIPath, config.QPS = "/api", -1
	var err error
	if w.client, err = rest.RESTClientFor(config); err != nil {
		t.Fatal(err)
	}
	return w
}

// request returns a request for Pods; params are pairs of a name and a value.
func (w *world) request(namespace string, params ...string) *rest.Request {
	req := w.client.Get().NamespaceIfScoped(namespace, namespace != "").Resource("pods")
	for i := 0; i < len(params); i += 2 {
		req.Param(params[i], params[i+1])
	}
	return req
}

// answer is an answer in JSON.
type answer struct {
	code   int
	status metav1.Status
	kind   string
	meta   metav1.ListMeta
	names  []string
}

// get returns the answer to a list in JSON.
func get(t *testing.T, server *sourcetest.Server, path string) answer {
	t.Helper()
	resp := send(context.Background(), t, server, path, "")
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		metav1.TypeMeta
		Metadata metav1.ListMeta
		Items    []metav1.PartialObjectMetadata
	}
	a := answer{code: resp.StatusCode}
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatalf("%s: %v in %s", path, err, raw)
	}
	if list.Kind == "Status" {
		if err := json.Unmarshal(raw, &a.status); err != nil {
			t.Fatal(err)
		}
	}
	a.kind, a.meta = list.Kind, list.Metadata
	for _, item := range list.Items {
		a.names = append(a.names, item.Name)
	}
	return a
}

// events is a watch in JSON.
type events struct {
	t    *testing.T
	body io.ReadCloser
	dec  *json.Decoder
}

func watch(ctx context.Context, t *testing.T, server *sourcetest.Server, path string) *events {
	t.Helper()
	resp := send(ctx, t, server, path, "")
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("watch %s: %s", path, resp.Status)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return &events{t, resp.Body, json.NewDecoder(resp.Body)}
}

// next returns the type, the name and the version of the next event, or the text of the error.
func (e *events) next() string {
	e.t.Helper()
	var event struct {
		Type   string
		Object struct {
			metav1.TypeMeta
			Metadata metav1.ObjectMeta
			Reason   string
		}
	}
	if err := e.dec.Decode(&event); err != nil {
		return err.Error()
	}
	obj := event.Object
	parts := []string{event.Type, obj.Metadata.Name, obj.Metadata.ResourceVersion, obj.Reason, obj.Metadata.Annotations[metav1.InitialEventsAnnotationKey]}
	return strings.Join(strings.Fields(strings.Join(parts, " ")), " ")
}

func (e *events) want(events ...string) {
	e.t.Helper()
	for _, want := range events {
		if got := e.next(); got != want {
			e.t.Errorf("event %q, want %q", got, want)
		}
	}
}

func send(ctx context.Context, t *testing.T, server http.RoundTripper, path, accept string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://server"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if accept != "" {
		req.Header.Set("Accept", accept)
	}
	resp, err := server.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func pod(namespace, name string, edits ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	for _, edit := range edits {
		edit(p)
	}
	return p
}

func label(key, value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Labels = map[string]string{key: value} }
}

var widgetResource = schema.GroupVersionResource{Group: "samples.io", Version: "v1", Resource: "widgets"}
