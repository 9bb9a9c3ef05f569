// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/examples/crd-sample/api/v1alpha1"
	configurations "github.com/informer-gen/informer-gen/examples/crd-sample/generated/applyconfigurations/samples/v1alpha1"
	listers "github.com/informer-gen/informer-gen/examples/crd-sample/generated/listers/samples/v1alpha1"
	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/manager/events"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/writer"
	"github.com/informer-gen/informer-gen/test/internal/poll"
)

// docs/writes.md shows the following functions.

func newWriter(client *source.Client) (*writer.Writer[*v1alpha1.Widget], error) {
	return writer.New[*v1alpha1.Widget](client, listers.WidgetResource(), writer.Options{FieldManager: "vending"})
}

func newTellingWriter(client *source.Client) (*writer.Writer[*v1alpha1.Widget], error) {
	return writer.New[*v1alpha1.Widget](client, listers.WidgetResource(), writer.Options{
		FieldManager: "vending",
		OnWrite:      controller.Wrote,
	})
}

const finalizer = "vending.example.com/stock"

// reconcile brings one Widget closer to what it should be. It returns the token of what it has
// written.
func reconcile(ctx context.Context, widgets *writer.Writer[*v1alpha1.Widget], w *v1alpha1.Widget) (token object.Token, err error) {
	switch held := slices.Contains(w.Finalizers, finalizer); {
	case w.DeletionTimestamp != nil && held:
		// Take the stock away here, then let the Widget go.
		_, token, err = widgets.RemoveFinalizer(ctx, w, finalizer)
	case w.DeletionTimestamp != nil:
	case !held:
		_, token, err = widgets.AddFinalizer(ctx, w, finalizer)
	default:
		_, token, err = widgets.MutateStatus(ctx, w, func(w *v1alpha1.Widget) error {
			w.Status.Phase = v1alpha1.Running
			return nil
		})
	}
	return token, err
}

// reconcileNamed reconciles a Widget of the cache, and waits until the cache has what was written.
func reconcileNamed(ctx context.Context, widgets *writer.Writer[*v1alpha1.Widget], cache *informer.SharedIndexInformer[*v1alpha1.Widget], key object.Key) error {
	w, ok := cache.Store().Snapshot().Get(key)
	if !ok {
		return nil
	}
	token, err := reconcile(ctx, widgets, w)
	if err != nil {
		return err
	}
	return cache.AwaitToken(ctx, token)
}

// applyPart gives a Widget a part, and takes it off its node, whatever else others write to it.
func applyPart(ctx context.Context, widgets *writer.Writer[*v1alpha1.Widget], key object.Key, name, image string) (object.Token, error) {
	w := configurations.Widget(key.Name, key.Namespace)
	w.Spec.NodeName = new("") // sent, unlike the fields that aren't set
	w.Spec.Parts = []configurations.PartApplyConfiguration{{Name: &name, Image: &image}}
	_, token, err := widgets.ApplyConfiguration(ctx, w)
	return token, err
}

// runRecorder returns a recorder of a controller's Events, and runs it until ctx is done. end sends
// the last ones.
func runRecorder(ctx context.Context, client *source.Client, controller string) (recorder *events.Recorder, end func(ctx context.Context) error, err error) {
	recorder, err = events.New(client, controller)
	if err != nil {
		return nil, nil, err
	}
	go func() { _ = recorder.Run(ctx) }()
	return recorder, recorder.Shutdown, nil
}

// recordStart records that a Widget was started. The kind of the Event's object is that of the
// object, which objects of the cache carry.
func recordStart(recorder *events.Recorder, w *v1alpha1.Widget) {
	recorder.Eventf(w, nil, corev1.EventTypeNormal, "Started", "Starting", "started on %s", w.Spec.NodeName)
}

func TestShownReconcile(t *testing.T) {
	t.Parallel()
	t.Run("a writer", func(t *testing.T) { reconcileToTheEnd(t, newWriter) })
	t.Run("a writer that notifies a controller", func(t *testing.T) { reconcileToTheEnd(t, newTellingWriter) })
}

func reconcileToTheEnd(t *testing.T, newWidgets func(*source.Client) (*writer.Writer[*v1alpha1.Widget], error)) {
	ns, ctx := shared.widgets(t), deadline(t)
	client := connect(t, shared.url)
	f := factories.New(client, informer.WithNamespace(ns.namespace))
	cache := factories.For[*v1alpha1.Widget](f, listers.WidgetResource())
	runSynced(t, f)
	widgets, err := newWidgets(client)
	if err != nil {
		t.Fatal(err)
	}
	created, token, err := widgets.Create(ctx, &v1alpha1.Widget{ObjectMeta: metav1.ObjectMeta{Namespace: ns.namespace, Name: "blue"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := cache.AwaitToken(ctx, token); err != nil {
		t.Fatal(err)
	}
	key := object.KeyOf(created)
	seen := func() *v1alpha1.Widget {
		if err := reconcileNamed(ctx, widgets, cache, key); err != nil {
			t.Fatal(err)
		}
		w, _ := cache.Store().Snapshot().Get(key)
		return w
	}
	if w := seen(); len(w.Finalizers) != 1 || w.Status.Phase != "" {
		t.Errorf("after the first reconcile: %+v", w)
	}
	running := seen()
	if running.Status.Phase != v1alpha1.Running {
		t.Errorf("after the second reconcile: %+v", running)
	}
	if w := seen(); w.ResourceVersion != running.ResourceVersion {
		t.Errorf("a third reconcile has written %+v, want no write", w)
	}
	if token, err = widgets.Delete(ctx, created, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := cache.AwaitToken(ctx, token); err != nil {
		t.Fatal(err)
	}
	if w := seen(); w != nil {
		t.Errorf("after the last reconcile the cache has %+v", w)
	}
	if _, err := widgets.Get(ctx, key); !apierrors.IsNotFound(err) {
		t.Errorf("after the last reconcile: error %v", err)
	}
}

// TestShownEvents records an Event twice: the first call creates it, the second patches its series.
func TestShownEvents(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--built-in-kinds")
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	config := &rest.Config{Host: c.url, Transport: transport}
	clientset, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	client, err := source.NewClient(config)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	recorder, end, err := runRecorder(ctx, client, "vending")
	if err != nil {
		t.Fatal(err)
	}

	blue := widget(1)
	blue.Namespace, blue.UID, blue.Kind, blue.APIVersion = metav1.NamespaceDefault, "u1", "Widget", v1alpha1.GroupVersion.String()
	see := func(as func(eventsv1.Event) bool) {
		t.Helper()
		poll.Until(t, func() error {
			all, err := clientset.EventsV1().Events(blue.Namespace).List(ctx, metav1.ListOptions{})
			if err == nil && (len(all.Items) != 1 || !as(all.Items[0])) {
				err = fmt.Errorf("the server has %+v", all.Items)
			}
			return err
		})
	}
	recordStart(recorder, blue)
	see(func(e eventsv1.Event) bool {
		return e.Regarding.Name == blue.Name && e.Regarding.Kind == "Widget" && e.Regarding.UID == "u1" && e.Reason == "Started" &&
			e.Action == "Starting" && e.Note == "started on node-1" && e.ReportingController == "vending" && e.Series == nil
	})
	recordStart(recorder, blue)
	if err := end(ctx); err != nil {
		t.Fatal(err)
	}
	see(func(e eventsv1.Event) bool { return e.Series != nil && e.Series.Count == 2 })
}

// TestWritesPageMatchesCode compares the Go code of docs/writes.md with this file.
func TestWritesPageMatchesCode(t *testing.T) {
	page, err := os.ReadFile("../../docs/writes.md")
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile("shown_test.go")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) < 4 {
		t.Fatalf("docs/writes.md has %d blocks of Go code", len(blocks))
	}
	for _, block := range blocks {
		if !strings.Contains(string(file), block[1]) {
			t.Errorf("shown_test.go lacks this code of docs/writes.md:\n%s", block[1])
		}
	}
}
