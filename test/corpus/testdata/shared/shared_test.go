// SPDX-License-Identifier: Apache-2.0

// Package user uses generated code as a user would.
package user

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"

	"corpus.example/user/generated/informers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds each wait. Only a busy machine needs more than a moment.
const patience = 2 * time.Minute

// deadline returns a context that ends before go test's timeout, so that the test can still report.
func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// recordingTransport records the media types of the server's answers.
type recordingTransport struct {
	next  http.RoundTripper
	mu    sync.Mutex // guards types
	types []string
}

func (n *recordingTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := n.next.RoundTrip(req)
	if err == nil {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.types = append(n.types, resp.Header.Get("Content-Type"))
	}
	return resp, err
}

// wantFormat fails unless all answers had one of the media types.
func (n *recordingTransport) wantFormat(t *testing.T, want ...string) {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.types) == 0 {
		t.Error("the server has sent no answer")
	}
	for _, got := range n.types {
		if !slices.Contains(want, got) {
			t.Errorf("the server has answered in %q, want only %q", n.types, want)
			return
		}
	}
}

// newFactory makes a generated factory, which is shut down when the test ends.
func newFactory(t *testing.T, config *rest.Config, opts ...informer.Option) (informers.SharedInformerFactory, *recordingTransport) {
	t.Helper()
	config = rest.CopyConfig(config)
	answers := &recordingTransport{next: config.Transport}
	config.Transport = answers
	client, err := source.NewClient(config)
	if err != nil {
		t.Fatal(err)
	}
	factory := informers.NewSharedInformerFactory(client, opts...)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := factory.Shutdown(ctx); err != nil {
			t.Error(err)
		}
	})
	return factory, answers
}

func start(t *testing.T, factory informers.SharedInformerFactory) {
	t.Helper()
	if err := factory.Start(context.Background()); err != nil { // Shutdown ends it
		t.Fatal(err)
	}
	if err := factory.WaitForCacheSync(deadline(t)); err != nil {
		t.Fatal(err)
	}
}

// await waits until the informer's store has a written version.
func await[T object.Object](t *testing.T, i *informer.SharedIndexInformer[T], written metav1.Object) {
	t.Helper()
	if err := i.AwaitResourceVersion(deadline(t), written.GetResourceVersion()); err != nil {
		t.Fatal(err)
	}
}

// events are the events of a handler, of some objects only.
type events[T object.Object] struct{ recorded chan string }

func record[T object.Object](t *testing.T, i *informer.SharedIndexInformer[T], wanted func(T) bool) events[T] {
	t.Helper()
	e := events[T]{make(chan string, 100)}
	add := func(what string, obj T) {
		if wanted(obj) {
			e.recorded <- what + " " + obj.GetName()
		}
	}
	if _, err := i.AddEventHandler(informer.HandlerFuncs[T]{
		AddFunc:    func(obj T, _ bool) { add("add", obj) },
		UpdateFunc: func(_, obj T) { add("update", obj) },
		DeleteFunc: func(deleted informer.Deleted[T]) { add("delete", deleted.Object) },
	}); err != nil {
		t.Fatal(err)
	}
	return e
}

// want waits for as many events as it has arguments, and compares them.
func (e events[T]) want(t *testing.T, want ...string) {
	t.Helper()
	var got []string
	for ctx := deadline(t); len(got) < len(want); {
		select {
		case event := <-e.recorded:
			got = append(got, event)
		case <-ctx.Done():
			t.Fatalf("the handler got the events %q, want %q", got, want)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events of the handler (-want +got):\n%s", diff)
	}
}

// names returns the sorted names of objects.
func names[T object.Object](objects []T) []string {
	var all []string
	for _, obj := range objects {
		all = append(all, obj.GetName())
	}
	slices.Sort(all)
	return all
}

// wantNames compares the names of the objects returned by an index or a lister.
func wantNames[T object.Object](t *testing.T, what string, got []T, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, names(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
