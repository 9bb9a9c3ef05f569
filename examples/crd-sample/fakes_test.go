// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/retry"

	"github.com/informer-gen/informer-gen/examples/crd-sample/api/v1alpha1"
	"github.com/informer-gen/informer-gen/examples/crd-sample/generated/informers"
	listers "github.com/informer-gen/informer-gen/examples/crd-sample/generated/listers/samples/v1alpha1"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
	"github.com/informer-gen/informer-gen/testkit/storetest"
)

// docs/testing.md shows the following functions.

// placed counts the widgets on a node: the code under test.
func placed(widgets listers.WidgetLister, node string) int {
	return len(widgets.ListByNode(node))
}

func TestPlaced(t *testing.T) {
	blue := &v1alpha1.Widget{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "blue"}}
	blue.Spec.NodeName = "node-7"

	widgets := listers.NewWidgetLister(storetest.New(t, blue))
	if got := placed(widgets, "node-7"); got != 1 {
		t.Errorf("%d widgets on node-7, want 1", got)
	}
}

func TestPlacedFollowsTheCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := sourcetest.New()
		cluster := sourcetest.Serve[*v1alpha1.Widget](server, listers.WidgetResource(), "")
		client, err := source.NewClient(server.Config())
		if err != nil {
			t.Fatal(err)
		}
		factory := informers.NewSharedInformerFactory(client)
		widgets := factory.Samples().V1alpha1().Widgets()
		_ = widgets.Informer() // what Start is to run

		ctx, cancel := context.WithCancel(t.Context())
		defer func() { cancel(); _ = factory.Shutdown(t.Context()) }()
		if err := factory.Start(ctx); err != nil {
			t.Fatal(err)
		}
		if err := factory.WaitForCacheSync(ctx); err != nil {
			t.Fatal(err)
		}

		blue := &v1alpha1.Widget{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "blue"}}
		blue.Spec.NodeName = "node-7"
		blue = cluster.Create(blue)
		if err := widgets.Informer().AwaitObject(ctx, blue); err != nil {
			t.Fatal(err)
		}
		if got := placed(widgets.Lister(), "node-7"); got != 1 {
			t.Errorf("%d widgets on node-7, want 1", got)
		}

		server.Inject(sourcetest.Fault{Times: 3, Do: sourcetest.Refuse(503)})
		server.EndWatches()
		blue.Spec.NodeName = "node-8"
		cluster.Update(blue)
		time.Sleep(time.Minute) // of the bubble: no time passes outside
		synctest.Wait()
		if got := placed(widgets.Lister(), "node-8"); got != 1 {
			t.Errorf("%d widgets on node-8 a minute after the server's failure, want 1", got)
		}
	})
}

// place puts a widget on a node: code under test that writes.
func place(ctx context.Context, widgets dynamic.ResourceInterface, name, node string) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		widget, err := widgets.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if err := unstructured.SetNestedField(widget.Object, node, "spec", "nodeName"); err != nil {
			return err
		}
		_, err = widgets.Update(ctx, widget, metav1.UpdateOptions{})
		return err
	})
}

func TestConflictsAreRetried(t *testing.T) {
	server := sourcetest.New()
	cluster := sourcetest.Serve[*v1alpha1.Widget](server, listers.WidgetResource(), "")
	cluster.Create(&v1alpha1.Widget{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "blue"}})
	client, err := dynamic.NewForConfig(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	// another client writes first, once
	server.Inject(sourcetest.Fault{On: sourcetest.Write, Do: func(*sourcetest.Answer) {
		cluster.Update(&v1alpha1.Widget{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "blue"}})
	}})
	widgets := client.Resource(listers.WidgetResource()).Namespace("shop")
	if err := place(t.Context(), widgets, "blue", "node-7"); err != nil {
		t.Fatal(err)
	}
	if blue, _ := cluster.Get("shop", "blue"); blue.Spec.NodeName != "node-7" {
		t.Errorf("blue is on %q, want node-7", blue.Spec.NodeName)
	}
}

// TestDocsMatchCode compares the Go code of docs/testing.md with this file and
// controller_test.go.
func TestDocsMatchCode(t *testing.T) {
	page, err := os.ReadFile("../../docs/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	var source string
	for _, name := range []string{"fakes_test.go", "controller_test.go"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		source += string(text)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) < 2 {
		t.Fatalf("docs/testing.md has %d blocks of Go code", len(blocks))
	}
	for _, block := range blocks {
		if !strings.Contains(source, block[1]) {
			t.Errorf("the tests lack this code of docs/testing.md:\n%s", block[1])
		}
	}
}
