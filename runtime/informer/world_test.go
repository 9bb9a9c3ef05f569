// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a server's pods, as a Source and over HTTP.
type world struct {
	mu      sync.Mutex // mu guards what follows
	version int
	pods    map[object.Key]*corev1.Pod
	history []source.Event[*corev1.Pod] // the n-th made version n+1
	changed chan struct{}               // closed by the next change
	failure error                       // of every call
	asked   []string                    // paths and queries of requests over HTTP
}

func newWorld(pods ...*corev1.Pod) *world {
	w := &world{pods: map[object.Key]*corev1.Pod{}, changed: make(chan struct{})}
	for _, pod := range pods {
		w.put(pod)
	}
	return w
}

func pod(namespace, name, node string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: corev1.PodSpec{NodeName: node}}
}

// put creates or updates a pod and returns its resourceVersion.
func (w *world) put(pod *corev1.Pod) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	what, key := source.Added, object.KeyOf(pod)
	pod = pod.DeepCopy()
	if old := w.pods[key]; old != nil {
		what = source.Modified
		pod.UID = old.UID
	} else {
		pod.UID = types.UID(fmt.Sprintf("uid-%d", w.version+1))
	}
	w.recordLocked(what, pod)
	w.pods[key] = pod
	return pod.ResourceVersion
}

func (w *world) remove(namespace, name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := object.Key{Namespace: namespace, Name: name}
	w.recordLocked(source.Deleted, w.pods[key].DeepCopy())
	delete(w.pods, key)
}

func (w *world) recordLocked(what source.EventType, pod *corev1.Pod) {
	w.version++
	pod.ResourceVersion = strconv.Itoa(w.version)
	w.history = append(w.history, source.Event[*corev1.Pod]{Type: what, Object: pod, ResourceVersion: pod.ResourceVersion})
	close(w.changed)
	w.changed = make(chan struct{})
}

// fail makes every call from now on fail with err, unless that is nil; watches that are open end with it.
func (w *world) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failure = err
	close(w.changed)
	w.changed = make(chan struct{})
}

func (w *world) List(ctx context.Context, _ source.ListOptions, item func(*corev1.Pod) error) (source.ListResult, error) {
	w.mu.Lock()
	pods, result, err := make([]*corev1.Pod, 0, len(w.pods)), source.ListResult{ResourceVersion: strconv.Itoa(w.version)}, w.failure
	for _, pod := range w.pods {
		pods = append(pods, pod.DeepCopy())
	}
	w.mu.Unlock()
	for _, pod := range pods {
		if err == nil {
			err = item(pod)
		}
	}
	return result, err
}

func (w *world) Watch(ctx context.Context, opts source.WatchOptions, opened func(), event func(source.Event[*corev1.Pod]) error) error {
	at, _ := strconv.Atoi(opts.ResourceVersion)
	if opts.SendInitialEvents {
		result, err := w.List(ctx, source.ListOptions{}, func(pod *corev1.Pod) error {
			return event(source.Event[*corev1.Pod]{Type: source.Added, Object: pod, ResourceVersion: pod.ResourceVersion})
		})
		if err != nil {
			return err
		}
		at, _ = strconv.Atoi(result.ResourceVersion)
		if err := event(source.Event[*corev1.Pod]{Type: source.Bookmark, ResourceVersion: result.ResourceVersion, InitialEventsEnd: true}); err != nil {
			return err
		}
	}
	for first := true; ; first = false {
		w.mu.Lock()
		news, changed, err := w.history[min(at, len(w.history)):], w.changed, w.failure
		w.mu.Unlock()
		if err != nil {
			return err
		}
		if first && opened != nil {
			opened()
		}
		for _, e := range news {
			e.Object = e.Object.DeepCopy()
			if err := event(e); err != nil {
				return err
			}
			at++
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// client is a client of the world's API server, which has no sockets.
func (w *world) client(t interface{ Fatal(...any) }) *source.Client {
	client, err := source.NewClient(&rest.Config{Host: "http://world", Transport: w})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// RoundTrip serves lists and watches of pods.
func (w *world) RoundTrip(req *http.Request) (*http.Response, error) {
	w.mu.Lock()
	w.asked = append(w.asked, req.URL.Path+"?"+req.URL.RawQuery)
	w.mu.Unlock()
	query := req.URL.Query()
	answer := func(code int, body io.ReadCloser) *http.Response {
		return &http.Response{StatusCode: code, Status: http.StatusText(code), Header: http.Header{"Content-Type": {"application/json"}},
			Body: body, Request: req, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
	}
	if !strings.HasSuffix(req.URL.Path, "/pods") {
		return answer(http.StatusNotFound, io.NopCloser(strings.NewReader("{}"))), nil
	}
	r, pipe := io.Pipe()
	encoder := json.NewEncoder(pipe)
	if query.Get("watch") == "" {
		list := corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}}
		result, err := w.List(req.Context(), source.ListOptions{}, func(pod *corev1.Pod) error {
			list.Items = append(list.Items, *pod)
			return nil
		})
		if err != nil {
			return nil, err
		}
		list.ResourceVersion = result.ResourceVersion
		go func() { pipe.CloseWithError(encoder.Encode(list)) }()
		return answer(http.StatusOK, r), nil
	}
	go func() {
		opts := source.WatchOptions{ResourceVersion: query.Get("resourceVersion"), SendInitialEvents: query.Get("sendInitialEvents") == "true"}
		pipe.CloseWithError(w.Watch(req.Context(), opts, nil, func(e source.Event[*corev1.Pod]) error {
			obj := e.Object
			if e.Type == source.Bookmark {
				obj = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: e.ResourceVersion}}
				if e.InitialEventsEnd {
					obj.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
				}
			}
			obj.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
			return encoder.Encode(map[string]any{"type": e.Type.String(), "object": obj})
		}))
	}()
	return answer(http.StatusOK, r), nil
}

var errOutage = errors.New("the server is away")
