// SPDX-License-Identifier: Apache-2.0

// Package user is what a user of the generated code might write.
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

// patience is how long tests wait for what comes soon, unless the machine is busy with other things.
const patience = 2 * time.Minute

// deadline is a context that ends in time for the test to say what it waited for.
func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// noting is a transport that remembers in what the server has answered.
type noting struct {
	next  http.RoundTripper
	mu    sync.Mutex // guards what follows
	types []string
}

func (n *noting) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := n.next.RoundTrip(req)
	if err == nil {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.types = append(n.types, resp.Header.Get("Content-Type"))
	}
	return resp, err
}

// wantFormat fails unless all answers had one of the media types.
func (n *noting) wantFormat(t *testing.T, want ...string) {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.types) == 0 {
		t.Error("the server has answered nothing")
	}
	for _, got := range n.types {
		if !slices.Contains(want, got) {
			t.Errorf("the server has answered %q, want %q", n.types, want)
			return
		}
	}
}

// newFactory makes a generated factory that ends with the test.
func newFactory(t *testing.T, config *rest.Config, opts ...informer.Option) (informers.SharedInformerFactory, *noting) {
	t.Helper()
	config = rest.CopyConfig(config)
	answers := &noting{next: config.Transport}
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

// await waits until the informer's store has what was written.
func await[T object.Object](t *testing.T, i *informer.SharedIndexInformer[T], written metav1.Object) {
	t.Helper()
	if err := i.AwaitResourceVersion(deadline(t), written.GetResourceVersion()); err != nil {
		t.Fatal(err)
	}
}

// events records what a handler is told about the objects that are wanted.
type events[T object.Object] struct{ told chan string }

func record[T object.Object](t *testing.T, i *informer.SharedIndexInformer[T], wanted func(T) bool) events[T] {
	t.Helper()
	e := events[T]{make(chan string, 100)}
	tell := func(what string, obj T) {
		if wanted(obj) {
			e.told <- what + " " + obj.GetName()
		}
	}
	if _, err := i.AddEventHandler(informer.HandlerFuncs[T]{
		AddFunc:    func(obj T, _ bool) { tell("add", obj) },
		UpdateFunc: func(_, obj T) { tell("update", obj) },
		DeleteFunc: func(deleted informer.Deleted[T]) { tell("delete", deleted.Object) },
	}); err != nil {
		t.Fatal(err)
	}
	return e
}

// want waits for as many events, and compares.
func (e events[T]) want(t *testing.T, want ...string) {
	t.Helper()
	var got []string
	for ctx := deadline(t); len(got) < len(want); {
		select {
		case event := <-e.told:
			got = append(got, event)
		case <-ctx.Done():
			t.Fatalf("the handler was told %q, want %q", got, want)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the handler was told (-want +got):\n%s", diff)
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

// wantNames compares the objects that an index or a lister gives with their names.
func wantNames[T object.Object](t *testing.T, what string, got []T, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, names(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
