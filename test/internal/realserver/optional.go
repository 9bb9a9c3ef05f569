// SPDX-License-Identifier: Apache-2.0

package realserver

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/inspect"
	"github.com/informer-gen/informer-gen/runtime/lister"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/test/internal/poll"
)

// OptionalResource tests informer.WithOptionalResource: an informer of a CustomResourceDefinition
// that isn't installed waits for it without a failure, and no one waits for the informer. It begins
// when the definition is installed, gets the deletions of its objects when the definition is
// deleted, waits again, and begins again.
func OptionalResource(t *testing.T, config *rest.Config) {
	t.Run("dynamic", func(t *testing.T) {
		t.Parallel()
		optionalResource[*unstructured.Unstructured](t, config, "dynamic.example.com", true)
	})
	t.Run("metadata", func(t *testing.T) {
		t.Parallel()
		optionalResource[*metav1.PartialObjectMetadata](t, config, "metadata.example.com", true)
	})
	t.Run("paged lists", func(t *testing.T) {
		t.Parallel()
		optionalResource[*unstructured.Unstructured](t, config, "lists.example.com", false)
	})
}

// begins reports whether an error is that of a server that begins to serve a resource: its watch
// cache is not ready, or begins after a list that was read without it.
func begins(err error, watchLists bool) bool {
	switch reason.Of(err) {
	case reason.Throttled:
		return strings.Contains(err.Error(), "storage is (re)initializing")
	case reason.Expired:
		return !watchLists
	}
	return false
}

func optionalResource[T object.Object](t *testing.T, config *rest.Config, group string, watchLists bool) {
	cluster := newBoats(t, config, group)
	client, err := source.NewClient(config)
	if err != nil {
		t.Fatal(err)
	}
	tuning := informer.WithTuning(reflector.Tuning{DisableWatchList: !watchLists, Backoff: reflector.Backoff{Initial: 10 * time.Millisecond, Max: 100 * time.Millisecond}})
	failed := informer.WithErrorHandler(func(_ string, err error) {
		if !begins(err, watchLists) {
			t.Errorf("a failure (%v): %v", reason.Of(err), err)
		}
	})
	f := factories.New(client, informer.WithOptionalResource(), tuning, failed)
	i := factories.For[T](f, cluster.gvr, factories.WithClusterScope())
	events := make(chan string, 10)
	if _, err := i.AddEventHandler(informer.HandlerFuncs[T]{
		AddFunc:    func(obj T, _ bool) { events <- "add " + obj.GetName() },
		DeleteFunc: func(d informer.Deleted[T]) { events <- "delete " + d.Key.Name },
	}); err != nil {
		t.Fatal(err)
	}
	// wantState waits for a state without a failure.
	wantState := func(state reflector.State, synced bool, objects int) {
		t.Helper()
		poll.Until(t, func() error {
			s := i.Status()
			if s.Reflector.State != state || s.Reflector.Reason != reason.None || s.Synced != synced || s.Objects != objects || s.WaitsForResource() == synced {
				return fmt.Errorf("the informer has the status %v, want %v, %d objects, synced: %v", s, state, objects, synced)
			}
			return nil
		})
		if err := f.WaitForCacheSync(t.Context(), informer.FailOn()); err != nil {
			t.Errorf("WaitForCacheSync() = %v", err)
		}
		if err := inspect.Ready(f)(nil); err != nil {
			t.Errorf("Ready() = %v", err)
		}
	}

	run(t, f)
	wantState(reflector.StateAbsent, false, 0)
	if _, err := lister.New(i.Store(), cluster.gvr.GroupResource()).List(nil); !errors.Is(err, informer.ErrNotSynced) {
		t.Errorf("List() returns %v, want %v", err, informer.ErrNotSynced)
	}
	for _, name := range []string{"ada", "eve"} {
		cluster.install()
		cluster.create(name)
		if got, want := await(t, events), "add "+name; got != want {
			t.Fatalf("the handler got %q, want %q", got, want)
		}
		wantState(reflector.StateWatching, true, 1)
		cluster.uninstall()
		if got, want := await(t, events), "delete "+name; got != want {
			t.Fatalf("the handler got %q, want %q", got, want)
		}
		wantState(reflector.StateAbsent, true, 0)
	}
}
